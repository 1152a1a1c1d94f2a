import CRdkafka

/// The records of a partition that are there: from `low` on, and `high` will be the next.
public struct KafkaWatermarks: Equatable, Sendable {
    public let low: Int64
    public let high: Int64
}

/// Questions to the cluster. Each is answered on the loop, within `lookUpTimeoutMilliseconds` a topic or partition that is asked for.
extension KafkaConnection {
    /// How many partitions each topic has, in the order of `topics`.
    public func partitionCounts(
        of topics: [String], _ completion: @escaping ([Result<Int, KafkaFault>]) -> Void
    ) {
        let timeout = settings.lookUpTimeoutMilliseconds
        ask { client in
            topics.map { client.partitionCount(of: $0, timeout) }
        } completion: { [self] answers in
            completion(answers.map { $0.mapError(explained) })
        }
    }

    public func watermarks(
        of partitions: [KafkaTopicPartition], _ completion: @escaping ([Result<KafkaWatermarks, KafkaFault>]) -> Void
    ) {
        let timeout = settings.lookUpTimeoutMilliseconds
        ask { client in
            client.watermarks(of: partitions, timeout)
        } completion: { [self] answers in
            completion(answers.map { $0.mapError(explained) })
        }
    }

    /// Each partition's first record of that broker time or later; nil where there is none.
    ///
    /// - Parameter timeMilliseconds: since 1970.
    public func offsets(
        at timeMilliseconds: Int64, of partitions: [KafkaTopicPartition],
        _ completion: @escaping (Result<[Int64?], KafkaFault>) -> Void
    ) {
        let timeout = settings.lookUpTimeoutMilliseconds
        ask { client in
            client.offsets(at: timeMilliseconds, of: partitions, timeout)
        } completion: { [self] in
            completion($0.mapError(explained))
        }
    }

    /// What the group of this client has committed: the next offset to read; nil where it has nothing.
    public func committedOffsets(
        of partitions: [KafkaTopicPartition], _ completion: @escaping (Result<[Int64?], KafkaFault>) -> Void
    ) {
        let timeout = settings.lookUpTimeoutMilliseconds
        ask { client in
            client.committed(of: partitions, timeout)
        } completion: { [self] in
            completion($0.mapError(explained))
        }
    }
}

extension KafkaReader {
    /// Commits offsets, each the next to read, for the group that it reads for (`KafkaReading.group`). It is no member: a group that has
    /// members refuses it.
    public func commit(
        _ offsets: [KafkaTopicPartition: Int64], _ completion: @escaping (Result<Void, KafkaFault>) -> Void
    ) {
        ask { client in
            client.commit(offsets)
        } completion: { [self] in
            completion($0.mapError(explained))
        }
    }
}

extension NativeClient {
    fileprivate func commit(_ offsets: [KafkaTopicPartition: Int64]) -> Result<Void, KafkaFault> {
        let list = PartitionList(capacity: offsets.count)
        for (partition, offset) in offsets { list.append(partition, offset: offset) }
        return list.answer(rd_kafka_commit(pointer, list.pointer, 0), "committing offsets").map { _ in () }
    }

    fileprivate func partitionCount(of topic: String, _ timeout: Int32) -> Result<Int, KafkaFault> {
        let what = "looking up topic \(topic)"
        guard let handle = rd_kafka_topic_new(pointer, topic, nil) else {
            return .failure(.of(rd_kafka_last_error(), what))
        }
        defer { rd_kafka_topic_destroy(handle) }
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let code = rd_kafka_metadata(pointer, 0, handle, &metadata, timeout)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata else { return .failure(.of(code, what)) }
        defer { rd_kafka_metadata_destroy(metadata) }
        guard metadata.pointee.topic_cnt > 0 else {
            return .failure(.of(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, what))
        }
        let found = metadata.pointee.topics[0]
        guard found.err == RD_KAFKA_RESP_ERR_NO_ERROR else { return .failure(.of(found.err, what)) }
        return .success(Int(found.partition_cnt))
    }

    /// By the times that stand for the first and the next record (KIP-79): `rd_kafka_query_watermark_offsets` of librdkafka 2.0.2 waits without end
    /// where the leader of a partition is away.
    fileprivate func watermarks(
        of partitions: [KafkaTopicPartition], _ timeout: Int32
    ) -> [Result<KafkaWatermarks, KafkaFault>] {
        switch ends(of: partitions, timeout) {
        case .success(let all): all.map { .success($0) }
        case .failure where partitions.count > 1:
            // One that does not answer takes the others with it.
            partitions.map { partition in
                ends(of: [partition], min(timeout, Self.singleMilliseconds)).map { $0[0] }
            }
        case .failure(let fault): [.failure(fault)]
        }
    }

    private static var singleMilliseconds: Int32 { 2_000 }

    private func ends(
        of partitions: [KafkaTopicPartition], _ timeout: Int32
    ) -> Result<[KafkaWatermarks], KafkaFault> {
        let (beginning, end): (Int64, Int64) = (-2, -1)
        let names = partitions.map(\.description).joined(separator: ", ")
        let what = "asking for the offsets of \(names)"
        return offsets(at: beginning, of: partitions, timeout, what).flatMap { low in
            offsets(at: end, of: partitions, timeout, what).map { high in
                zip(low, high).map { KafkaWatermarks(low: $0 ?? 0, high: $1 ?? $0 ?? 0) }
            }
        }
    }

    fileprivate func offsets(
        at timeMilliseconds: Int64, of partitions: [KafkaTopicPartition], _ timeout: Int32, _ what: String? = nil
    ) -> Result<[Int64?], KafkaFault> {
        let list = PartitionList(capacity: partitions.count)
        for partition in partitions { list.append(partition, offset: timeMilliseconds) }
        return list.answer(
            rd_kafka_offsets_for_times(pointer, list.pointer, timeout), what ?? "asking for the offsets of that time")
    }

    fileprivate func committed(of partitions: [KafkaTopicPartition], _ timeout: Int32) -> Result<
        [Int64?], KafkaFault
    > {
        let list = PartitionList(partitions)
        return list.answer(rd_kafka_committed(pointer, list.pointer, timeout), "asking for committed offsets")
    }
}

extension PartitionList {
    /// The offsets that were filled in; what is below zero stands for none.
    fileprivate func answer(_ code: rd_kafka_resp_err_t, _ what: String) -> Result<[Int64?], KafkaFault> {
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { return .failure(.of(code, what)) }
        let entries = pointer.entries()
        if let bad = entries.first(where: { $0.code != RD_KAFKA_RESP_ERR_NO_ERROR }) {
            return .failure(.of(bad.code, "\(what) of \(bad.partition)"))
        }
        return .success(entries.map { $0.offset >= 0 ? $0.offset : nil })
    }
}
