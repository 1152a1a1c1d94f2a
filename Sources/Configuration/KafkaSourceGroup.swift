/// Kafka as source. What has to outlive the process lies in `storage.redis`.
public struct KafkaSourceGroup: Sendable {
    public let bootstrapServers = Option.list(
        "source.kafka.bootstrapServers", standard: "", of: .server, scope: .process,
        "Some brokers of the cluster, host:port; the others are learned from them.")
    public let topics = Option.list(
        "source.kafka.topics", standard: "", of: .kafkaName, scope: .process,
        "The topics to read, at most 8. Several feed the same activities, and so need equal numbers of partitions.")
    public let group = Option.text(
        "source.kafka.group", standard: "waypulse", .name, scope: .process,
        "The consumer group of the processes that share the topics. In the Redis, leases, positions and checkpoints lie below the same "
            + "name.")
    public let assignment = Option.optional(
        "source.kafka.assignment", .choice(["cooperative-sticky", "range"]),
        "How partitions are spread over the group. Unset is cooperative-sticky with one topic, and range with several, as "
            + "partitions of one number have to come to one process.")
    public let instanceId = Option.optional(
        "source.kafka.instanceId", .text(.instance),
        "A name of this process that stays the same through restarts (group.instance.id): its partitions wait for it as long as "
            + "sessionTimeout. For fleets of a fixed size; leave it out where processes come and go.")
    public let sessionTimeout = Option.duration(
        "source.kafka.sessionTimeout", standard: "15s", in: 1000...Bounds.hour,
        "How long the group waits for a process that is not heard of; brokers limit it (group.min.session.timeout.ms).")
    public let pollIntervalMax = Option.duration(
        "source.kafka.pollIntervalMax", standard: "5m", in: 10_000...24 * Bounds.hour,
        "How long a process may be busy with itself, or hold a rebalance up, before it leaves the group.")
    public let commitInterval = Option.duration(
        "source.kafka.commitInterval", standard: "1s", in: 10...Bounds.hour,
        "How often offsets of what is settled are committed to the group.")
    public let offsetReset = Option.choice(
        "source.kafka.offsetReset", standard: "earliest", of: ["earliest", "latest"],
        "Where reading begins of a partition of which neither the store nor the group has a position.")
    public let isolation = Option.choice(
        "source.kafka.isolation", standard: "read_committed", of: ["read_committed", "read_uncommitted"],
        "Whether records of transactions that are open or were aborted are read.")
    public let rack = Option.optional(
        "source.kafka.rack", .text(.word),
        "Where this process is (client.rack), so that a replica near it is read where brokers allow that.")
    public let prefetchMiB = Option.integer(
        "source.kafka.prefetchMiB", standard: 256, in: 1...65_536,
        "How much may be fetched ahead in MiB, over all partitions. Be generous: a small one slows down how a backlog is read."
    )
    public let clientId = Option.text(
        "source.kafka.clientId", standard: "waypulse", .word, scope: .process,
        "Who asks, in brokers' logs and quotas.")
    public let lease = Option.duration(
        "source.kafka.lease", standard: "10s", in: 1000...Bounds.hour,
        "How long a partition stays, in the store, with a process that is not heard of.")
    public let tls = Option.flag("source.kafka.tls", standard: false, "Whether brokers are spoken to over TLS.")
    public let caFile = Option.optional(
        "source.kafka.caFile", .path, "A PEM file of certificate authorities to trust in place of the system's.")
    public let certificateFile = Option.optional(
        "source.kafka.certificateFile", .path, "A PEM file with the certificate to show to brokers that ask for one.")
    public let keyFile = Option.optional(
        "source.kafka.keyFile", .secretFile, "The PEM file that holds that certificate's key.")
    public let keyPasswordFile = Option.optional(
        "source.kafka.keyPasswordFile", .secretFile, "The file that holds that key's password, if it has one.")
    public let mechanism = Option.optional(
        "source.kafka.sasl.mechanism", .choice(["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]),
        "How to log in. OAUTHBEARER takes a tokenFile, the others a username and a passwordFile.")
    public let username = Option.optional("source.kafka.sasl.username", .text(.any), "The user who logs in.")
    public let passwordFile = Option.optional(
        "source.kafka.sasl.passwordFile", .secretFile, "The file that holds that user's password.")
    public let tokenFile = Option.optional(
        "source.kafka.sasl.tokenFile", .secretFile,
        "The file that holds a bearer token (a JWT with exp and sub). It is read again before the token expires, so that whoever "
            + "renews tokens only has to replace the file.")
    public let properties = Option.texts(
        "source.kafka.properties",
        "Any properties of librdkafka, in its own words (its CONFIGURATION.md); they go before what is chosen here, except for those "
            + "that an option or a promise stands for.")
}
