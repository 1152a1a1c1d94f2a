import Flow
import RedisClient
import Storage
import Streams

/// What a run as member of a group has to be told beside `RunSettings`.
public struct GroupRunSettings: Sendable {
    public enum Source: Sendable {
        case streams(StreamSettings)
        case kafka(KafkaSourceSettings)

        var isKafka: Bool {
            if case .kafka = self { true } else { false }
        }

        public var topics: [String] {
            switch self {
            case .streams(let streams): streams.topics
            case .kafka(let kafka): kafka.feed.topics
            }
        }
    }

    public var member: MemberSettings
    public var source: Source
    /// The store's, and of the streams if that is what is read.
    public var redis: RedisSettings
    public var group: GroupSettings
    /// Where Redis is, for people.
    public var place: String
    /// Checkpoints are kept in this process alone, and forgotten with it; positions are still saved.
    public var isVolatile = false

    public init(
        member: MemberSettings, source: Source, redis: RedisSettings, group: GroupSettings, place: String
    ) {
        self.member = member
        self.source = source
        self.redis = redis
        self.group = group
        self.place = place
    }
}
