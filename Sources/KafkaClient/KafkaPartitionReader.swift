import CRdkafka

/// Reads one partition that is open, from a queue of its own: not to read it is all that it takes to hold it up, and nothing of another
/// partition waits behind it. librdkafka stops fetching at the limits of `KafkaPrefetch`.
public final class KafkaPartitionReader {
    public let partition: KafkaTopicPartition
    /// One past the last record that was read; nil before the first.
    public private(set) var position: Int64?
    /// Where the partition ends, while all of it has been read.
    public private(set) var endOffset: Int64?
    /// Why nothing more comes until it is reopened.
    public private(set) var fault: KafkaFault?
    private unowned let reader: KafkaReader
    /// Nil once it is closed.
    private var queue: OpaquePointer?

    init(_ partition: KafkaTopicPartition, _ reader: KafkaReader) {
        self.partition = partition
        self.reader = reader
        queue = rd_kafka_queue_get_partition(reader.client.pointer, partition.topic, partition.partition)
        // Before it is assigned: from then on nothing goes into the queue of all partitions.
        rd_kafka_queue_forward(queue, nil)
        reader.wakes(on: queue!)
    }

    deinit { close() }

    /// Whether records wait here, or a word about them.
    public var hasRecords: Bool { queue.map { rd_kafka_queue_length($0) > 0 } ?? false }

    /// Takes what is there, up to the batch's capacity. No allocation a record on this side of librdkafka.
    ///
    /// - Parameter batch: an empty one.
    /// - Returns: how many; 0 also for a partition that was closed.
    @discardableResult
    public func read(into batch: KafkaBatch) -> Int {
        precondition(batch.isEmpty, "\(partition): the batch holds \(batch.count) records that were not given back")
        guard let queue else { return 0 }
        let messages = batch.messages
        let taken = rd_kafka_consume_batch_queue(queue, 0, messages.baseAddress, messages.count)
        guard taken > 0 else { return 0 }
        var kept = 0
        var words: [KafkaReaderEvent] = []
        for place in 0..<taken {
            let message = messages[place].unsafelyUnwrapped
            if message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR {
                messages[kept] = message
                kept += 1
            } else {
                words.append(word(message))
            }
        }
        batch.count = kept
        if kept > 0 {
            let next = messages[kept - 1].unsafelyUnwrapped.pointee.offset + 1
            position = max(position ?? 0, next)
            if let end = endOffset, end < next { endOffset = nil }
            reader.read(kept)
        }
        // Whoever hears them may close this.
        for word in words { reader.tell(word) }
        return kept
    }

    /// Words about the partition come between its records.
    private func word(_ message: UnsafeMutablePointer<rd_kafka_message_t>) -> KafkaReaderEvent {
        defer { rd_kafka_message_destroy(message) }
        let offset = message.pointee.offset
        if message.pointee.err == RD_KAFKA_RESP_ERR__PARTITION_EOF {
            endOffset = offset
            position = offset
            return .reachedEnd(partition, offset: offset)
        }
        let says = rd_kafka_message_errstr(message).map { String(cString: $0) }
        let fault = KafkaFault.of(message.pointee.err, "reading \(partition)", detail: says)
        // These librdkafka tries again by itself, and tells of each time.
        let isPassing = [.unavailable, .unreachable, .timeout].contains(fault.kind)
        if !isPassing { self.fault = fault }
        return isPassing ? .fault(fault) : .stopped(partition, fault)
    }

    /// What the broker said with its last answer, without asking: the offsets of the first record and of the next one to come.
    public var watermarks: KafkaWatermarks? {
        guard queue != nil else { return nil }
        var (low, high): (Int64, Int64) = (-1, -1)
        let code = rd_kafka_get_watermark_offsets(
            reader.client.pointer, partition.topic, partition.partition, &low, &high)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, high >= 0 else { return nil }
        return KafkaWatermarks(low: max(0, low), high: high)
    }

    // MARK: Of its reader

    /// After it was unassigned. What was fetched belongs to nobody, and is freed by being taken.
    func drop() {
        guard let queue else { return }
        let batch = KafkaBatch(capacity: 256)
        repeat {
            batch.giveBack()
            batch.count = max(0, rd_kafka_consume_batch_queue(queue, 0, batch.messages.baseAddress, batch.capacity))
        } while batch.count > 0
    }

    func close() {
        guard let queue else { return }
        rd_kafka_queue_io_event_enable(queue, -1, nil, 0)
        rd_kafka_queue_destroy(queue)
        self.queue = nil
    }
}
