/// Redis Streams as source, and the same Redis as store of checkpoints.
public struct RedisGroup: Sendable {
    public let connection = RedisConnectionGroup(
        "source.redis",
        url: "Where the Redis is: redis://[user@]host[:port][/database], rediss:// for TLS, "
            + "redis+sentinel://host[:port],host…/master or redis+cluster://host[:port],host… (rediss+… for TLS).")
    public let topics = Option.list(
        "source.redis.topics", standard: "", of: .name, scope: .process,
        "The topics to read, at most 8. Topic rides is the streams rides:{0}, rides:{1} and so on.")
    public let partitions = Option.optional(
        "source.redis.partitions", in: 1...1024,
        "How many streams each topic has; producers choose one by zlib's CRC32 of the key modulo this. Required with topics."
    )
    public let group = Option.text(
        "source.redis.group", standard: "waypulse", .name, scope: .process,
        "The group of processes that share the streams. Leases, cursors and checkpoints lie below this name.")
    public let bodyField = Option.text(
        "source.redis.bodyField", standard: "event", .entryField, scope: .process,
        "The field of an entry that holds the event as JSON.")
    public let missing = Option.choice(
        "source.redis.missing", standard: "create", of: ["create", "report"],
        "What to do about streams and groups that are not there: create makes them, report waits for them and is not ready."
    )
    public let lease = Option.duration(
        "source.redis.lease", standard: "10s", in: 1000...Bounds.hour,
        "How long a stream stays with a process that is not heard of; then another takes it over.")
    public let readCount = Option.integer(
        "source.redis.readCount", standard: 500, in: 1...10_000, "How many entries to ask for in one read.")
}
