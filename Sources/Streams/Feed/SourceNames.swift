import RedisClient

/// How people call the places of a group's records, in logs and in Redis.
public enum SourceNames: Sendable {
    /// Streams of Redis, by topic: `rides:{3}`, `1796033145716-0`.
    case streams([String])
    /// Topics of Kafka: `rides[3]`, `42`.
    case topics([String])

    public var topics: [String] {
        switch self {
        case .streams(let topics), .topics(let topics): topics
        }
    }

    public func log(_ source: Int, _ partition: Int32) -> String {
        switch self {
        case .streams(let topics): StreamName.of(topic: topics[source], partition: partition)
        case .topics(let topics): "\(topics[source])[\(partition)]"
        }
    }

    public func place(_ offset: Int64) -> String {
        switch self {
        case .streams: RedisStreamID(offset: offset).description
        case .topics: "\(offset)"
        }
    }

    /// - Parameter place: as `place` gives it.
    public func offset(_ place: String) -> Int64? {
        switch self {
        case .streams: RedisStreamID(place)?.offset
        case .topics: Int64(place)
        }
    }
}
