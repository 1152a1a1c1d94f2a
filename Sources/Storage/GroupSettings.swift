/// A group and one of its members, as its store sees them.
public struct GroupSettings: Sendable {
    /// What positions count, and who else shows them.
    public enum Source: Sendable {
        /// Streams of the same Redis: a position is an entry's id, and the stream's consumer group is moved there as well.
        case streams
        /// Topics of a Kafka: a position is the offset of the last record that is settled, and Kafka shows it by itself.
        case topics

        /// Where its options lie in the configuration.
        var options: String {
            switch self {
            case .streams: "source.redis"
            case .topics: "source.kafka"
            }
        }
    }

    public var name: String
    /// Differs between members that live at the same time: two of one name take each other's partitions.
    public var member: String
    public var partitions: Int32
    /// In the order of the member's sources, 1…8.
    public var topics: [String]
    public var leaseMilliseconds: Int64
    public var source: Source

    public init(
        name: String = "waypulse", member: String, partitions: Int32, topics: [String],
        leaseMilliseconds: Int64 = 10_000, source: Source = .streams
    ) {
        self.name = name
        self.member = member
        self.partitions = partitions
        self.topics = topics
        self.leaseMilliseconds = leaseMilliseconds
        self.source = source
    }

    /// In their order: a checkpoint tells how far each was applied by its place. No topic's name ends with a colon.
    var topicsText: String {
        switch source {
        case .streams: topics.joined(separator: " ")
        case .topics: "kafka: " + topics.joined(separator: " ")
        }
    }
}
