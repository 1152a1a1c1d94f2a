import KafkaClient
import Sockets

extension TopicLoop {
    /// So long several brokers have to answer, of which some may be away.
    private static let connectMilliseconds: Int64 = 3_000

    /// How many partitions a topic has. Nothing is made by asking.
    ///
    /// - Throws: why Kafka cannot be reached, or that the topic is not there and how it would be made.
    func partitionCount(of topic: String, at settings: KafkaSettings) throws -> Int {
        let topics = try KafkaTopics(
            settings: settings, loop: loop, instruments: kafkaInstruments, log: log("kafka"))
        defer { topics.close() }
        var found: Result<Int, KafkaFault>?
        topics.partitionCounts(of: [topic]) { found = $0[0] }
        let limit = EventLoop.currentMilliseconds() + Self.connectMilliseconds
        while true {
            switch found {
            case .success(let count): return count
            case .failure(let fault) where fault.kind == .unknownTopic:
                let servers = settings.bootstrapServers.joined(separator: ",")
                throw CommandFault(
                    .unavailable, "there is no topic \(topic) at \(servers), or this user may not Describe it",
                    remedy: "kafka-topics.sh --bootstrap-server \(servers) --create --topic \(topic) --partitions 8")
            case .failure(let fault): throw fault
            case nil: break
            }
            guard !isStopped else { throw CommandFault(.failure, "stopped") }
            turn()
            if case .failing(let fault) = topics.status, EventLoop.currentMilliseconds() > limit { throw fault }
        }
    }

    func producer(_ settings: KafkaSettings, _ producing: KafkaProducing) throws -> KafkaProducer {
        let producer = try KafkaProducer(
            settings: settings, producing: producing, loop: loop, instruments: kafkaInstruments, log: log("kafka"))
        tellChanges(of: producer)
        return producer
    }

    /// - Parameter partitions: how many are read at once.
    func reader(_ settings: KafkaSettings, _ reading: KafkaReading) throws -> KafkaReader {
        let reader = try KafkaReader(
            settings: settings, reading: reading, loop: loop, instruments: kafkaInstruments, log: log("kafka"))
        tellChanges(of: reader)
        return reader
    }

    /// Once connected: what was said before is why there was nothing to connect to.
    private func tellChanges(of connection: KafkaConnection) {
        var last = connection.status
        connection.onStatusChange = { [weak connection] in
            guard let connection, connection.status != last, connection.status != .connecting else { return }
            let isFirst = last == .connecting && connection.status == .connected
            last = connection.status
            if !isFirst { Console.say("warning: \(last == .connected ? "connected to Kafka again" : "\(last)")") }
        }
    }
}
