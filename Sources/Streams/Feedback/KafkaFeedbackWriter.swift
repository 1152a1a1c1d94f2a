import Instruments
import KafkaClient
import Sockets

/// Sends feedback to a topic, by the activity's id as key, which librdkafka places.
///
/// The topic has to be there: nothing is made by asking. At least once: what was not acknowledged is sent again, with all that was handed over
/// together.
public final class KafkaFeedbackWriter: FeedbackSink {
    /// A record that is not acknowledged for so long has failed.
    private static let deliveryTimeoutMilliseconds = 30_000

    private let kafka: KafkaSettings
    private let topic: String
    private let loop: EventLoop
    private let instruments: KafkaInstruments
    private let log: Log
    /// Made with the first event, and anew where one can send nothing more.
    private var producer: KafkaProducer?
    /// Whether the topic was there when it was looked for; librdkafka keeps records of one that is not for half a minute.
    private var isThere = false

    /// The write under way.
    private struct Write {
        let lines: ArraySlice<FeedbackLine>
        let done: (SourceFault?) -> Void
        var next: Int
        var unanswered = 0
        var fault: KafkaFault?
    }

    private var write: Write?

    public init(kafka: KafkaSettings, topic: String, loop: EventLoop, instruments: KafkaInstruments, log: Log) {
        (self.kafka, self.topic, self.loop) = (kafka, topic, loop)
        (self.instruments, self.log) = (instruments, log)
        // It then knows the leaders of the topic when the first event comes: librdkafka takes a second to ask by itself.
        lookUp()
    }

    public func write(_ lines: ArraySlice<FeedbackLine>, done: @escaping (SourceFault?) -> Void) {
        precondition(write == nil, "one write at a time")
        write = Write(lines: lines, done: done, next: lines.startIndex)
        if isThere { send() } else { lookUp() }
    }

    public func close() {
        write = nil
        letGo()
    }

    private func letGo() {
        producer?.onDelivery = nil
        producer?.close()
        producer = nil
    }

    private func lookUp() {
        do throws(KafkaFault) {
            let asked = try openProducer()
            asked.partitionCounts(of: [topic]) { [weak self] answers in
                guard let self, producer === asked else { return }
                switch answers[0] {
                case .success:
                    isThere = true
                    send()
                case .failure(let fault):
                    if write?.fault == nil { write?.fault = fault }
                    settle()
                }
            }
        } catch {
            write?.fault = error
            settle()
        }
    }

    /// As many as there is room for; the rest when others have gone.
    private func send() {
        guard write != nil else { return }
        do throws(KafkaFault) {
            let producer = try openProducer()
            while let write, write.fault == nil, write.next < write.lines.endIndex {
                let line = write.lines[write.next]
                let isTaken = try producer.produce(
                    to: topic, partition: nil, key: Array(line.key.utf8), value: line.value)
                guard isTaken else {
                    if let fault = producer.fault { throw fault }
                    return
                }
                self.write?.next += 1
                self.write?.unanswered += 1
            }
        } catch {
            fail(error)
        }
        settle()
    }

    private func openProducer() throws(KafkaFault) -> KafkaProducer {
        if let producer { return producer }
        var producing = KafkaProducing()
        producing.deliveryTimeoutMilliseconds = Self.deliveryTimeoutMilliseconds
        let made = try KafkaProducer(
            settings: kafka, producing: producing, loop: loop, instruments: instruments, log: log)
        made.onDelivery = { [weak self] in self?.delivered($0) }
        producer = made
        return made
    }

    private func fail(_ fault: KafkaFault) {
        if write?.fault == nil { write?.fault = fault }
        // It may have been removed.
        isThere = false
        // librdkafka goes on to refuse a topic for minutes that was refused once, or was not there; after something fatal it tells nothing of
        // what it had.
        guard producer?.fault != nil || [.forbidden, .unknownTopic].contains(fault.kind) else { return }
        letGo()
        write?.unanswered = 0
    }

    private func delivered(_ delivery: KafkaDelivery) {
        guard write != nil else { return }
        write?.unanswered -= 1
        if let fault = delivery.fault { fail(fault) }
        if let write, write.fault == nil, write.next < write.lines.endIndex { send() } else { settle() }
    }

    private func settle() {
        guard let ended = write, ended.unanswered == 0, ended.fault != nil || ended.next == ended.lines.endIndex
        else { return }
        write = nil
        ended.done(ended.fault.map(explained))
    }

    private func explained(_ fault: KafkaFault) -> SourceFault {
        guard fault.kind == .unknownTopic else {
            return SourceFault(source: topic, problem: fault.problem, remedy: fault.remedy)
        }
        return SourceFault(
            source: topic, problem: "the topic of feedback is not there, or this user may not Describe it",
            remedy:
                "kafka-topics.sh --bootstrap-server \(kafka.bootstrapServers.joined(separator: ",")) --create --topic \(topic), "
                + "or set another feedback.topic")
    }
}
