import Configuration
import Flow
import Glibc
import RedisClient
import Storage
import Streams

extension GroupRunSettings {
    /// A member of the group that reads `source.redis`; nil where none is configured.
    ///
    /// - Throws: a password, certificate or authority file that cannot be used.
    public init?(_ configuration: Configuration) throws {
        let options = Options.redis
        let name =
            (configuration[Options.source.member] ?? GroupRunSettings.processName) + GroupRunSettings.processSuffix()
        guard let redis = try RedisSettings(configuration, clientName: "waypulse-\(name)"),
            let partitions = configuration[options.partitions]
        else { return nil }
        let topics = configuration[options.topics]
        var member = MemberSettings(name: name, partitions: partitions)
        member.sources = topics.count
        member.leaseMilliseconds = configuration[options.lease]
        member.beatMilliseconds = min(member.beatMilliseconds, member.leaseMilliseconds / 8)
        member.drainTimeoutMilliseconds = configuration.drainTimeoutMilliseconds
        member.maxUncommittedAgeMilliseconds = configuration[Options.storage.maxUncommittedAge]
        member.maxUncommittedRecords = Int64(configuration[Options.storage.maxUncommittedRecords])
        member.maxActivities = configuration[Options.storage.maxActivities]
        var streams = StreamSettings(
            topics: topics, group: configuration[options.group], apps: configuration.apps)
        streams.bodyField = configuration[options.bodyField]
        streams.createsMissing = configuration[options.missing] == "create"
        streams.readCount = configuration[options.readCount]
        self.init(
            member: member, source: .streams(streams), redis: redis,
            group: GroupSettings(
                name: configuration[options.group], member: name, partitions: Int32(partitions), topics: topics,
                leaseMilliseconds: member.leaseMilliseconds),
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
