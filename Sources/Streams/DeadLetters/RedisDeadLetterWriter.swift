import RedisClient

/// Appends dead letters to streams beside those that the records came from: what cannot be used of `rides:{3}` to `dlq.rides:{3}`, on the same
/// node, and updates that will not be told to `dlq.<group>.updates:{3}`.
///
/// Belongs to the loop's thread.
public final class RedisDeadLetterWriter {
    public struct Settings: Sendable {
        public var topicPrefix = "dlq."
        public var group: String
        public var bodyField = "event"
        /// How many letters a stream keeps, more or less; nil keeps all.
        public var maxLength: Int64?
        /// Those of records older than that are trimmed; nil keeps all.
        public var maxAgeMilliseconds: Int64?

        public init(group: String) {
            self.group = group
        }
    }

    /// What became of some letters that were handed over together.
    public struct Receipt: Equatable, Sendable {
        public let added: Int
        /// They were there already.
        public let known: Int
        /// Older ones that had to go for it.
        public let trimmed: Int
    }

    /// Whether letters could be kept.
    public enum Check: Equatable, Sendable {
        case passed
        /// The first thing that is in the way.
        case refused(SourceFault)
        /// Nobody knows.
        case unanswered
    }

    private let client: RedisClient
    private let settings: Settings
    private var command = RedisCommand("EVAL")

    public init(client: RedisClient, settings: Settings) {
        self.client = client
        self.settings = settings
    }

    /// What stands in the place of a topic for updates, which came from none.
    public static func updates(of group: String) -> String { "\(group).updates" }

    public func stream(of letter: DeadLetter) -> String {
        let topic = letter.topic ?? Self.updates(of: settings.group)
        return StreamName.of(topic: settings.topicPrefix + topic, partition: letter.partition)
    }

    /// Writes letters of one stream, all or none of them known to be there afterwards. Where the answer is lost, or they are refused, they
    /// may be written again, and are there once. In order, and one call at a time a stream.
    ///
    /// - Parameter nowMilliseconds: Unix time.
    public func write(
        _ letters: [DeadLetter], to stream: String, nowMilliseconds: Int64,
        done: @escaping (Result<Receipt, SourceFault>) -> Void
    ) {
        guard let source = letters.first?.source else { return }
        command.reset("EVAL")
        for word in [Self.script, "2", stream, source] { command.append(word) }
        command.append(settings.maxLength.map { "\($0)" } ?? "")
        command.append(settings.maxAgeMilliseconds.map { "\(max(0, nowMilliseconds - $0))" } ?? "")
        command.append(settings.bodyField)
        command.append(Int64(letters.count))
        for letter in letters { append(letter) }
        client.send(command, key: stream) { outcome in
            switch outcome {
            case .reply(let reply):
                var numbers = reply.makeIterator()
                func next() -> Int { Int(clamping: numbers.next()?.integer ?? 0) }
                done(.success(Receipt(added: next(), known: next(), trimmed: next())))
            case .refused(let refusal): done(.failure(Self.fault(refusal.message, code: refusal.code, stream)))
            case .lost, .unsent:
                done(
                    .failure(
                        SourceFault(
                            source: stream, problem: "Redis did not answer while dead letters were written",
                            remedy: "they are written again; see whether Redis can be reached")))
            }
        }
    }

    /// Whether letters of these topics could be written: whether no other key stands there, and the user may. It changes nothing.
    public func check(_ topics: [String], partitions: Int32, done: @escaping (Check) -> Void) {
        var left = (topics.count + 1) * Int(partitions)
        var found = Check.passed
        for topic in topics + [Self.updates(of: settings.group)] {
            for partition in 0..<partitions {
                let stream = StreamName.of(topic: settings.topicPrefix + topic, partition: partition)
                // Of nothing it trims nothing, and of no stream so many.
                command.reset("XTRIM")
                for word in [stream, "MAXLEN", "~", "\(Int64.max)"] { command.append(word) }
                client.send(command, key: stream) { outcome in
                    switch (outcome, found) {
                    case (.reply, _), (_, .refused): break
                    case (.refused(let refusal), _):
                        found = .refused(Self.fault(refusal.message, code: refusal.code, stream))
                    case (.lost, _), (.unsent, _): found = .unanswered
                    }
                    left -= 1
                    if left == 0 { done(found) }
                }
            }
        }
    }

    private func append(_ letter: DeadLetter) {
        command.append(letter.entry?.description ?? "")
        command.append(letter.value)
        command.append("\(letter.firstFailedAtMilliseconds)")
        let fields = letter.fields(bodyField: settings.bodyField)
        command.append(Int64(2 * fields.count))
        for (name, value) in fields {
            command.append(name)
            command.append(value)
        }
    }

    /// Looked for in all that Redis said: before version 7 it gives what a script's command said inside an `ERR`.
    static func fault(_ message: String, code: String, _ stream: String) -> SourceFault {
        let said = "\(code) \(message)"
        func says(_ signs: String...) -> Bool { signs.contains { said.contains($0) } }
        let remedy =
            if says("WRONGTYPE") {
                "rename or remove that key, which is no stream, or set another deadLetters.topicPrefix"
            } else if says("NOPERM", "can't run this command", "can't access at least one of the keys") {
                "let its user write there: ACL SETUSER <user> ~<deadLetters.topicPrefix>*"
            } else if says("OOM") {
                "raise maxmemory, or trim streams; dead letters are written as soon as there is room"
            } else {
                "they are written again; see Redis' own log"
            }
        return SourceFault(source: stream, problem: "Redis refused dead letters (\(said))", remedy: remedy)
    }
}
