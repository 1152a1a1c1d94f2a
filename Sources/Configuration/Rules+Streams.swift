// Rules of what comes from Redis Streams, and of where checkpoints lie.

extension Rules {
    static let streams: [Rule] = [
        oneSource, topicsAndPartitions, drainBeforeLease, answerBeforeLease, certificateAndKey, onlyWithSentinels,
        onlyWithTLS, durable, storeIsThere,
        .duration(
            Options.redis.reconnectDelay, .atMost, Options.redis.reconnectDelayMax,
            because: "the first pause would exceed the longest"),
    ]

    private static let oneSource = Rule(
        isWarning: false, about: [Options.redis.url.declaration, Options.source.recording.declaration]
    ) { configuration, _ in
        guard configuration[Options.redis.url] != nil, configuration[Options.source.recording] != nil else {
            return nil
        }
        return Rule.Broken(says: [
            ("is a second source beside source.recording", "remove one of them"),
            ("is a second source beside source.redis.url", "remove one of them"),
        ])
    }

    private static let topicsAndPartitions = Rule(
        isWarning: false,
        about: [
            Options.redis.topics.declaration, Options.redis.partitions.declaration, Options.redis.url.declaration,
        ]
    ) { configuration, _ in
        let redis = Options.redis
        let topics = configuration[redis.topics]
        let hasURL = configuration[redis.url] != nil
        let lacking = [
            hasURL ? nil : "source.redis.url", topics.isEmpty ? "source.redis.topics" : nil,
            configuration[redis.partitions] == nil ? "source.redis.partitions" : nil,
        ].compactMap { $0 }
        guard lacking.isEmpty else {
            guard lacking.count < 3 else { return nil }
            let says = (
                problem: "needs \(lacking.joined(separator: " and ")) as well",
                remedy: "a topic is partitions streams at url, so all three are set or none" as String?
            )
            return Rule.Broken(says: [says, says, says])
        }
        guard topics.count > 8 else { return nil }
        let says = (problem: "are \(topics.count) topics", remedy: "name at most 8" as String?)
        return Rule.Broken(says: [says, says, says])
    }

    /// A member that could not renew its lease stops sending after two thirds of it. A drain that lasted longer would end
    /// after the next owner may have begun.
    private static let drainBeforeLease = Rule(
        isWarning: false, about: [Options.process.drainTimeout.declaration, Options.redis.lease.declaration]
    ) { configuration, _ in
        let lease = configuration[Options.redis.lease]
        guard configuration[Options.redis.url] != nil, let drain = configuration[Options.process.drainTimeout],
            drain * 3 >= lease * 2
        else { return nil }
        let (drainText, leaseText) = (Quantity.text(milliseconds: drain), Quantity.text(milliseconds: lease))
        let why = "a stop would still wait for answers when another process may take the streams over"
        let atMost = Quantity.text(milliseconds: Configuration.drainMilliseconds(withinLease: lease))
        let atLeast = Quantity.text(milliseconds: (drain * 3 / 2 / 1000 + 1) * 1000)
        return Rule.Broken(says: [
            (
                "is not shorter than two thirds of source.redis.lease (\(leaseText)): \(why)",
                "choose \(atMost), or source.redis.lease of \(atLeast)"
            ),
            (
                "is too short for drainTimeout (\(drainText)), which has to be shorter than two thirds of it: \(why)",
                "choose at least \(atLeast)"
            ),
        ])
    }

    private static let answerBeforeLease = Rule(
        isWarning: false, about: [Options.redis.commandTimeout.declaration, Options.redis.lease.declaration]
    ) { configuration, _ in
        let timeout = configuration[Options.redis.commandTimeout]
        let lease = configuration[Options.redis.lease]
        // Half: what remains is for a second try.
        guard timeout * 2 > lease else { return nil }
        let why = "one answer that does not come would cost the lease"
        return Rule.Broken(says: [
            (
                "is longer than half of source.redis.lease (\(Quantity.text(milliseconds: lease))): \(why)",
                "choose at most \(Quantity.text(milliseconds: lease / 2))"
            ),
            (
                "is shorter than twice source.redis.commandTimeout (\(Quantity.text(milliseconds: timeout))): \(why)",
                "choose at least \(Quantity.text(milliseconds: timeout * 2))"
            ),
        ])
    }

    private static let certificateAndKey = Rule(
        isWarning: false, about: [Options.redis.certificateFile.declaration, Options.redis.keyFile.declaration]
    ) { configuration, _ in
        let (certificate, key) = (configuration[Options.redis.certificateFile], configuration[Options.redis.keyFile])
        guard (certificate == nil) != (key == nil) else { return nil }
        return Rule.Broken(says: [
            ("comes without its key", "set source.redis.keyFile as well"),
            ("comes without its certificate", "set source.redis.certificateFile as well"),
        ])
    }

    private static let onlyWithSentinels = Rule(
        isWarning: true, about: [Options.redis.sentinelPasswordFile.declaration, Options.redis.url.declaration]
    ) { configuration, _ in
        guard configuration[Options.redis.sentinelPasswordFile] != nil, let url = configuration[Options.redis.url]
        else { return nil }
        if case .sentinel = url.topology { return nil }
        return Rule.Broken(says: [
            ("has no effect, as source.redis.url names no sentinels", "remove it"),
            ("names no sentinels, and source.redis.sentinelPasswordFile is set", "remove one of them"),
        ])
    }

    private static let onlyWithTLS = Rule(
        isWarning: true,
        about: [Options.redis.caFile, Options.redis.certificateFile].map(\.declaration) + [
            Options.redis.url.declaration
        ]
    ) { configuration, _ in
        let files = [configuration[Options.redis.caFile], configuration[Options.redis.certificateFile]]
        guard let url = configuration[Options.redis.url], !url.isTLS, files.contains(where: { $0 != nil }) else {
            return nil
        }
        let says = (
            problem: "has no effect, as source.redis.url asks for no TLS",
            remedy: "begin the URL with rediss" as String?
        )
        return Rule.Broken(says: [
            says, says, ("asks for no TLS, and certificates are set", "begin it with rediss, or remove them"),
        ])
    }

    private static let durable = Rule(
        isWarning: false,
        about: [
            Options.storage.kind.declaration, Options.redis.url.declaration, Options.storage.volatile.declaration,
        ]
    ) { configuration, _ in
        guard configuration[Options.redis.url] != nil, configuration[Options.storage.kind] == "memory",
            !configuration[Options.storage.volatile]
        else { return nil }
        let why = "after a restart it would number updates anew, and phones would take them for old ones"
        let remedy = "remove storage.kind, or accept that with storage.volatile: true"
        return Rule.Broken(says: [
            ("forgets everything with the process, and source.redis.url is read: \(why)", remedy),
            ("is read with storage.kind memory, which forgets everything with the process: \(why)", remedy),
            ("does not allow storage.kind memory with source.redis.url: \(why)", remedy),
        ])
    }

    private static let storeIsThere = Rule(isWarning: false, about: [Options.storage.kind.declaration]) {
        configuration, _ in
        guard configuration[Options.redis.url] == nil, configuration[Options.storage.kind] == "redis" else {
            return nil
        }
        return Rule.Broken(says: [
            ("needs source.redis.url, beside whose streams checkpoints lie", "set it, or remove storage.kind")
        ])
    }
}

extension Configuration {
    /// `drainTimeout`, or what follows from the source where nobody set it.
    public var drainTimeoutMilliseconds: Int64 {
        if let drain = self[Options.process.drainTimeout] { return drain }
        guard self[Options.redis.url] != nil else { return 10_000 }
        return min(10_000, Self.drainMilliseconds(withinLease: self[Options.redis.lease]))
    }

    /// Three fifths: what is left to two thirds is for the last word with the store.
    static func drainMilliseconds(withinLease lease: Int64) -> Int64 { lease * 3 / 5 }

    /// `storage.kind`, or what follows from the source where nobody set it.
    public var keepsCheckpointsInRedis: Bool {
        self[Options.storage.kind].map { $0 == "redis" } ?? (self[Options.redis.url] != nil)
    }
}
