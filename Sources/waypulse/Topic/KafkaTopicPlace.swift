import Configuration
import KafkaClient
import Pipeline

/// Which topic of which cluster of Kafka a command means.
struct KafkaTopicPlace {
    let configuration: Configuration
    let topic: String
    let settings: KafkaSettings

    /// - Parameters: as `TopicPlace` has them.
    init(_ arguments: Arguments, url flag: Flag, command: String, words: String) throws {
        for (other, instead) in [
            (TopicPlace.partitions, "leave it out: the cluster says how many partitions a topic has"),
            (TopicPlace.bodyField, "leave it out: the event is the record's value"),
            (TopicPlace.passwordFile, "--set source.kafka.sasl.passwordFile=FILE, beside .mechanism and .username"),
        ] where arguments.has(other) {
            throw CommandFault(.usage, "\(other.name) is for Redis", remedy: instead)
        }
        configuration = try arguments.configuration(warns: !arguments.has(.json))
        var servers = configuration[Options.kafka.bootstrapServers]
        if let address = arguments.value(flag) {
            do throws(Refusal) {
                servers = try KafkaURL(parsing: address).bootstrapServers
            } catch {
                throw CommandFault(.usage, "\(flag.name) \(error.problem)", remedy: error.remedy)
            }
        }
        let topics = arguments.all(TopicPlace.topic).last.map { [$0] } ?? configuration[Options.kafka.topics]
        guard let topic = topics.first else {
            throw CommandFault(.usage, "\(command) needs --topic", remedy: words)
        }
        guard topics.count == 1 else {
            throw CommandFault(
                .usage, "the configuration has \(topics.count) topics: \(topics.joined(separator: ", "))",
                remedy: "--topic \(topic)")
        }
        self.topic = topic
        settings = try KafkaSettings(configuration, bootstrapServers: servers)
    }

    var servers: String { settings.bootstrapServers.joined(separator: ",") }

    /// `rides (8 partitions) at kafka-1.example:9092`.
    func description(partitions: Int) -> String {
        "\(topic) (\(Figures.counted(partitions, "partition"))) at \(servers)"
    }
}
