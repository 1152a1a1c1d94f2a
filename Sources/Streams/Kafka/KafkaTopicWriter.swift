import KafkaClient
import Sockets

/// Appends records to a topic of Kafka, in order within each partition.
///
/// librdkafka repeats what was not acknowledged, and brokers tell a repetition from a new record: nothing is lost, doubled or overtaken while
/// the producer lives. A broker that is away is waited for. Belongs to the loop's thread.
public final class KafkaTopicWriter: TopicWriter {
    public struct Settings: Sendable {
        public var topic: String
        /// After this long without any acknowledgement it gives up.
        public var patienceMilliseconds: Int64 = 60_000

        public init(topic: String) { self.topic = topic }

        /// A record is to outlive the patience, so that its end is a whole sentence and not one record's.
        public var producing: KafkaProducing {
            var producing = KafkaProducing()
            producing.deliveryTimeoutMilliseconds = Int(2 * patienceMilliseconds)
            return producing
        }
    }

    /// A record that librdkafka had no room for.
    private struct Held {
        let partition: Int32
        /// The key, and behind it the value.
        let bytes: [UInt8]
        let keyBytes: Int
    }

    private let producer: KafkaProducer
    private let settings: Settings
    private var held: Held?
    private var progressMilliseconds = EventLoop.currentMilliseconds()
    public private(set) var fault: KafkaFault?

    /// - Parameter producer: made with `settings.producing`, and used by nobody else.
    public init(producer: KafkaProducer, settings: Settings) {
        self.producer = producer
        self.settings = settings
        producer.onDelivery = { [unowned self] in delivered($0) }
    }

    public var hasRoom: Bool { fault == nil && held == nil && producer.hasRoom }
    public var waiting: Int { producer.waiting + (held == nil ? 0 : 1) }
    public var appended: Int { producer.acknowledged }
    /// Brokers tell a repetition from a new record.
    public var repeated: Int { 0 }
    public var refusals: [String: Int] { [:] }
    public var failure: (any Error)? { fault }

    public func append(_ record: ReplayedRecord) {
        precondition(hasRoom, "\(settings.topic): \(waiting) records wait already")
        if waiting == 0 { progressMilliseconds = EventLoop.currentMilliseconds() }
        guard !send(record.partition, record.key, record.value) else { return }
        held = Held(
            partition: record.partition, bytes: Array(record.key) + Array(record.value), keyBytes: record.key.count)
    }

    public func advance() {
        guard fault == nil else { return }
        if let fatal = producer.fault {
            fault = fatal
            return
        }
        if let held, producer.hasRoom {
            let isTaken = held.bytes.withUnsafeBytes { bytes in
                send(
                    held.partition, UnsafeRawBufferPointer(rebasing: bytes[..<held.keyBytes]),
                    UnsafeRawBufferPointer(rebasing: bytes[held.keyBytes...]))
            }
            if isTaken { self.held = nil }
        }
        if waiting > 0, EventLoop.currentMilliseconds() - progressMilliseconds > settings.patienceMilliseconds {
            giveUp()
        }
    }

    /// - Returns: false where there is no room for so many bytes.
    private func send(_ partition: Int32, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
        do throws(KafkaFault) {
            return try producer.produce(
                to: settings.topic, partition: partition, key: key.isEmpty ? nil : key, value: value)
        } catch {
            fault = fault ?? error
            return true
        }
    }

    private func delivered(_ delivery: KafkaDelivery) {
        guard let why = delivery.fault else {
            progressMilliseconds = EventLoop.currentMilliseconds()
            return
        }
        fault = fault ?? why
    }

    private func giveUp() {
        if case .failing(let why) = producer.status {
            fault = why
        } else {
            fault = KafkaFault(
                .timeout, "Kafka has acknowledged nothing for \(settings.patienceMilliseconds / 1000) s",
                remedy:
                    "see whether the leaders of \(settings.topic) have enough replicas in sync (min.insync.replicas)")
        }
    }
}
