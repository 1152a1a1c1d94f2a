import CRdkafka
import KafkaFixture
import Testing

@testable import KafkaClient

@Suite struct ProducingTests {
    private let cluster = MockCluster()

    private func bench() -> Bench {
        cluster.make(topic: "rides", partitions: 4)
        return Bench(cluster)
    }

    @Test func whatIsSentIsAcknowledgedInItsOrder() throws {
        let bench = bench()
        let producer = try bench.producer()
        var deliveries: [KafkaDelivery] = []
        producer.onDelivery = { deliveries.append($0) }
        for number in 0..<500 {
            #expect(try producer.produce(to: "rides", partition: 2, value: "\(number)", tag: UInt(number)))
        }
        #expect(producer.waiting == 500)
        var left: Int?
        producer.flush(withinMilliseconds: 30_000) { left = $0 }
        bench.drive(until: { left != nil })
        #expect(left == 0)
        #expect(deliveries.map(\.tag) == (0..<500).map { UInt($0) })
        #expect(deliveries.map(\.offset) == (0..<500).map { Int64($0) })
        #expect(bench.count("waypulse_kafka_produced_total", "acknowledged") == 500)
        bench.close(producer)
    }

    @Test func thereIsRoomForSoManyAndNoMore() throws {
        let bench = bench()
        let producer = try bench.producer { $0.mostWaiting = 10 }
        for _ in 0..<10 { #expect(try producer.produce(to: "rides", partition: 0, value: "x")) }
        #expect(!producer.hasRoom)
        #expect(try !producer.produce(to: "rides", partition: 0, value: "x"))
        bench.drive(until: { producer.hasRoom })
        #expect(try producer.produce(to: "rides", partition: 0, value: "x"))
        bench.drive(until: { producer.acknowledged == 11 })
        bench.close(producer)
    }

    @Test func aRecordThatIsTooLargeIsRefusedAtOnce() throws {
        let bench = bench()
        let producer = try bench.producer()
        let value = String(repeating: "x", count: 2_000_000)
        do throws(KafkaFault) {
            _ = try producer.produce(to: "rides", partition: 0, value: value)
            Issue.record("it is taken")
        } catch {
            #expect(error.kind == .tooLarge)
            #expect(error.problem.contains("rides[0]"))
        }
        #expect(producer.waiting == 0)
        bench.close(producer)
    }

    @Test func aTopicThatMayNotBeWrittenFailsItsRecords() throws {
        let bench = bench()
        bench.settings.properties["retries"] = "0"
        bench.settings.properties["enable.idempotence"] = "false"
        let producer = try bench.producer()
        var deliveries: [KafkaDelivery] = []
        producer.onDelivery = { deliveries.append($0) }
        cluster.fail(.produce, [RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED])
        #expect(try producer.produce(to: "rides", partition: 1, value: "x", tag: 7))
        bench.drive(until: { deliveries.count == 1 })
        #expect(deliveries[0].tag == 7)
        #expect(deliveries[0].offset == nil)
        #expect(deliveries[0].fault?.kind == .forbidden)
        #expect(bench.count("waypulse_kafka_produced_total", "failed") == 1)
        bench.close(producer)
    }

    @Test func whatABrokerRefusesForNowIsSentAgainAndStandsOnce() throws {
        let bench = bench()
        let producer = try bench.producer()
        var deliveries: [KafkaDelivery] = []
        producer.onDelivery = { deliveries.append($0) }
        cluster.fail(.produce, [RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR__TRANSPORT])
        #expect(try producer.produce(to: "rides", partition: 0, value: "x"))
        bench.drive(until: { deliveries.count == 1 })
        #expect(deliveries[0].fault == nil)
        bench.close(producer)
    }

    @Test func flushingEndsWithWhatIsLeftWhenBrokersAreAway() throws {
        let bench = bench()
        let producer = try bench.producer()
        #expect(try producer.produce(to: "rides", partition: 0, value: "x"))
        bench.drive(until: { producer.acknowledged == 1 })
        cluster.takeDown(broker: -1)
        #expect(try producer.produce(to: "rides", partition: 0, value: "y"))
        var left: Int?
        producer.flush(withinMilliseconds: 50) { left = $0 }
        bench.drive(until: { left != nil })
        #expect(left == 1)
        cluster.bringUp(broker: -1)
        bench.drive(until: { producer.acknowledged == 2 })
        bench.close(producer)
    }

    /// zlib-CRC32 of the key, modulo the partitions: "order-7" is 0x9D0DADA.
    @Test func aKeyPlacesItsRecord() throws {
        let bench = bench()
        let producer = try bench.producer()
        var deliveries: [KafkaDelivery] = []
        producer.onDelivery = { deliveries.append($0) }
        let key = Array("order-7".utf8)
        try key.withUnsafeBytes { key in
            for _ in 0..<3 {
                let isTaken = try producer.produce(to: "rides", partition: nil, key: key, value: key)
                #expect(isTaken)
            }
        }
        bench.drive(until: { deliveries.count == 3 })
        #expect(deliveries.allSatisfy { $0.partition == 2 })
        bench.close(producer)
    }
}
