import Glibc
import Pipeline
import RedisClient
import Storage
import Streams

/// Asks Redis how a group stands that reads streams.
struct StreamLag {
    private let group: GroupRunSettings
    private let topic: TopicLoop

    init(_ group: GroupRunSettings, _ topic: TopicLoop) {
        (self.group, self.topic) = (group, topic)
    }

    func table() throws -> LagTable {
        let client = try topic.redis(group.redis)
        defer { client.close() }
        let looks = try topic.answer { GroupLook(client: client, place: group.place, group: group.group).look($0) }
        var table = LagTable(title: "\(group.group.name) at \(group.place)")
        for (source, name) in group.source.topics.enumerated() {
            for (partition, look) in looks.enumerated() {
                var row = LagRow(name, Int32(partition), source: source, look)
                if !row.isOwnerHeard {
                    let stream = StreamName.of(topic: name, partition: Int32(partition))
                    let tail = try topic.answer {
                        StreamTail.look(client, stream: stream, after: look.positions[source], $0)
                    }
                    row.lagRecords = tail.records
                    row.lagMilliseconds = tail.firstMilliseconds.map { max(0, wallMilliseconds - $0) } ?? 0
                }
                table.rows.append(row)
            }
        }
        return table
    }

    private var wallMilliseconds: Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
    }
}
