import Configuration
import Streams

/// Where dead letters lie that a command is about: files that it names, streams, or a topic of Kafka.
enum DlqPlace {
    case files([String])
    case streams(RedisTopicPlace, topic: String, topicPrefix: String)

    case topic(KafkaTopicPlace, topicPrefix: String)

    static let from = Flag(
        "--from", value: "URL", "Where they are: redis://localhost:6379 or kafka://localhost:9092")
    static let updates = Flag(
        "--updates",
        "Redis: in place of the topic's records, updates of the group that no phone was told, dlq.GROUP.updates")
    static let flags: [Flag] = [from] + TopicPlace.flags + [updates]
    static let help = """
        Dead letters lie in a file (deadLetters.file), which is given by name or by the configuration, or in streams beside the topic's:
        those of rides:{3} in dlq.rides:{3}, where dlq. is deadLetters.topicPrefix (--set deadLetters.topicPrefix=…). Those of Kafka's topic
        rides lie in the topic dlq.rides, updates that no phone was told among them (--stage push).

        """ + TopicPlace.help

    init(_ arguments: Arguments, command: String) throws {
        let words =
            "waypulse \(command) dead.jsonl; or \(command) --from redis://localhost --topic rides --partitions 8"
        let wantsStreams = ([Self.from] + TopicPlace.flags).contains { arguments.has($0) && $0.name != "--set" }
        guard arguments.operands.isEmpty else {
            guard !wantsStreams, !arguments.has(Self.updates) else {
                throw CommandFault(.usage, "\(command) was given files and streams", remedy: words)
            }
            self = .files(arguments.operands)
            return
        }
        if arguments.has(.config), !arguments.has(Self.from) {
            let configuration = try arguments.configuration(warns: false)
            switch configuration.deadLetterPlace {
            case "file":
                self = .files([configuration[Options.deadLetters.file] ?? ""])
                return
            case "nowhere":
                throw CommandFault(
                    .configuration, "the configuration keeps no dead letters",
                    remedy: "set deadLetters.file, source.redis for streams or source.kafka for topics")
            default: break
            }
        } else if !wantsStreams {
            throw CommandFault(.usage, "\(command) needs to know where dead letters are", remedy: "\(words)")
        }
        let place: RedisTopicPlace
        switch try TopicPlace(arguments, url: Self.from, command: command, words: words) {
        case .redis(let redis): place = redis
        case .kafka(let kafka):
            guard !arguments.has(Self.updates) else {
                throw CommandFault(
                    .usage, "--updates is for Redis",
                    remedy: "--stage push: in Kafka they lie among the topic's letters")
            }
            self = .topic(kafka, topicPrefix: kafka.configuration[Options.deadLetters.topicPrefix])
            return
        }
        let group = place.configuration[Options.redis.group]
        self = .streams(
            place, topic: arguments.has(Self.updates) ? RedisDeadLetterWriter.updates(of: group) : place.topic,
            topicPrefix: place.configuration[Options.deadLetters.topicPrefix])
    }

    var description: String {
        switch self {
        case .files(let paths): paths.joined(separator: " ")
        case .streams(let place, let topic, let prefix):
            "\(prefix)\(topic) (\(Figures.counted(Int(place.partitions), "stream")))"
        case .topic(let place, let prefix): "the topic \(prefix)\(place.topic) at \(place.servers)"
        }
    }
}
