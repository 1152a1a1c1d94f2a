import Configuration
import Glibc
import KafkaClient
import Pipeline
import RedisClient
import Sockets
import Storage

/// Asks Kafka and the store how a group stands.
struct KafkaLag {
    private let settings: KafkaSourceSettings
    private let configuration: Configuration
    private let topic: TopicLoop

    /// So long the next record of a partition that nobody owns is waited for, whose time says how far behind it is.
    private static let recordMilliseconds: Int64 = 3_000

    init(_ settings: KafkaSourceSettings, _ configuration: Configuration, _ topic: TopicLoop) {
        (self.settings, self.configuration, self.topic) = (settings, configuration, topic)
    }

    func table() throws -> LagTable {
        let topics = settings.feed.topics
        var counts: [Int] = []
        for name in topics { counts.append(try topic.partitionCount(of: name, at: settings.kafka)) }
        let partitions = counts.max() ?? 0
        guard let group = try GroupRunSettings.kafka(configuration, settings, partitions: partitions) else {
            throw CommandFault(.configuration, "lag needs the store", remedy: "set storage.redis.url")
        }
        let client = try topic.redis(group.redis)
        defer { client.close() }
        let looks = try topic.answer { GroupLook(client: client, place: group.place, group: group.group).look($0) }
        let reader = try topic.reader(
            settings.kafka, KafkaReading(configuration, partitions: topics.count * partitions))
        defer { reader.close() }
        var table = LagTable(title: "\(group.group.name) at \(settings.place)")
        for (source, name) in topics.enumerated() {
            for partition in 0..<counts[source] {
                table.rows.append(LagRow(name, Int32(partition), source: source, looks[partition]))
                table.rows[table.rows.count - 1].settled = looks[partition].positions[source].map { $0.offset + 1 }
            }
        }
        try fill(&table, from: reader)
        return table
    }

    private func fill(_ table: inout LagTable, from reader: KafkaReader) throws {
        let partitions = table.rows.map { KafkaTopicPartition($0.topic, $0.partition) }
        var committed: Result<[Int64?], KafkaFault>?
        var ends: [Result<KafkaWatermarks, KafkaFault>]?
        reader.committed(of: partitions) { committed = $0 }
        reader.watermarks(of: partitions) { ends = $0 }
        while committed == nil || ends == nil {
            guard !topic.isStopped else { throw CommandFault(.failure, "stopped") }
            topic.turn()
        }
        // A broker that is away is no reason to be silent about the others.
        switch committed {
        case .success(let offsets): for (place, offset) in offsets.enumerated() { table.rows[place].committed = offset }
        case .failure(let fault): table.unknown.append("what the group has committed is not known: \(fault)")
        case nil: break
        }
        for (place, end) in (ends ?? []).enumerated() {
            switch end {
            case .success(let end):
                table.rows[place].end = max(end.high, table.rows[place].status?.endOffset ?? 0)
                table.rows[place].complete(low: end.low)
            case .failure(let fault):
                table.unknown.append("where \(partitions[place]) ends is not known: \(fault)")
            }
        }
        try lookAtTimes(&table, reader)
    }

    /// Where no owner says how old what it did not read is.
    private func lookAtTimes(_ table: inout LagTable, _ reader: KafkaReader) throws {
        var open: [(place: Int, reader: KafkaPartitionReader)] = []
        for (place, row) in table.rows.enumerated() where row.lagMilliseconds == nil && row.end != nil {
            guard row.lagRecords ?? 0 > 0 else {
                table.rows[place].lagMilliseconds = 0
                continue
            }
            let position = row.settled ?? row.committed
            open.append(
                (
                    place,
                    try reader.open(
                        KafkaTopicPartition(row.topic, row.partition),
                        at: position.map { .offset($0) } ?? .beginning)
                ))
        }
        let batch = KafkaBatch(capacity: 1)
        let limit = EventLoop.currentMilliseconds() + Self.recordMilliseconds
        while !open.isEmpty, !topic.isStopped, EventLoop.currentMilliseconds() < limit {
            topic.turn()
            open.removeAll { place, partition in
                partition.read(into: batch)
                defer { batch.giveBack() }
                guard !batch.isEmpty || partition.fault != nil else { return false }
                if !batch.isEmpty, let written = batch[0].timestampMilliseconds {
                    var now = timespec()
                    clock_gettime(CLOCK_REALTIME, &now)
                    let wall = Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
                    table.rows[place].lagMilliseconds = max(0, wall - written)
                }
                return true
            }
        }
    }
}

extension LagRow {
    /// Once it is known where the partition ends.
    fileprivate mutating func complete(low: Int64) {
        guard let end else { return }
        if isOwnerHeard, let offset = status?.readOffset {
            read = max(offset + 1, settled ?? 0)
            lagRecords = max(0, end - offset - 1)
        } else {
            lagRecords = max(0, end - max(settled ?? committed ?? low, low))
        }
    }
}
