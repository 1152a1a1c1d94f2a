import CRdkafka
import Instruments
import Sockets

/// What a reader has to tell of its partitions.
public enum KafkaReaderEvent: Equatable, Sendable {
    /// All there was has been read; the next record will have this offset.
    case reachedEnd(KafkaTopicPartition, offset: Int64)
    /// Nothing more comes of this partition until it is reopened.
    case stopped(KafkaTopicPartition, KafkaFault)
    /// Something that passes, or concerns a topic or everything; reading goes on unless it `isFatal`.
    case fault(KafkaFault)
}

/// Reads the partitions that it is told to, from where it is told to. It joins no group and commits nothing: which partitions a member of a group
/// may read is what `KafkaMember` says.
///
/// Apart from the member on purpose: librdkafka 2.0.2 pauses every partition of a member, and throws away what was fetched, whenever the group
/// wants one of them back, until that one is let go. Here the others are read on.
///
/// Belongs to the loop's thread. Each partition has a `KafkaPartitionReader`, by which it is read and held up without regard to the others.
public final class KafkaReader: KafkaConnection {
    /// Called from within `read` for what is told of that partition, and from the loop. To be set at once.
    public var onEvent: ((KafkaReaderEvent) -> Void)?
    /// Those that are open.
    public private(set) var partitions: [KafkaTopicPartition: KafkaPartitionReader] = [:]

    /// - Throws: a setting that librdkafka does not take.
    public init(
        settings: KafkaSettings, reading: KafkaReading, loop: EventLoop, instruments: KafkaInstruments, log: Log
    ) throws(KafkaFault) {
        try super.init(
            RD_KAFKA_CONSUMER, settings.forReading(reading), events: 0, settings: settings, loop: loop,
            instruments: instruments, log: log, queue: consumerQueue)
    }

    // MARK: Partitions

    /// Begins to read a partition that is not open. Returns before anything was asked; faults come as events.
    ///
    /// - Throws: what librdkafka refuses at once.
    @discardableResult
    public func open(
        _ partition: KafkaTopicPartition, at position: KafkaPosition
    ) throws(KafkaFault) -> KafkaPartitionReader {
        precondition(partitions[partition] == nil, "\(partition) is open already")
        let reader = KafkaPartitionReader(partition, self)
        let list = PartitionList(capacity: 1)
        list.append(partition, offset: position.nativeOffset)
        if let error = rd_kafka_incremental_assign(client.pointer, list.pointer) {
            throw .taking(error, "opening \(partition)")
        }
        partitions[partition] = reader
        return reader
    }

    /// Reads on at another place: after `stopped`, or to go back. What was fetched is dropped.
    @discardableResult
    public func reopen(
        _ partition: KafkaTopicPartition, at position: KafkaPosition
    ) throws(KafkaFault) -> KafkaPartitionReader {
        close(partition)
        return try open(partition, at: position)
    }

    /// Ends reading a partition. What was fetched is dropped; batches that are lent stay so.
    public func close(_ partition: KafkaTopicPartition) {
        guard let reader = partitions.removeValue(forKey: partition) else { return }
        let list = PartitionList([partition])
        // It refuses only what it has dropped by itself.
        if let error = rd_kafka_incremental_unassign(client.pointer, list.pointer) { rd_kafka_error_destroy(error) }
        // Only now nothing more comes into its queue.
        reader.drop()
        reader.close()
    }

    /// What the group of `KafkaReading.group` has committed: the next offset to read; nil where it has nothing. Nothing is joined for it.
    public func committed(
        of partitions: [KafkaTopicPartition], _ completion: @escaping (Result<[Int64?], KafkaFault>) -> Void
    ) {
        committedOffsets(of: partitions, completion)
    }

    // MARK: The end

    /// Ends all connections. Told when nothing is left: batches that are lent hold it up.
    public func close(_ completion: @escaping () -> Void = {}) { tearDown(completion) }

    deinit { letGo() }

    override func letGo() {
        for reader in partitions.values { reader.close() }
        partitions = [:]
    }

    // MARK: Events

    override func handle(_ fault: KafkaFault, _ code: rd_kafka_resp_err_t, _ partition: KafkaTopicPartition?) {
        instruments.faults.add(1, .other)
        onEvent?(.fault(fault))
    }

    func read(_ count: Int) { instruments.records.add(Int64(count)) }

    func tell(_ event: KafkaReaderEvent) {
        if case .stopped = event { instruments.faults.add(1, .partition) }
        onEvent?(event)
    }
}

/// Everything that is not of one partition comes over one queue.
func consumerQueue(_ client: NativeClient) -> OpaquePointer {
    rd_kafka_poll_set_consumer(client.pointer)
    return rd_kafka_queue_get_consumer(client.pointer)
}
