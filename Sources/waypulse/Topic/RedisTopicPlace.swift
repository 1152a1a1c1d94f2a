import Configuration
import Glibc
import Pipeline
import RedisClient

/// Which streams of which Redis a command means: its flags say so, else the configuration's `source.redis`.
struct RedisTopicPlace {
    let configuration: Configuration
    let topic: String
    let partitions: Int32
    let bodyField: String
    let redis: RedisSettings

    /// - Parameters:
    ///   - url: the command's flag for the address.
    ///   - words: the command as one might type it, for who has forgotten a part.
    init(_ arguments: Arguments, url flag: Flag, command: String, words: String) throws {
        if !arguments.has(.config) {
            try Self.demand([flag, TopicPlace.topic, TopicPlace.partitions], arguments, command, words)
        }
        var arguments = arguments
        if let url = arguments.value(flag) {
            do throws(Refusal) {
                _ = try RedisURL(parsing: url)
            } catch {
                throw CommandFault(.usage, "\(flag.name) \(error.problem)", remedy: error.remedy)
            }
            arguments.add("source.redis.url=\(url)", to: .set)
        }
        if let name = arguments.value(TopicPlace.topic) { arguments.add("source.redis.topics=\(name)", to: .set) }
        if arguments.has(TopicPlace.partitions) {
            let number = try arguments.integer(TopicPlace.partitions, default: 1, in: 1...1024)
            arguments.add("source.redis.partitions=\(number)", to: .set)
        }
        if let name = arguments.value(TopicPlace.bodyField) {
            arguments.add("source.redis.bodyField=\(name)", to: .set)
        }
        if let path = arguments.value(TopicPlace.passwordFile) {
            arguments.add("source.redis.passwordFile=\(path)", to: .set)
        }
        configuration = try arguments.configuration(warns: !arguments.has(.json))
        let topics = configuration[Options.redis.topics]
        guard let redis = try RedisSettings(configuration, clientName: "waypulse-\(command)"),
            let partitions = configuration[Options.redis.partitions], let topic = topics.first
        else {
            throw CommandFault(.usage, "\(command) needs a topic of a Redis", remedy: words)
        }
        guard topics.count == 1 else {
            throw CommandFault(
                .usage, "the configuration has \(topics.count) topics: \(topics.joined(separator: ", "))",
                remedy: "--topic \(topic)")
        }
        self.redis = redis
        self.topic = topic
        self.partitions = Int32(partitions)
        bodyField = configuration[Options.redis.bodyField]
    }

    /// What neither a flag nor a variable says.
    private static func demand(_ flags: [Flag], _ arguments: Arguments, _ command: String, _ words: String) throws {
        let variables = [
            "WAYPULSE_SOURCE_REDIS_URL", "WAYPULSE_SOURCE_REDIS_TOPICS", "WAYPULSE_SOURCE_REDIS_PARTITIONS",
        ]
        let isSet = arguments.all(.set).contains { $0.hasPrefix("source.redis.") }
        let missing = zip(flags, variables).filter { !arguments.has($0) && getenv($1) == nil }.map(\.0.name)
        guard missing.isEmpty || (isSet && missing.count < flags.count) else {
            throw CommandFault(.usage, "\(command) needs \(missing.joined(separator: " and "))", remedy: words)
        }
    }

    /// `rides (8 partitions) at localhost:6379`.
    var description: String {
        let hosts =
            switch redis.topology {
            case .single(let host): "\(host)"
            case .sentinel(let hosts, let master): "\(master) of \(hosts.map(\.description).joined(separator: ", "))"
            case .cluster(let hosts): hosts.map(\.description).joined(separator: ", ")
            }
        return "\(topic) (\(Figures.counted(Int(partitions), "partition"))) at \(hosts)"
    }
}
