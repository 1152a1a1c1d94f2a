// Rules of sources that processes share, and of where checkpoints lie.

extension Rules {
    static let streams: [Rule] =
        [
            oneSource, topicsAndPartitions, drain(before: Options.redis.lease, with: .redis),
            drain(before: Options.kafka.lease, with: .kafka),
        ] + connection(Options.redis.connection, lease: Options.redis.lease)
        + connection(Options.storage.redis, lease: Options.kafka.lease) + [
            durable, storeIsThere, storeOfKafka, storeBesideStreams, storeWithoutUse,
        ]

    private static let oneSource = Rule(
        isWarning: false,
        about: [
            Options.redis.connection.url.declaration, Options.kafka.bootstrapServers.declaration,
            Options.source.recording.declaration,
        ]
    ) { configuration, _ in
        let sources = [
            ("source.redis.url", configuration[Options.redis.connection.url] != nil),
            ("source.kafka.bootstrapServers", !configuration[Options.kafka.bootstrapServers].isEmpty),
            ("source.recording", configuration[Options.source.recording] != nil),
        ].filter(\.1).map(\.0)
        guard sources.count > 1 else { return nil }
        return Rule.Broken(
            says: ["source.redis.url", "source.kafka.bootstrapServers", "source.recording"].map { key in
                let others = sources.filter { $0 != key }.joined(separator: " and ")
                return (
                    "is a second source beside \(others)", "remove \(sources.count == 2 ? "one" : "two") of them"
                )
            })
    }

    private static let topicsAndPartitions = Rule(
        isWarning: false,
        about: [
            Options.redis.topics.declaration, Options.redis.partitions.declaration,
            Options.redis.connection.url.declaration,
        ]
    ) { configuration, _ in
        let redis = Options.redis
        let topics = configuration[redis.topics]
        let hasURL = configuration[redis.connection.url] != nil
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
    private static func drain(before option: Option<Int64>, with source: Source) -> Rule {
        Rule(isWarning: false, about: [Options.process.drainTimeout.declaration, option.declaration]) {
            configuration, _ in
            let lease = configuration[option]
            guard configuration.source == source, let drain = configuration[Options.process.drainTimeout],
                drain * 3 >= lease * 2
            else { return nil }
            let (drainText, leaseText) = (Quantity.text(milliseconds: drain), Quantity.text(milliseconds: lease))
            let what = source == .kafka ? "partitions" : "streams"
            let why = "a stop would still wait for answers when another process may take the \(what) over"
            let atMost = Quantity.text(milliseconds: Configuration.drainMilliseconds(withinLease: lease))
            let atLeast = Quantity.text(milliseconds: (drain * 3 / 2 / 1000 + 1) * 1000)
            return Rule.Broken(says: [
                (
                    "is not shorter than two thirds of \(option.declaration) (\(leaseText)): \(why)",
                    "choose \(atMost), or \(option.declaration) of \(atLeast)"
                ),
                (
                    "is too short for drainTimeout (\(drainText)), which has to be shorter than two thirds of it: \(why)",
                    "choose at least \(atLeast)"
                ),
            ])
        }
    }

    private static let durable = Rule(
        isWarning: false,
        about: [
            Options.storage.kind.declaration, Options.redis.connection.url.declaration,
            Options.kafka.bootstrapServers.declaration, Options.storage.volatile.declaration,
        ]
    ) { configuration, _ in
        guard configuration.storeConnection != nil, configuration[Options.storage.kind] == "memory",
            !configuration[Options.storage.volatile]
        else { return nil }
        let source = configuration.source == .kafka ? "source.kafka" : "source.redis.url"
        let why = "after a restart it would number updates anew, and phones would take them for old ones"
        let remedy = "remove storage.kind, or accept that with storage.volatile: true"
        let read = "is read with storage.kind memory, which forgets everything with the process: \(why)"
        return Rule.Broken(says: [
            ("forgets everything with the process, and \(source) is read: \(why)", remedy), (read, remedy),
            (read, remedy), ("does not allow storage.kind memory with \(source): \(why)", remedy),
        ])
    }

    private static let storeIsThere = Rule(isWarning: false, about: [Options.storage.kind.declaration]) {
        configuration, _ in
        guard configuration.storeConnection == nil, configuration[Options.storage.kind] == "redis" else { return nil }
        return Rule.Broken(says: [
            (
                "needs source.redis.url, beside whose streams checkpoints lie, or source.kafka with storage.redis.url",
                "set one, or remove storage.kind"
            )
        ])
    }

    private static let storeOfKafka = Rule(
        isWarning: false,
        about: [Options.kafka.bootstrapServers.declaration, Options.storage.redis.url.declaration]
    ) { configuration, _ in
        guard configuration.source == .kafka, configuration[Options.storage.redis.url] == nil else { return nil }
        let remedy = "set it, for instance to redis://localhost"
        return Rule.Broken(says: [
            (
                "need storage.redis.url as well: who owns a partition, how far it was read and, unless storage.kind is memory, "
                    + "what phones were told is kept in a Redis", remedy
            ),
            ("is needed with source.kafka", remedy),
        ])
    }

    private static let storeBesideStreams = Rule(
        isWarning: false, about: [Options.storage.redis.url, Options.redis.connection.url].map(\.declaration)
    ) { configuration, _ in
        guard configuration[Options.storage.redis.url] != nil, configuration[Options.redis.connection.url] != nil
        else { return nil }
        return Rule.Broken(says: [
            (
                "does not go with source.redis: checkpoints lie beside the streams, in the Redis of source.redis",
                "remove it"
            ),
            (
                "is where checkpoints lie, beside the streams, and storage.redis.url names another place",
                "remove the latter"
            ),
        ])
    }

    private static let storeWithoutUse = Rule(isWarning: true, about: [Options.storage.redis.url.declaration]) {
        configuration, _ in
        guard configuration[Options.storage.redis.url] != nil, configuration.storeConnection == nil else { return nil }
        return Rule.Broken(says: [
            ("has no effect, as it belongs to source.kafka, which is not set", "remove it, or set source.kafka")
        ])
    }
}
