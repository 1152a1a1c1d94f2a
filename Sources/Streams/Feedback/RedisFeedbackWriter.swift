import RedisClient

/// Appends feedback to streams: `waypulse.feedback:{3}` for activities of partition 3, so that those of one activity are in order.
///
/// At least once: where an answer was lost or a stream refused, all that was handed over together is appended again.
public final class RedisFeedbackWriter: FeedbackSink {
    private let client: RedisClient
    private let maxLength: Int64
    private let streams: [(name: String, slot: HashSlot)]
    private var command = RedisCommand("XADD")

    /// The write under way.
    private struct Write {
        var unanswered: Int
        var fault: SourceFault?
        let done: (SourceFault?) -> Void
    }

    private var write: Write?

    /// - Parameters:
    ///   - client: of its own; it is closed with this.
    ///   - maxLength: about how many entries a stream keeps.
    public init(client: RedisClient, topic: String, partitions: Int32, maxLength: Int64) {
        self.client = client
        self.maxLength = maxLength
        streams = (0..<partitions).map {
            let name = StreamName.of(topic: topic, partition: $0)
            return (name, HashSlot(of: name))
        }
    }

    public func write(_ lines: ArraySlice<FeedbackLine>, done: @escaping (SourceFault?) -> Void) {
        precondition(write == nil, "one write at a time")
        write = Write(unanswered: lines.count, done: done)
        for line in lines {
            let stream = streams[Int(line.partition)]
            command.reset("XADD")
            command.append(stream.name)
            command.append("MAXLEN")
            command.append("~")
            command.append(maxLength)
            command.append("*")
            command.append("key")
            command.append(line.key)
            command.append("event")
            command.append(line.value)
            client.send(command, slot: stream.slot) { [weak self] in self?.answered($0, stream.name) }
        }
    }

    public func close() {
        write = nil
        client.close()
    }

    private func answered(_ outcome: RedisOutcome, _ stream: String) {
        guard write != nil else { return }
        write?.unanswered -= 1
        if let fault = fault(outcome, stream), write?.fault == nil { write?.fault = fault }
        guard let ended = write, ended.unanswered == 0 else { return }
        write = nil
        ended.done(ended.fault)
    }

    private func fault(_ outcome: RedisOutcome, _ stream: String) -> SourceFault? {
        switch outcome {
        case .reply: return nil
        case .lost, .unsent:
            if case .failing(let why) = client.status {
                return SourceFault(source: stream, problem: why.problem, remedy: why.remedy)
            }
            return SourceFault(
                source: stream, problem: "Redis did not answer while feedback was written",
                remedy: "it is written again; see whether Redis can be reached")
        case .refused(let refusal):
            let remedy =
                switch refusal.code {
                case "WRONGTYPE": "rename or remove that key, which is no stream, or set another feedback.topic"
                case "NOPERM": "let its user write there: ACL SETUSER <user> ~<feedback.topic>:* +xadd"
                case "OOM": "raise maxmemory, or lower feedback.maxLength"
                default: "it is written again; see Redis' own log"
                }
            return SourceFault(source: stream, problem: "Redis refused feedback (\(refusal))", remedy: remedy)
        }
    }
}
