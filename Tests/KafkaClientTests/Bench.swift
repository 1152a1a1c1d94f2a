import Instruments
import KafkaFixture
import Sockets
import Testing

@testable import KafkaClient

/// Clients on a loop of the test's own, driven by it.
final class Bench {
    let loop = try! EventLoop()
    let registry = Registry()
    let instruments: KafkaInstruments
    let log: Log
    var settings: KafkaSettings
    /// Runs as long as somebody keeps it.
    let cluster: MockCluster?
    private var hasGivenUp = false

    init(_ servers: [String], cluster: MockCluster? = nil) {
        instruments = KafkaInstruments(registry: registry)
        log = Log(component: "kafka", to: LogSink(level: .error, format: .forStandardError, registry: registry))
        settings = KafkaSettings(bootstrapServers: servers)
        // The mock answers a fetch that finds nothing only at the end of its wait.
        settings.properties["fetch.wait.max.ms"] = "10"
        settings.properties["reconnect.backoff.ms"] = "10"
        settings.properties["reconnect.backoff.max.ms"] = "50"
        self.cluster = cluster
    }

    convenience init(_ cluster: MockCluster) { self.init(cluster.bootstrapServers, cluster: cluster) }

    func producer(_ change: (inout KafkaProducing) -> Void = { _ in }) throws -> KafkaProducer {
        var producing = KafkaProducing()
        change(&producing)
        var settings = settings
        settings.properties["fetch.wait.max.ms"] = nil
        settings.properties["linger.ms"] = "1"
        // Brokers answer with one batch at least, however small an answer was asked for.
        settings.properties["batch.size"] = "16384"
        return try KafkaProducer(
            settings: settings, producing: producing, loop: loop, instruments: instruments, log: log)
    }

    func reader(_ change: (inout KafkaReading) -> Void = { _ in }) throws -> KafkaReader {
        var reading = KafkaReading(partitions: 8)
        change(&reading)
        return try KafkaReader(
            settings: settings, reading: reading, loop: loop, instruments: instruments, log: log)
    }

    func topics() throws -> KafkaTopics {
        try KafkaTopics(settings: settings, loop: loop, instruments: instruments, log: log)
    }

    /// Turns of the loop until it holds. The time is no expectation, only the end of a test that hangs.
    func drive(until condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        let limit = loop.timer { [unowned self] in hasGivenUp = true }
        limit.schedule(atMilliseconds: EventLoop.currentMilliseconds() + 60_000)
        while !condition(), !hasGivenUp { loop.runOnce() }
        limit.cancel()
        if hasGivenUp { Issue.record("never happened", sourceLocation: sourceLocation) }
    }

    /// Sends these values to a partition and waits until they are there.
    func produce(
        _ values: [String], to topic: String, _ partition: Int32 = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let producer = try producer()
        for value in values {
            #expect(try producer.produce(to: topic, partition: partition, value: value), sourceLocation: sourceLocation)
        }
        drive(until: { producer.acknowledged == values.count }, sourceLocation: sourceLocation)
        close(producer)
    }

    func close(_ producer: KafkaProducer, sourceLocation: SourceLocation = #_sourceLocation) {
        var isClosed = false
        producer.close { isClosed = true }
        drive(until: { isClosed }, sourceLocation: sourceLocation)
    }

    func close(_ topics: KafkaTopics, sourceLocation: SourceLocation = #_sourceLocation) {
        var isClosed = false
        topics.close { isClosed = true }
        drive(until: { isClosed }, sourceLocation: sourceLocation)
    }

    func close(_ reader: KafkaReader, sourceLocation: SourceLocation = #_sourceLocation) {
        var isClosed = false
        reader.close { isClosed = true }
        drive(until: { isClosed }, sourceLocation: sourceLocation)
    }

    func close(_ member: KafkaMember, sourceLocation: SourceLocation = #_sourceLocation) -> KafkaFault? {
        var ending: KafkaFault??
        member.close(withinMilliseconds: 30_000) { ending = .some($0) }
        drive(until: { ending != nil }, sourceLocation: sourceLocation)
        return ending ?? nil
    }

    func count(_ metric: String, _ label: String) -> Int64 { registry.snapshot().number(metric, label) ?? 0 }
}

extension KafkaProducer {
    func produce(to topic: String, partition: Int32?, value: String, tag: UInt = 0) throws(KafkaFault) -> Bool {
        let bytes = Array(value.utf8)
        var outcome: Result<Bool, KafkaFault> = .success(false)
        bytes.withUnsafeBytes { bytes in
            do throws(KafkaFault) {
                outcome = .success(try produce(to: topic, partition: partition, key: nil, value: bytes, tag: tag))
            } catch {
                outcome = .failure(error)
            }
        }
        return try outcome.get()
    }
}

extension KafkaRecord {
    var text: String { String(decoding: value, as: UTF8.self) }
}
