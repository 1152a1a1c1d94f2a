import Instruments
import KafkaClient
import KafkaFixture
import Sockets
import Testing

/// Puts events into a topic, as a producer does.
struct EventProducer {
    private let loop: EventLoop
    private let producer: KafkaProducer

    init(_ cluster: MockCluster) throws {
        let registry = Registry()
        loop = try EventLoop()
        producer = try KafkaProducer(
            settings: KafkaSettings(bootstrapServers: cluster.bootstrapServers),
            producing: KafkaProducing(), loop: loop, instruments: KafkaInstruments(registry: registry),
            log: Log(component: "kafka", to: LogSink(level: .error, format: .json, output: { _ in })))
    }

    func append(_ event: String, key: String, to partition: Int32) throws {
        let before = producer.acknowledged
        let isTaken = try Array(event.utf8).withUnsafeBytes { event in
            try Array(key.utf8).withUnsafeBytes { key in
                try producer.produce(to: "rides", partition: partition, key: key, value: event)
            }
        }
        #expect(isTaken)
        while producer.acknowledged == before { loop.runOnce() }
    }
}
