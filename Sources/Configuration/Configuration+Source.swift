/// Where events come from.
public enum Source: Sendable {
    case recording, redis, kafka
}

extension Configuration {
    /// What is configured: at most one. nil where none is.
    public var source: Source? {
        if !self[Options.kafka.bootstrapServers].isEmpty { return .kafka }
        if self[Options.redis.connection.url] != nil { return .redis }
        return self[Options.source.recording] == nil ? nil : .recording
    }

    /// The Redis that leases, positions and checkpoints lie in; nil where the source needs none.
    public var storeConnection: RedisConnectionGroup? {
        switch source {
        case .kafka: Options.storage.redis
        case .redis: Options.redis.connection
        case .recording, nil: nil
        }
    }

    /// How long a partition stays with a process that is not heard of; nil where nobody shares the source.
    public var lease: Option<Int64>? {
        switch source {
        case .kafka: Options.kafka.lease
        case .redis: Options.redis.lease
        case .recording, nil: nil
        }
    }

    /// `source.kafka.assignment`, or what follows from the topics where nobody set it.
    public var kafkaAssignment: String {
        self[Options.kafka.assignment] ?? (self[Options.kafka.topics].count > 1 ? "range" : "cooperative-sticky")
    }

    /// `drainTimeout`, or what follows from the source where nobody set it, in milliseconds.
    public var drainTimeoutMilliseconds: Int64 {
        if let drain = self[Options.process.drainTimeout] { return drain }
        guard let lease else { return 10_000 }
        let drain = min(10_000, Self.drainMilliseconds(withinLease: self[lease]))
        return source == .kafka ? min(drain, self[Options.kafka.sessionTimeout] * 3 / 5) : drain
    }

    /// Three fifths: what is left to two thirds is for the last word with the store.
    static func drainMilliseconds(withinLease lease: Int64) -> Int64 { lease * 3 / 5 }

    /// `storage.kind`, or what follows from the source where nobody set it.
    public var keepsCheckpointsInRedis: Bool {
        self[Options.storage.kind].map { $0 == "redis" } ?? (storeConnection != nil)
    }
}
