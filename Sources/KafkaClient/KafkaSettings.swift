/// Where Kafka is, who asks, and how it is spoken to.
public struct KafkaSettings: Sendable {
    public struct TLS: Sendable {
        /// Authorities that brokers' certificates are checked against, PEM; nil for those of the system.
        public var authorityFile: String?
        /// The client's own certificate and its key, PEM, for brokers that ask for one.
        public var certificateFile: String?
        public var keyFile: String?
        public var keyPassword: KafkaSecret?

        public init() {}
    }

    public enum Mechanism: String, Sendable, CaseIterable {
        case plain = "PLAIN"
        case scramSHA256 = "SCRAM-SHA-256"
        case scramSHA512 = "SCRAM-SHA-512"
    }

    /// By SASL.
    public enum Login: Sendable {
        case password(Mechanism, username: String, password: KafkaSecret)
        /// OAUTHBEARER with the bearer token in a file (see `KafkaToken`), read again before it expires.
        case token(file: String)
    }

    /// `host:port`, some brokers of the cluster; the others are learned from them.
    public var bootstrapServers: [String]
    /// Stands in brokers' logs and quotas.
    public var clientID = "waypulse"
    public var tls: TLS?
    public var login: Login?
    /// Of this process, so that a replica near it may be read (KIP-392).
    public var rack: String?
    /// Of librdkafka, in its own words (CONFIGURATION.md); they go before what is chosen here, except for `reservedProperties`.
    public var properties: [String: String] = [:]
    /// A look-up that is not answered in this time has failed.
    public var lookUpTimeoutMilliseconds: Int32 = 10_000

    public init(bootstrapServers: [String]) { self.bootstrapServers = bootstrapServers }
}

/// What is read, and how much of it ahead.
public struct KafkaReading: Sendable {
    public enum Isolation: String, Sendable, CaseIterable {
        case readCommitted = "read_committed"
        case readUncommitted = "read_uncommitted"
    }

    /// What becomes of a partition whose offset does not exist any more, or not yet.
    public enum MissingOffset: String, Sendable, CaseIterable {
        /// A fault of that partition, which its owner decides upon.
        case error
        case earliest
        case latest
    }

    public var isolation = Isolation.readCommitted
    public var missingOffset = MissingOffset.error
    /// Records that were fetched and not taken yet, of all partitions together: see `KafkaPrefetch`.
    public var prefetchMiB = 256
    /// How many partitions may be read at once: those of all topics, since one member may have to carry all.
    public var partitions: Int

    /// The group that a member reads for, so that nothing is asked for that its user has no right to; nil for the client's id.
    public var group: String?

    public init(partitions: Int) { self.partitions = partitions }
}

/// Membership of a consumer group.
public struct KafkaGroup: Sendable {
    public enum Assignment: String, Sendable, CaseIterable {
        /// Only what moves is taken away. It looks at each topic by itself: members that need partitions of the same number of several
        /// topics must use `range`.
        case cooperativeSticky = "cooperative-sticky"
        /// All is taken away at each rebalance. Topics of equal partition counts are divided alike.
        case range
    }

    public var id: String
    public var topics: [String]
    /// Static membership (KIP-345): its partitions wait for it, through a restart and until the session ends.
    public var instanceID: String?
    public var assignment = Assignment.cooperativeSticky
    /// A member that the coordinator does not hear of for so long is dead. Brokers limit it (`group.min.session.timeout.ms`).
    public var sessionTimeoutMilliseconds = 45_000
    /// A member whose loop does not turn for so long leaves the group by itself.
    public var pollIntervalMaxMilliseconds = 300_000
    /// How often stored offsets are committed.
    public var commitIntervalMilliseconds = 1_000

    public init(id: String, topics: [String]) {
        self.id = id
        self.topics = topics
    }

    /// Several in a session, as Kafka asks for.
    var heartbeatMilliseconds: Int { min(3_000, max(1, sessionTimeoutMilliseconds / 10)) }
}

/// How records are sent.
public struct KafkaProducing: Sendable {
    /// Records that were taken and are not acknowledged, before `hasRoom` ends.
    public var mostWaiting = 10_000
    /// A record that is not acknowledged for so long has failed.
    public var deliveryTimeoutMilliseconds = 120_000

    public init() {}
}
