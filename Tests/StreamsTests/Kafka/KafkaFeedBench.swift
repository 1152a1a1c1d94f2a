import Flow
import Instruments
import KafkaClient
import KafkaFixture
import Pacing
import Sockets
import Telemetry
import Testing

@testable import Streams

/// A cluster in this process, and a feed of its partition 0 that takes whatever comes.
final class KafkaFeedBench {
    let cluster = MockCluster()
    let loop = try! EventLoop()
    private let instruments = KafkaInstruments(registry: Registry())
    private let log: Log
    private var settings: KafkaSettings
    private let producer: KafkaProducer
    private let member: KafkaMember
    private let reader: KafkaReader
    private(set) var feed: KafkaFeed?
    /// Nothing is taken from the feed: it reads ahead as far as it may.
    var isHeld = false
    private(set) var notices: [FeedNotice] = []
    private(set) var offsets: [Int64] = []
    /// Of records that cannot be used.
    private(set) var faults: [EventFault] = []
    /// By offset.
    private(set) var events: [Int64: Event] = [:]

    init(topics: [String] = ["rides"]) throws {
        for topic in topics { cluster.make(topic: topic, partitions: 2) }
        log = Log(component: "kafka", to: LogSink(level: .error, format: .forStandardError, registry: Registry()))
        settings = KafkaSettings(bootstrapServers: cluster.bootstrapServers)
        settings.properties["reconnect.backoff.ms"] = "10"
        settings.properties["reconnect.backoff.max.ms"] = "50"
        var producing = settings
        producing.properties["linger.ms"] = "1"
        settings.properties["fetch.wait.max.ms"] = "10"
        producer = try KafkaProducer(
            settings: producing, producing: KafkaProducing(), loop: loop, instruments: instruments, log: log)
        var group = KafkaGroup(id: "pulse", topics: topics)
        group.sessionTimeoutMilliseconds = 4_000
        member = try KafkaMember(settings: settings, group: group, loop: loop, instruments: instruments, log: log)
        reader = try KafkaReader(
            settings: settings, reading: KafkaReading(partitions: 2), loop: loop, instruments: instruments, log: log)
        self.topics = topics
    }

    private let topics: [String]

    @discardableResult
    func open(after: SettledPosition? = nil, from start: KafkaPosition = .beginning) -> KafkaFeed {
        var settings = KafkaFeedSettings(topics: topics, apps: [])
        settings.start = start
        let feed = KafkaFeed(
            partition: 0, epoch: 1, member: member, reader: reader, settings: settings, after: topics.map { _ in after }
        )
        self.feed = feed
        return feed
    }

    func produce(
        _ values: [[UInt8]?], to topic: String = "rides", headers: [(String, String)] = [],
        at milliseconds: Int64? = nil
    ) throws {
        let goal = producer.acknowledged + values.count
        let fields = KafkaHeaders()
        for (name, value) in headers { fields.append(name, value) }
        for value in values {
            let isTaken =
                try value?.withUnsafeBytes {
                    try producer.produce(
                        to: topic, partition: 0, key: nil, value: $0, headers: fields,
                        timestampMilliseconds: milliseconds)
                }
                ?? producer.produce(to: topic, partition: 0, key: nil, value: nil, timestampMilliseconds: milliseconds)
            #expect(isTaken)
        }
        drive { producer.acknowledged >= goal }
    }

    func produce(positions count: Int, to topic: String = "rides") throws {
        try produce((0..<count).map { _ in Self.position() }, to: topic)
    }

    static func position(_ members: String = #""timestamp":1773000000"#) -> [UInt8] {
        Array(#"{"type":"position","activityId":"a","latitude":48.1,"longitude":11.5,\#(members)}"#.utf8)
    }

    /// Turns of the loop until it holds. The minute is no expectation, only the end of a test that hangs.
    func drive(until condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        let limit = EventLoop.currentMilliseconds() + 60_000
        while !condition() {
            guard EventLoop.currentMilliseconds() < limit else {
                Issue.record("never happened", sourceLocation: sourceLocation)
                return
            }
            loop.runOnce(timeoutMilliseconds: 10)
            turn()
        }
    }

    private func turn() {
        guard let feed else { return }
        feed.read(nowMilliseconds: EventLoop.currentMilliseconds(), wallMilliseconds: 0)
        while !isHeld, let batch = feed.first {
            notices += batch.notices
            for record in batch.records {
                offsets.append(record.offset)
                if let fault = record.fault { faults.append(fault) } else { events[record.offset] = record.event }
            }
            feed.finishFirst()
        }
    }
}
