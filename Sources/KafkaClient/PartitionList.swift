import CRdkafka

/// A list of partitions with offsets, of librdkafka's, that is freed in time.
struct PartitionList: ~Copyable {
    let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    init(capacity: Int) { pointer = rd_kafka_topic_partition_list_new(Int32(capacity)) }

    init(_ partitions: some Collection<KafkaTopicPartition>) {
        self.init(capacity: partitions.count)
        for partition in partitions { append(partition) }
    }

    deinit { rd_kafka_topic_partition_list_destroy(pointer) }

    var count: Int { Int(pointer.pointee.cnt) }

    func append(_ partition: KafkaTopicPartition, offset: Int64 = Int64(RD_KAFKA_OFFSET_INVALID)) {
        rd_kafka_topic_partition_list_add(pointer, partition.topic, partition.partition).pointee.offset = offset
    }
}

extension UnsafeMutablePointer<rd_kafka_topic_partition_list_t> {
    /// Each element's partition, offset and error.
    func entries() -> [(partition: KafkaTopicPartition, offset: Int64, code: rd_kafka_resp_err_t)] {
        (0..<Int(pointee.cnt)).map { place in
            let element = pointee.elems[place]
            return (
                KafkaTopicPartition(String(cString: element.topic), element.partition), element.offset, element.err
            )
        }
    }
}

extension KafkaPosition {
    var nativeOffset: Int64 {
        switch self {
        case .offset(let offset): offset
        case .beginning: Int64(RD_KAFKA_OFFSET_BEGINNING)
        case .end: Int64(RD_KAFKA_OFFSET_END)
        }
    }
}
