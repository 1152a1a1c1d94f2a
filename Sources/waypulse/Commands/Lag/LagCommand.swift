import Configuration
import Pipeline

enum LagCommand: Command {
    static let name = "lag"
    static let summary = "Show how far each partition of a group is read and settled"
    static let examples: [Example] = [
        Example(
            "waypulse lag --config waypulse.yaml", "The group of source.kafka or source.redis, a line a partition."),
        Example("waypulse lag --config waypulse.yaml --json | jq 'select(.lagSeconds > 60)'", "What is late."),
    ]
    static let details = """
        It asks the brokers where each partition ends and what the group has committed, and the store who owns it, how far it is settled and
        what its owner said of it last. It joins nothing and changes nothing.

        read       the next offset to be read, as the owner said within the last seconds; - where nobody owns the partition (Kafka)
        settled    where the next owner would go on: all before it is told or written down (Kafka)
        committed  the group's committed offset, which other tools take for its position: some seconds behind settled (Kafka)
        end        the offset of the next record to come (Kafka)
        lag        records not read; without an owner, records not settled
        seconds    age of the oldest of them
        unsettled  records read that settled has not passed: they wait for a cadence, an answer or the next save
        oldest     seconds since the oldest record was read that keeps settled from moving on

        Brokers that do not answer leave their partitions open, and the exit code is 69 then.
        Held updates keep settled and committed back on purpose, for storage.maxUncommittedAge at most: scale and alert on lag and seconds.
        """
    static let flags: [Flag] = [.config, .set, .json]

    static func run(_ arguments: Arguments) throws -> ExitCode {
        let signals = StopSignals()
        let configuration = try arguments.configuration(warns: !arguments.has(.json))
        let topic = try TopicLoop(signals: signals)
        let table: LagTable
        if let kafka = try KafkaSourceSettings(configuration) {
            table = try KafkaLag(kafka, configuration, topic).table()
        } else if let streams = try GroupRunSettings.streams(configuration) {
            table = try StreamLag(streams, topic).table()
        } else {
            throw CommandFault(
                .usage, "lag needs the group's configuration", remedy: "waypulse lag --config waypulse.yaml")
        }
        let output = LineOutput()
        if arguments.has(.json) { table.writeJSON(to: output) } else { table.write(to: output) }
        output.flush()
        if !arguments.has(.json) { Console.say(table.sum) }
        for text in table.unknown { Console.say("warning: \(text)") }
        return table.unknown.isEmpty ? .success : .unavailable
    }
}
