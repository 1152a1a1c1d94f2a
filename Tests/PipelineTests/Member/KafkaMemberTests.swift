import CRdkafka
import Configuration
import Delivery
import Flow
import Instruments
import KafkaClient
import KafkaFixture
import Pacing
import RedisFixture
import Sockets
import Testing

@testable import Pipeline
@testable import Streams

@Suite("A member that reads Kafka", .serialized)
struct KafkaMemberTests {
    /// A cluster in this process, a Redis, and a member without a provider. Each readiness, told four times a second, is one step.
    private final class Run {
        let cluster: MockCluster
        let server: RedisServer
        let stop = StopRequest()
        let runner: MemberRunner
        let registry = Registry()
        private(set) var log = ""
        private var ticks = 0
        /// No expectation, only the end of a test that hangs.
        private static let mostTicks = 240

        init(_ cluster: MockCluster, _ server: RedisServer, _ flags: [String] = []) throws {
            (self.cluster, self.server) = (cluster, server)
            let configuration = try Configuration(
                flags: [
                    "source.kafka.bootstrapServers=\(cluster.bootstrapServers.joined(separator: ","))",
                    "source.kafka.topics=rides", "source.kafka.group=g", "source.kafka.sessionTimeout=4s",
                    "source.kafka.commitInterval=100ms", "source.kafka.lease=2s",
                    "storage.redis.url=redis://127.0.0.1:\(server.port)", "storage.redis.commandTimeout=500ms",
                    "drainTimeout=100ms",
                ] + flags)
            let settings = RunSettings(
                lane: try LaneSettings(configuration, planTargets: false, seed: 1), pace: .live, pools: [],
                delivery: DeliveryOptions(configuration))
            var kafka = try #require(try KafkaSourceSettings(configuration))
            kafka.kafka.properties["fetch.wait.max.ms"] = "10"
            kafka.kafka.properties["reconnect.backoff.ms"] = "10"
            kafka.kafka.properties["reconnect.backoff.max.ms"] = "50"
            runner = try MemberRunner(
                settings: settings,
                group: #require(try GroupRunSettings.kafka(configuration, kafka, partitions: 2)), registry: registry,
                log: Log(
                    component: "test", to: LogSink(level: .error, format: .json, registry: registry, output: { _ in })),
                stop: stop)
        }

        /// - Parameter step: is given what hinders the member, and says whether that was all.
        func run(_ step: @escaping (String?) throws -> Bool) -> RunEnding {
            runner.onReadiness = { [unowned self] hindrance in
                ticks += 1
                do {
                    guard try step(hindrance) || ticks > Run.mostTicks else { return }
                } catch {
                    Issue.record(error)
                }
                #expect(ticks <= Run.mostTicks, "never happened")
                runner.onReadiness = nil
                stop.stop()
            }
            return runner.run()
        }

        func number(_ name: String, _ labels: String...) -> Int64 {
            let snapshot = registry.snapshot()
            return (labels.isEmpty ? snapshot.number(name) : snapshot.number(name, labels[0])) ?? 0
        }

        /// Offsets of partition 0: in Redis "offset records", as the group has committed, the next one.
        func settled() throws -> String? { try server.call("HGET", "g:{0}:cursor", "rides").text }
    }

    private let cluster = MockCluster(brokers: 3)

    init() { cluster.make(topic: "rides", partitions: 2) }

    private func produce(_ values: [String], _ partition: Int32 = 0) throws {
        let loop = try EventLoop()
        let registry = Registry()
        let producer = try KafkaProducer(
            settings: KafkaSettings(bootstrapServers: cluster.bootstrapServers), producing: KafkaProducing(),
            loop: loop,
            instruments: KafkaInstruments(registry: registry),
            log: Log(component: "kafka", to: LogSink(level: .error, format: .forStandardError, registry: registry)))
        for value in values {
            #expect(
                try Array(value.utf8).withUnsafeBytes {
                    try producer.produce(to: "rides", partition: partition, key: nil, value: $0)
                })
        }
        while producer.acknowledged < values.count { loop.runOnce() }
    }

    private func committed() throws -> [Int64?] {
        let loop = try EventLoop()
        let registry = Registry()
        var reading = KafkaReading(partitions: 2)
        reading.group = "g"
        let reader = try KafkaReader(
            settings: KafkaSettings(bootstrapServers: cluster.bootstrapServers), reading: reading, loop: loop,
            instruments: KafkaInstruments(registry: registry),
            log: Log(component: "kafka", to: LogSink(level: .error, format: .forStandardError, registry: registry)))
        var answer: Result<[Int64?], KafkaFault>?
        reader.committed(of: [KafkaTopicPartition("rides", 0), KafkaTopicPartition("rides", 1)]) { answer = $0 }
        while answer == nil { loop.runOnce() }
        return try #require(answer).get()
    }

    private func position(_ second: Int) -> String {
        #"{"type":"position","activityId":"a","latitude":48.1,"longitude":11.5,"timestamp":\#(second)}"#
    }

    @Test("hands over what it has settled, to the store and to the group, and the next one goes on behind it")
    func handOver() throws {
        let server = try RedisServer()
        try produce((1...20).map { position(1_773_000_000 + $0) })
        let first = try Run(cluster, server)
        // Asked to stop as soon as it has read: what is settled last is committed by nothing but the hand-over.
        #expect(first.run { _ in first.number("waypulse_records_total") == 20 } == .drained)
        #expect(try first.settled() == "19 20")
        #expect(try committed() == [20, 0])
        #expect(try server.call("EXISTS", "g:{0}:lease") == .integer(0))

        try produce([position(1_773_000_100)])
        let second = try Run(cluster, server)
        #expect(second.run { _ in second.number("waypulse_records_total") == 1 } == .drained)
        #expect(try second.settled() == "20 21")
        #expect(try committed() == [21, 0])
    }

    @Test("whom the group has forgotten gives its leases back, comes again, and misses nothing")
    func forgotten() throws {
        let server = try RedisServer()
        let run = try Run(cluster, server)
        var stage = 0
        let ending = run.run { hindrance in
            switch stage {
            case 0 where hindrance == nil && run.number("waypulse_partitions_owned") == 2:
                cluster.fail(.heartbeat, [RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID])
                stage = 1
            case 1 where run.number("waypulse_kafka_rebalances_total", "lost") == 2:
                try produce((1...5).map { position(1_773_000_000 + $0) })
                stage = 2
            case 2: return run.number("waypulse_records_total") == 5
            default: break
            }
            return false
        }
        #expect(ending == .drained)
        #expect(run.number("waypulse_partitions_claimed_total") == 4)
        #expect(try run.settled() == "4 5")
    }

    @Test("a static member whose instance id another one has ends, and says so")
    func fenced() throws {
        let run = try Run(cluster, RedisServer(), ["source.kafka.instanceId=one"])
        let ending = run.run { _ in
            if run.number("waypulse_partitions_owned") == 2 {
                cluster.fail(.heartbeat, [RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID])
            }
            return false
        }
        guard case .expelled(let reason) = ending else {
            Issue.record("\(ending)")
            return
        }
        #expect(reason.contains("instanceId"))
    }

    @Test("a commit that failed is in nobody's way once the next one has succeeded")
    func commitFails() throws {
        let server = try RedisServer()
        try produce([position(1_773_000_001)])
        // Enough of them that it is seen.
        cluster.fail(.offsetCommit, Array(repeating: RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, count: 20))
        let run = try Run(cluster, server)
        var isHindered = false
        let ending = run.run { hindrance in
            if hindrance?.contains("committing offsets") == true { isHindered = true }
            return isHindered && hindrance == nil
        }
        #expect(ending == .drained)
        #expect(try committed() == [1, 0])
    }

    @Test("without brokers lag grows, beyond the session too, and whoever is stopped has handed all over")
    func brokersAway() throws {
        let run = try Run(cluster, RedisServer())
        var isAway = false
        let ending = run.run { hindrance in
            if !isAway, hindrance == nil, run.number("waypulse_partitions_owned") == 2 {
                isAway = true
                for broker: Int32 in 1...3 { cluster.takeDown(broker: broker) }
            }
            guard isAway, run.number("waypulse_partitions_lost_total") == 2 else { return false }
            #expect(hindrance != nil)
            return run.number("waypulse_partitions_owned") == 0 && run.number("waypulse_source_lag_seconds") > 0
        }
        #expect(ending == .drained)
    }

    @Test("stopped without brokers it leaves the group without a farewell, and has handed all over")
    func stoppedWithoutBrokers() throws {
        let run = try Run(cluster, RedisServer())
        var isAway = false
        let ending = run.run { hindrance in
            if !isAway, hindrance == nil, run.number("waypulse_partitions_owned") == 2 {
                isAway = true
                for broker: Int32 in 1...3 { cluster.takeDown(broker: broker) }
            }
            return isAway && hindrance?.contains("connecting to Kafka") == true
        }
        #expect(ending == .drained)
    }

    @Test("waits for topics that are not there, may not be seen, or differ, and says why")
    func partitionCounts() throws {
        func find(_ topics: [String], until isTold: @escaping (String) -> Bool) throws -> Int? {
            let stop = StopRequest()
            var kafka = KafkaSettings(bootstrapServers: cluster.bootstrapServers)
            kafka.properties["reconnect.backoff.ms"] = "10"
            kafka.properties["reconnect.backoff.max.ms"] = "50"
            return try KafkaPartitionCount.find(
                KafkaSourceSettings(
                    kafka: kafka, group: KafkaGroup(id: "g", topics: topics), reading: KafkaReading(partitions: 1),
                    feed: KafkaFeedSettings(topics: topics, apps: [])),
                log: Log(
                    component: "test", to: LogSink(level: .error, format: .json, registry: Registry(), output: { _ in })
                ),
                stop: stop
            ) { if isTold($0) { stop.stop() } }
        }
        #expect(try find(["rides"]) { _ in true } == 2)
        cluster.make(topic: "orders", partitions: 3)
        #expect(try find(["rides", "orders"]) { $0.contains("rides 2, orders 3") } == nil)
        cluster.set(error: RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, ofTopic: "orders")
        #expect(try find(["orders"]) { $0.contains("kafka-acls") } == nil)
        cluster.set(error: RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, ofTopic: "orders")
        #expect(try find(["orders"]) { $0.contains("make the topic") } == nil)
    }
}
