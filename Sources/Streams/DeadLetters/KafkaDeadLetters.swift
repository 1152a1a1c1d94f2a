import KafkaClient

/// The dead letters of a topic, read from the topic where they lie, and published again.
///
/// Nothing is removed from there. Up to where they were published again a consumer group notes, by committed offsets. Belongs to the loop's
/// thread.
public final class KafkaDeadLetters {
    /// One of them, and its place among the dead.
    public struct Stored: Sendable {
        public let partition: Int32
        public let offset: Int64
        public let letter: DeadLetter
    }

    public struct Page: Sendable {
        public var letters: [Stored] = []
        /// Messages that are no dead letters.
        public var strangers = 0
        /// The offset behind it; nil before anything was read.
        public var next: Int64?
    }

    private static let lettersAPage = 200

    private let reader: KafkaReader
    /// Where letters lie.
    public let topic: String
    private let batch = KafkaBatch(capacity: lettersAPage)
    private var open: KafkaPartitionReader?
    private var endOffset: Int64?
    public private(set) var fault: KafkaFault?

    /// - Parameter reader: of nothing yet, and used by nobody else.
    public init(reader: KafkaReader, topic: String) {
        self.reader = reader
        self.topic = topic
        reader.onEvent = { [weak self] event in
            switch event {
            case .reachedEnd: break
            case .stopped(_, let fault): self?.fault = fault
            case .fault(let fault): if fault.isFatal { self?.fault = fault }
            }
        }
    }

    deinit { batch.giveBack() }

    /// The records that a partition holds now.
    public func range(of partition: Int32, done: @escaping (Result<KafkaWatermarks, KafkaFault>) -> Void) {
        reader.watermarks(of: [KafkaTopicPartition(topic, partition)]) { done($0[0]) }
    }

    /// Up to where letters of each partition were published again; nil where none were.
    public func redriven(partitions: Int32, done: @escaping (Result<[Int64?], KafkaFault>) -> Void) {
        reader.committedOffsets(of: (0..<partitions).map { KafkaTopicPartition(topic, $0) }, done)
    }

    public func note(_ offset: Int64, of partition: Int32, done: @escaping (Result<Void, KafkaFault>) -> Void) {
        reader.commit([KafkaTopicPartition(topic, partition): offset], done)
    }

    /// Begins to read a partition.
    ///
    /// - Parameter end: what comes from there on is left for another time; nil reads until nothing more is there.
    public func begin(_ partition: Int32, at offset: Int64, upTo end: Int64?) throws(KafkaFault) {
        if let open { reader.close(open.partition) }
        endOffset = end
        open = try reader.open(KafkaTopicPartition(topic, partition), at: .offset(offset))
    }

    /// The next letters; nil as long as there are none.
    public func next() -> Page? {
        guard let open, !isAtEnd, open.read(into: batch) > 0 else { return nil }
        var page = Page()
        for place in 0..<batch.count where batch[place].offset < endOffset ?? .max {
            let message = batch[place]
            page.next = message.offset + 1
            if let letter = DeadLetter(message) {
                page.letters.append(
                    Stored(partition: open.partition.partition, offset: message.offset, letter: letter))
            } else {
                page.strangers += 1
            }
        }
        batch.giveBack()
        return page
    }

    /// Whether all of the partition was read.
    public var isAtEnd: Bool {
        guard let open else { return true }
        guard let endOffset else { return open.endOffset != nil }
        return (open.position ?? 0) >= endOffset || (open.endOffset ?? 0) >= endOffset
    }
}

/// Publishes records of dead letters again, where they came from: byte for byte, with their headers. How often they have failed goes with them.
public final class KafkaRedrive {
    private let producer: KafkaProducer
    public private(set) var published = 0
    public private(set) var fault: KafkaFault?
    /// A letter that does not say where it came from.
    private let topic: String

    /// - Parameters:
    ///   - producer: used by nobody else.
    ///   - topic: for a letter that does not say where it came from.
    public init(producer: KafkaProducer, topic: String) {
        self.producer = producer
        self.topic = topic
        producer.onDelivery = { [unowned self] in
            if let why = $0.fault { fault = fault ?? why } else { published += 1 }
        }
    }

    public var waiting: Int { producer.waiting }

    /// - Returns: false where there is no room now.
    public func publish(_ letter: DeadLetter) -> Bool {
        if let fatal = producer.fault { fault = fault ?? fatal }
        guard fault == nil else { return false }
        do throws(KafkaFault) {
            return try producer.produce(
                to: letter.topic ?? topic, partition: letter.partition, key: letter.key, value: letter.value,
                headers: letter.recordHeaders, tag: 0)
        } catch {
            fault = error
            return false
        }
    }
}
