import Glibc
import Instruments
import KafkaClient
import KafkaFixture
import Sockets
import Testing

@testable import Streams

/// Clients of Kafka on a loop of the test's own, and a cluster in the process.
final class TopicBench {
    let cluster: MockCluster
    let loop = try! EventLoop()
    let registry = Registry()
    let instruments: KafkaInstruments
    let log: Log
    var settings: KafkaSettings

    init(brokers: Int = 1, topics: [String: Int]) {
        cluster = MockCluster(brokers: brokers)
        for (topic, partitions) in topics { cluster.make(topic: topic, partitions: partitions) }
        instruments = KafkaInstruments(registry: registry)
        log = Log(component: "kafka", to: LogSink(level: .error, format: .forStandardError, registry: registry))
        settings = KafkaSettings(bootstrapServers: cluster.bootstrapServers)
        // The mock answers a fetch that finds nothing only at the end of its wait.
        settings.properties["fetch.wait.max.ms"] = "10"
        settings.properties["reconnect.backoff.ms"] = "10"
        settings.properties["reconnect.backoff.max.ms"] = "50"
    }

    func producer(_ producing: KafkaProducing = KafkaProducing()) throws -> KafkaProducer {
        var settings = settings
        settings.properties["fetch.wait.max.ms"] = nil
        settings.properties["linger.ms"] = "1"
        return try KafkaProducer(
            settings: settings, producing: producing, loop: loop, instruments: instruments, log: log)
    }

    func reader(partitions: Int) throws -> KafkaReader {
        try KafkaReader(
            settings: settings, reading: KafkaReading(partitions: partitions), loop: loop, instruments: instruments,
            log: log)
    }

    /// Turns of the loop until it holds. The minute is no expectation, only the end of a test that hangs.
    func drive(
        _ everyTurn: () -> Void = {}, until condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let limit = EventLoop.currentMilliseconds() + 60_000
        while !condition() {
            guard EventLoop.currentMilliseconds() < limit else {
                Issue.record("never happened", sourceLocation: sourceLocation)
                return
            }
            loop.runOnce(timeoutMilliseconds: 10)
            everyTurn()
        }
    }

    struct Sent {
        var key: String?
        var value: String?
        var partition: Int32 = 0
        var timeMilliseconds: Int64?
        var headers: [(String, String)] = []
    }

    /// Each with its acknowledgement before the next: offsets follow in this order.
    func produce(_ records: [Sent], to topic: String) throws {
        let producer = try producer()
        for record in records {
            let headers = record.headers.isEmpty ? nil : KafkaHeaders()
            for (name, value) in record.headers { headers?.append(name, value) }
            let (key, value) = (record.key.map { Array($0.utf8) }, record.value.map { Array($0.utf8) })
            let isTaken = try (key ?? []).withUnsafeBytes { keyBytes in
                try (value ?? []).withUnsafeBytes { valueBytes in
                    try producer.produce(
                        to: topic, partition: record.partition, key: key == nil ? nil : keyBytes,
                        value: value == nil ? nil : valueBytes, headers: headers,
                        timestampMilliseconds: record.timeMilliseconds)
                }
            }
            #expect(isTaken)
        }
        drive(until: { producer.acknowledged == records.count })
        close { producer.close($0) }
    }

    /// All that a topic holds, partition by partition, as key and value.
    func records(of topic: String, partitions: Int32) throws -> [[(key: String?, value: String)]] {
        let reader = try reader(partitions: Int(partitions))
        var found = [[(key: String?, value: String)]](repeating: [], count: Int(partitions))
        let lanes = try (0..<partitions).map { try reader.open(KafkaTopicPartition(topic, $0), at: .beginning) }
        let batch = KafkaBatch(capacity: 100)
        drive {
            for lane in lanes {
                lane.read(into: batch)
                for place in 0..<batch.count {
                    let key = batch[place].key
                    found[Int(lane.partition.partition)].append(
                        (
                            key.baseAddress == nil ? nil : String(decoding: key, as: UTF8.self),
                            String(decoding: batch[place].value, as: UTF8.self)
                        ))
                }
                batch.giveBack()
            }
        } until: {
            lanes.allSatisfy { $0.endOffset != nil }
        }
        close { reader.close($0) }
        return found
    }

    func close(_ begin: (@escaping () -> Void) -> Void) {
        var isClosed = false
        begin { isClosed = true }
        drive(until: { isClosed })
    }

    /// A path where nothing is yet, cleared afterwards.
    func withPath<Result>(_ body: (String) throws -> Result) rethrows -> Result {
        let path = "/tmp/waypulse-topic-\(UInt64.random(in: .min ... .max)).jsonl"
        defer { unlink(path) }
        return try body(path)
    }
}
