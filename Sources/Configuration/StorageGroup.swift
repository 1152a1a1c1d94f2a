/// Where the state of activities outlives the process.
public struct StorageGroup: Sendable {
    public let kind = Option.optional(
        "storage.kind", .choice(["redis", "memory"]),
        "Where checkpoints lie. Unset is redis with streams or Kafka as source, else memory. Streams have theirs beside them, in the "
            + "Redis of source.redis; with Kafka it is the one of storage.redis.")
    public let redis = RedisConnectionGroup(
        "storage.redis",
        url:
            "Where the Redis is that keeps checkpoints, leases and positions with source.kafka, as a URL like that of source.redis. "
            + "Required with source.kafka, and for nothing else.")
    public let volatile = Option.flag(
        "storage.volatile", standard: false,
        "Allow memory with streams or Kafka: after a restart, sequence numbers and what phones were told are forgotten."
    )
    public let maxUncommittedAge = Option.duration(
        "storage.maxUncommittedAge", standard: "120s", in: 1000...24 * Bounds.hour,
        "How long an update that waits may hold back its stream's cursor or its partition's offset; then it is written into its checkpoint."
    )
    public let maxUncommittedRecords = Option.integer(
        "storage.maxUncommittedRecords", standard: 1_000_000, in: 1000...1_000_000_000,
        "The same bound in records of one stream or partition.")
    public let maxActivities = Option.integer(
        "storage.maxActivities", standard: 2_000_000, in: 1000...1_000_000_000,
        "How many activities to keep in memory; beyond it settled idle ones lie in the store until their next event.")
}
