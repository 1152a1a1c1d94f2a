import KafkaClient
import Sockets

/// Knows since when the brokers that lead partitions are away. Nothing comes of such a partition, and nothing says so: librdkafka reports lost connections
/// only where it has none at all.
public final class LeaderWatch {
    private var awaySinceMilliseconds: [KafkaTopicPartition: Int64] = [:]

    /// A leader that moves is away for a moment.
    private static let patienceMilliseconds: Int64 = 3_000

    public init() {}

    /// - Parameter statistics: of the client that reads, each second.
    public func note(_ statistics: KafkaStatistics, nowMilliseconds now: Int64) {
        for known in statistics.partitions {
            guard known.isLeaderUp == false else {
                awaySinceMilliseconds[known.partition] = nil
                continue
            }
            if awaySinceMilliseconds[known.partition] == nil { awaySinceMilliseconds[known.partition] = now }
        }
    }

    /// 0 where it is there.
    func awayMilliseconds(_ partition: KafkaTopicPartition, _ now: Int64) -> Int64 {
        awaySinceMilliseconds[partition].map { max(0, now - $0) } ?? 0
    }

    func fault(of partition: KafkaTopicPartition) -> KafkaFault? {
        guard awayMilliseconds(partition, EventLoop.currentMilliseconds()) > Self.patienceMilliseconds else {
            return nil
        }
        return KafkaFault(
            .unreachable, "the broker that leads it cannot be reached from here, though others can",
            remedy:
                "see whether that broker runs, and whether this machine reaches it at the address that it advertises")
    }
}
