import Flow
import RedisClient
import Storage
import Streams

/// What a run as member of a group has to be told beside `RunSettings`.
public struct GroupRunSettings: Sendable {
    public var member: MemberSettings
    public var streams: StreamSettings
    public var redis: RedisSettings
    public var group: GroupSettings
    /// Where Redis is, for people.
    public var place: String
    /// Checkpoints are kept in this process alone, and forgotten with it; positions are still saved.
    public var isVolatile = false

    public init(
        member: MemberSettings, streams: StreamSettings, redis: RedisSettings, group: GroupSettings, place: String
    ) {
        self.member = member
        self.streams = streams
        self.redis = redis
        self.group = group
        self.place = place
    }
}
