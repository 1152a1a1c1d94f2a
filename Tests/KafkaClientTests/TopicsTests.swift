import CRdkafka
import KafkaFixture
import Testing

@testable import KafkaClient

@Suite struct TopicsTests {
    private func counts(of names: [String], _ bench: Bench) throws -> [Result<Int, KafkaFault>] {
        let topics = try bench.topics()
        var found: [Result<Int, KafkaFault>] = []
        topics.partitionCounts(of: names) { found = $0 }
        bench.drive(until: { found.count == names.count })
        bench.close(topics)
        return found
    }

    private func fault(_ result: Result<Int, KafkaFault>) -> KafkaFault? {
        if case .failure(let fault) = result { fault } else { nil }
    }

    @Test func eachTopicTellsItsPartitions() throws {
        let cluster = MockCluster(brokers: 3)
        cluster.make(topic: "rides", partitions: 12)
        cluster.make(topic: "orders", partitions: 8)
        #expect(try counts(of: ["rides", "orders"], Bench(cluster)) == [.success(12), .success(8)])
    }

    @Test func aTopicThatDoesNotExistOrMayNotBeSeenIsNamedAndTheOthersAreToldAllTheSame() throws {
        let cluster = MockCluster()
        cluster.make(topic: "rides", partitions: 2)
        // The mock makes what it is asked for; told to, it says what Kafka says.
        cluster.set(error: RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, ofTopic: "ridse")
        cluster.set(error: RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, ofTopic: "payments")
        let found = try counts(of: ["ridse", "rides", "payments"], Bench(cluster))
        #expect(found[1] == .success(2))
        #expect(fault(found[0])?.kind == .unknownTopic)
        #expect(fault(found[0])?.problem.hasPrefix("looking up topic ridse failed:") == true)
        #expect(fault(found[2])?.kind == .forbidden)
        #expect(fault(found[2])?.remedy.contains("kafka-acls") == true)
    }

    @Test func anAddressWhereNobodyListensIsToldWithTheAddress() throws {
        let bench = Bench(["127.0.0.1:1"])
        bench.settings.lookUpTimeoutMilliseconds = 1_000
        let found = fault(try counts(of: ["rides"], bench)[0])
        #expect(found?.kind == .unreachable)
        #expect(found?.problem.contains("127.0.0.1:1") == true)
        #expect(found?.problem.contains("Connection refused") == true)
    }

    @Test func aNameThatHasNoAddressIsTold() throws {
        let bench = Bench(["nowhere.invalid:9092"])
        bench.settings.lookUpTimeoutMilliseconds = 1_000
        let found = fault(try counts(of: ["rides"], bench)[0])
        #expect(found?.kind == .unresolved)
        #expect(found?.problem.contains("nowhere.invalid") == true)
    }

    @Test func theEndsOfPartitionsAreLookedUp() throws {
        let cluster = MockCluster()
        cluster.make(topic: "rides", partitions: 2)
        let bench = Bench(cluster)
        try bench.produce(["a", "b", "c"], to: "rides", 1)
        let topics = try bench.topics()
        var found: [Result<KafkaWatermarks, KafkaFault>] = []
        topics.watermarks(of: [KafkaTopicPartition("rides", 0), KafkaTopicPartition("rides", 1)]) { found = $0 }
        #expect(found.isEmpty)
        bench.drive(until: { !found.isEmpty })
        #expect(found == [.success(KafkaWatermarks(low: 0, high: 0)), .success(KafkaWatermarks(low: 0, high: 3))])
        // Both ends are asked for.
        let refusal = RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED
        cluster.fail(.listOffsets, [refusal, refusal])
        topics.watermarks(of: [KafkaTopicPartition("rides", 0)]) { found = $0 }
        bench.drive(until: { found.count == 1 })
        guard case .failure(let fault) = found[0] else {
            Issue.record("the look-up succeeds")
            return
        }
        #expect(fault.kind == .forbidden)
        #expect(fault.problem.contains("rides[0]"))
        bench.close(topics)
    }
}
