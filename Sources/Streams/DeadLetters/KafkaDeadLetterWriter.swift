import Instruments
import KafkaClient
import Sockets

/// Writes dead letters to topics beside those that the records came from: what cannot be used of `rides` to `dlq.rides`, to the partition of
/// the same number where both have as many, else by key. Updates that will not be told lie among those of the first topic.
///
/// The topics have to be there: nothing is made by asking, and a letter whose topic is missing waits. At least once: what was written, and
/// whose acknowledgement did not come, may be there twice. Belongs to the loop's thread.
public final class KafkaDeadLetterWriter {
    public struct Settings: Sendable {
        public var topicPrefix = "dlq."
        /// Those that are read.
        public var topics: [String]
        /// How many partitions each of them has.
        public var partitions: Int32
        /// A letter that is not acknowledged for so long has failed, and is written again.
        public var deliveryTimeoutMilliseconds = 30_000

        public init(topics: [String], partitions: Int32) {
            (self.topics, self.partitions) = (topics, partitions)
        }
    }

    private final class Write {
        let letters: [DeadLetter]
        let topic: String
        let done: (Result<Void, SourceFault>) -> Void
        var next = 0
        var left: Int
        var fault: KafkaFault?

        init(_ letters: [DeadLetter], _ topic: String, _ done: @escaping (Result<Void, SourceFault>) -> Void) {
            (self.letters, self.topic, self.done) = (letters, topic, done)
            left = letters.count
        }

        /// What was not sent is not, and has no delivery.
        func fail(_ why: KafkaFault) {
            fault = fault ?? why
            left -= letters.count - next
            next = letters.count
        }
    }

    private let kafka: KafkaSettings
    private let settings: Settings
    private let loop: EventLoop
    private let instruments: KafkaInstruments
    private let log: Log
    /// Made with the first letter.
    private var producer: KafkaProducer?
    /// While the cluster is asked.
    private var topics: KafkaTopics?
    /// How many partitions the topics of letters have, as far as that is known.
    private var counts: [String: Int32] = [:]
    private var writes: [UInt: Write] = [:]
    private var lastTag: UInt = 0
    /// Of each topic, letters of a write that failed and that are there all the same: they come again.
    private var kept: [String: Set<Identity>] = [:]

    /// Which letter it is.
    private struct Identity: Hashable {
        let source: String
        let offset: Int64
        let activityIdentifier: String?
        let sequence: UInt64?
        let reason: String
    }

    public init(
        kafka: KafkaSettings, settings: Settings, loop: EventLoop, instruments: KafkaInstruments, log: Log
    ) {
        (self.kafka, self.settings, self.loop) = (kafka, settings, loop)
        (self.instruments, self.log) = (instruments, log)
    }

    public func topic(of letter: DeadLetter) -> String {
        settings.topicPrefix + (letter.topic ?? settings.topics.first ?? "")
    }

    /// Writes letters of one topic. Where it fails they may be written again; those that were acknowledged are there once.
    public func write(
        _ letters: [DeadLetter], to topic: String, done: @escaping (Result<Void, SourceFault>) -> Void
    ) {
        guard counts[topic] != nil else {
            return lookUp([topic]) { [weak self] answers in
                guard let self else { return }
                switch answers[0] {
                case .success: write(letters, to: topic, done: done)
                case .failure(let fault): done(.failure(fault))
                }
            }
        }
        let known = kept[topic] ?? []
        let missing = known.isEmpty ? letters : letters.filter { !known.contains(Self.identity($0)) }
        guard !missing.isEmpty else {
            kept[topic] = nil
            return done(.success(()))
        }
        lastTag += 1
        writes[lastTag] = Write(missing, topic, done)
        send(lastTag)
    }

    /// Whether letters could be written: whether the topics are there, and this user may see them.
    public func check(done: @escaping (Result<Void, SourceFault>) -> Void) {
        lookUp(settings.topics.map { settings.topicPrefix + $0 }) { answers in
            for case .failure(let fault) in answers { return done(.failure(fault)) }
            done(.success(()))
        }
    }

    // MARK: Topics

    private func lookUp(_ names: [String], _ done: @escaping ([Result<Int32, SourceFault>]) -> Void) {
        do throws(KafkaFault) {
            let asked = try KafkaTopics(settings: kafka, loop: loop, instruments: instruments, log: log)
            topics = asked
            asked.partitionCounts(of: names) { [weak self] answers in
                asked.close()
                guard let self else { return }
                if topics === asked { topics = nil }
                done(
                    zip(names, answers).map { name, answer in
                        switch answer {
                        case .success(let count):
                            self.counts[name] = Int32(count)
                            return .success(Int32(count))
                        case .failure(let fault): return .failure(self.explained(fault, name))
                        }
                    })
            }
        } catch {
            done(names.map { .failure(explained(error, $0)) })
        }
    }

    private func explained(_ fault: KafkaFault, _ topic: String) -> SourceFault {
        guard fault.kind == .unknownTopic else {
            return SourceFault(source: topic, problem: fault.problem, remedy: fault.remedy)
        }
        return SourceFault(
            source: topic, problem: "the topic of dead letters is not there, or this user may not Describe it",
            remedy: "kafka-topics.sh --bootstrap-server \(kafka.bootstrapServers.joined(separator: ",")) --create "
                + "--topic \(topic) --partitions \(settings.partitions), or set deadLetters.file; letters are written as soon as there is a place"
        )
    }

    // MARK: Letters

    /// As many as there is room for; the rest when others have gone.
    private func send(_ tag: UInt) {
        guard let write = writes[tag] else { return }
        do throws(KafkaFault) {
            let producer = try openProducer()
            while write.next < write.letters.count, write.fault == nil {
                let letter = write.letters[write.next]
                let isTaken = try producer.produce(
                    to: write.topic, partition: partition(of: letter, in: write.topic), key: letter.messageKey,
                    value: letter.value, headers: letter.messageHeaders, tag: tag << 16 | UInt(write.next))
                if isTaken {
                    write.next += 1
                } else if let fault = producer.fault {
                    throw fault
                } else {
                    return
                }
            }
        } catch {
            write.fail(error)
            // librdkafka goes on to refuse a topic for minutes that was refused once, or was not there.
            let isStuck = [.forbidden, .unknownTopic].contains(error.kind)
            if producer?.fault != nil || isStuck { renew(after: error) }
            settle(tag, write)
        }
    }

    private func openProducer() throws(KafkaFault) -> KafkaProducer {
        if let producer { return producer }
        var producing = KafkaProducing()
        producing.deliveryTimeoutMilliseconds = settings.deliveryTimeoutMilliseconds
        let made = try KafkaProducer(
            settings: kafka, producing: producing, loop: loop, instruments: instruments, log: log)
        made.onDelivery = { [weak self] in self?.delivered($0) }
        producer = made
        return made
    }

    /// A producer that is stuck, or met something fatal, sends nothing any more, and tells nothing of what it had.
    private func renew(after fault: KafkaFault) {
        producer?.onDelivery = nil
        producer?.close()
        producer = nil
        for (tag, write) in writes {
            write.fail(fault)
            write.left = 0
            settle(tag, write)
        }
    }

    private func partition(of letter: DeadLetter, in topic: String) -> Int32 {
        let count = counts[topic] ?? settings.partitions
        guard count != settings.partitions else { return letter.partition }
        return letter.messageKey.map { $0.withUnsafeBytes { KeyPlacement(partitions: count).partition(of: $0) } }
            ?? letter.partition % count
    }

    private func delivered(_ delivery: KafkaDelivery) {
        let tag = delivery.tag >> 16
        guard let write = writes[tag] else { return }
        write.left -= 1
        if let fault = delivery.fault {
            write.fail(fault)
            // It may have been removed, or have other partitions now.
            counts[write.topic] = nil
        } else {
            kept[write.topic, default: []].insert(Self.identity(write.letters[Int(delivery.tag & 0xFFFF)]))
        }
        settle(tag, write)
        for (tag, write) in writes where write.next < write.letters.count { send(tag) }
    }

    private func settle(_ tag: UInt, _ write: Write) {
        guard write.left == 0, writes.removeValue(forKey: tag) != nil else { return }
        if let fault = write.fault { return write.done(.failure(explained(fault, write.topic))) }
        kept[write.topic] = nil
        write.done(.success(()))
    }

    private static func identity(_ letter: DeadLetter) -> Identity {
        Identity(
            source: letter.source, offset: letter.offset, activityIdentifier: letter.activityIdentifier,
            sequence: letter.sequence, reason: letter.reason)
    }
}
