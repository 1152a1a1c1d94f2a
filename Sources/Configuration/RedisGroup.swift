/// Redis Streams as source, and the same Redis as store of checkpoints.
public struct RedisGroup: Sendable {
    public let url = Option.redis(
        "source.redis.url",
        "Where the Redis is: redis://[user@]host[:port][/database], rediss:// for TLS, "
            + "redis+sentinel://host[:port],host…/master or redis+cluster://host[:port],host… (rediss+… for TLS).")
    public let passwordFile = Option.optional(
        "source.redis.passwordFile", .secretFile,
        "The file that holds the password. Without a user in the URL it is the default user's.")
    public let sentinelPasswordFile = Option.optional(
        "source.redis.sentinelPasswordFile", .secretFile, "The file that holds the password of the sentinels.")
    public let caFile = Option.optional(
        "source.redis.caFile", .path, "A PEM file of certificate authorities to trust beside the system's.")
    public let certificateFile = Option.optional(
        "source.redis.certificateFile", .path, "A PEM file with the certificate to show to a Redis that asks for one.")
    public let keyFile = Option.optional(
        "source.redis.keyFile", .secretFile, "The PEM file that holds that certificate's key.")
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
    public let connectTimeout = Option.duration(
        "source.redis.connectTimeout", standard: "5s", in: 1...Bounds.hour,
        "How long name resolution, connection, TLS handshake and login may take together.")
    public let commandTimeout = Option.duration(
        "source.redis.commandTimeout", standard: "3s", in: 1...Bounds.hour,
        "How long an answer may take; then the connection is given up and made anew.")
    public let reconnectDelay = Option.duration(
        "source.redis.reconnectDelay", standard: "100ms", in: 1...Bounds.hour,
        "The first pause after a connection failed; it doubles, with jitter, at each further failure.")
    public let reconnectDelayMax = Option.duration(
        "source.redis.reconnectDelayMax", standard: "5s", in: 1...Bounds.hour,
        "The longest pause between connection attempts.")
    public let readCount = Option.integer(
        "source.redis.readCount", standard: 500, in: 1...10_000, "How many entries to ask for in one read.")
}
