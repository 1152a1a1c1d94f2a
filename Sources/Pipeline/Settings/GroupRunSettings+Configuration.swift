import Configuration
import Flow
import Glibc
import KafkaClient
import RedisClient
import Storage
import Streams

extension GroupRunSettings {
    /// A member of the group that reads `source.redis`; nil where none is configured.
    ///
    /// - Throws: a password, certificate or authority file that cannot be used.
    public static func streams(_ configuration: Configuration) throws -> GroupRunSettings? {
        let options = Options.redis
        guard configuration.source == .redis, let partitions = configuration[options.partitions] else { return nil }
        var streams = StreamSettings(
            topics: configuration[options.topics], group: configuration[options.group], apps: configuration.apps)
        streams.bodyField = configuration[options.bodyField]
        streams.createsMissing = configuration[options.missing] == "create"
        streams.readCount = configuration[options.readCount]
        return try GroupRunSettings(
            configuration, .streams(streams), name: streams.group, partitions: partitions,
            leaseMilliseconds: configuration[options.lease])
    }

    /// A member of the group that reads topics of Kafka.
    ///
    /// - Parameter partitions: of each topic: what the cluster says (`KafkaPartitionCount`).
    /// - Throws: as `streams`.
    public static func kafka(
        _ configuration: Configuration, _ source: KafkaSourceSettings, partitions: Int
    ) throws -> GroupRunSettings? {
        var source = source
        source.reading = KafkaReading(configuration, partitions: partitions * source.feed.topics.count)
        return try GroupRunSettings(
            configuration, .kafka(source), name: source.group.id, partitions: partitions,
            leaseMilliseconds: configuration[Options.kafka.lease])
    }

    private init?(
        _ configuration: Configuration, _ source: Source, name group: String, partitions: Int, leaseMilliseconds: Int64
    ) throws {
        let name =
            (configuration[Options.source.member] ?? GroupRunSettings.processName) + GroupRunSettings.processSuffix()
        guard let redis = try RedisSettings(configuration, clientName: "waypulse-\(name)") else { return nil }
        var member = MemberSettings(name: name, partitions: partitions)
        member.sources = source.topics.count
        member.leaseMilliseconds = leaseMilliseconds
        member.beatMilliseconds = min(member.beatMilliseconds, leaseMilliseconds / 8)
        member.drainTimeoutMilliseconds = configuration.drainTimeoutMilliseconds
        member.maxUncommittedAgeMilliseconds = configuration[Options.storage.maxUncommittedAge]
        member.maxUncommittedRecords = Int64(configuration[Options.storage.maxUncommittedRecords])
        member.maxActivities = configuration[Options.storage.maxActivities]
        member.keepsMemoryOfEmptiedStore = true
        member.isAssigned = source.isKafka
        self.init(
            member: member, source: source, redis: redis,
            group: GroupSettings(
                name: group, member: name, partitions: Int32(partitions), topics: source.topics,
                leaseMilliseconds: leaseMilliseconds, source: source.isKafka ? .topics : .streams),
            place: redis.topology.place)
        isVolatile = configuration[Options.storage.kind] == "memory"
    }

    /// A lease tells its holder by name. Two processes that were given the same one, or one that was frozen and its successor, would take
    /// each other's partitions and both send for them.
    private static func processSuffix() -> String {
        let number = UInt32.random(in: .min ... .max)
        let digits = String(number, radix: 16)
        return "-" + String(repeating: "0", count: 8 - digits.count) + digits
    }

    private static var processName: String {
        var bytes = [CChar](repeating: 0, count: 256)
        gethostname(&bytes, 255)
        let host = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return "\(host.isEmpty ? "host" : host)-\(getpid())"
    }
}

extension RedisSettings.Topology {
    /// For people.
    var place: String {
        switch self {
        case .single(let address): address.description
        case .sentinel(let addresses, let master):
            "\(master) (sentinels \(addresses.map(\.description).joined(separator: ", ")))"
        case .cluster(let addresses): addresses.map(\.description).joined(separator: ", ")
        }
    }
}
