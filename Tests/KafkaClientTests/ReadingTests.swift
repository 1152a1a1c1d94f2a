import CRdkafka
import KafkaFixture
import Sockets
import Testing

@testable import KafkaClient

@Suite struct ReadingTests {
    private let rides = KafkaTopicPartition("rides", 0)

    /// Everything of one partition, to its end.
    private func all(_ reader: KafkaPartitionReader, _ bench: Bench, capacity: Int = 100) -> [String] {
        let batch = KafkaBatch(capacity: capacity)
        var values: [String] = []
        bench.drive(until: {
            while reader.read(into: batch) > 0 {
                for place in 0..<batch.count { values.append(batch[place].text) }
                batch.giveBack()
            }
            return reader.endOffset != nil
        })
        return values
    }

    @Test func aTopicIsReadFromItsBeginningToItsEnd() throws {
        let cluster = MockCluster()
        cluster.make(topic: "rides", partitions: 2)
        let bench = Bench(cluster)
        let values = (0..<1_000).map { "event \($0)" }
        try bench.produce(values, to: "rides", 0)
        try bench.produce(["other"], to: "rides", 1)

        let consumer = try bench.reader()
        var events: [KafkaReaderEvent] = []
        consumer.onEvent = { events.append($0) }
        let first = try consumer.open(rides, at: .beginning)
        let second = try consumer.open(KafkaTopicPartition("rides", 1), at: .beginning)
        let isWhole = all(first, bench) == values
        #expect(isWhole)
        #expect(all(second, bench) == ["other"])
        #expect(first.position == 1_000)
        #expect(first.endOffset == 1_000)
        #expect(first.watermarks == KafkaWatermarks(low: 0, high: 1_000))
        #expect(Set(events.map { "\($0)" }).count == 2)
        #expect(events.contains(.reachedEnd(rides, offset: 1_000)))
        bench.close(consumer)
    }

    @Test func readingBeginsAtAnOffsetAndGoesOnElsewhereWhenReopened() throws {
        let cluster = MockCluster()
        cluster.make(topic: "rides", partitions: 1)
        let bench = Bench(cluster)
        try bench.produce((0..<10).map { "\($0)" }, to: "rides")
        let consumer = try bench.reader()
        let late = try consumer.open(rides, at: .offset(7))
        #expect(all(late, bench) == ["7", "8", "9"])
        let early = try consumer.reopen(rides, at: .offset(3))
        #expect(all(early, bench) == ["3", "4", "5", "6", "7", "8", "9"])
        #expect(late.read(into: KafkaBatch(capacity: 1)) == 0)
        bench.close(consumer)
    }

    @Test func aRecordBringsItsKeyHeadersAndTime() throws {
        let cluster = MockCluster()
        cluster.make(topic: "rides", partitions: 1)
        let bench = Bench(cluster)
        let producer = try bench.producer()
        let headers = KafkaHeaders()
        headers.append("ce_id", "a-1")
        headers.append("traceparent", "00-1")
        headers.append("ce_id", "a-2")
        var deliveries: [KafkaDelivery] = []
        producer.onDelivery = { deliveries.append($0) }
        try Array("order-7".utf8).withUnsafeBytes { key in
            try Array("{}".utf8).withUnsafeBytes { value in
                let isTaken = try producer.produce(
                    to: "rides", partition: 0, key: key, value: value, headers: headers,
                    timestampMilliseconds: 1_764_504_000_123, tag: 42)
                #expect(isTaken)
                let isTombstoneTaken = try producer.produce(to: "rides", partition: 0, key: key, value: nil)
                #expect(isTombstoneTaken)
            }
        }
        bench.drive(until: { deliveries.count == 2 })
        #expect(deliveries.first == KafkaDelivery(tag: 42, partition: 0, offset: 0, fault: nil))

        let consumer = try bench.reader()
        let reader = try consumer.open(rides, at: .beginning)
        let batch = KafkaBatch(capacity: 10)
        bench.drive(until: { reader.read(into: batch) > 0 })
        let record = batch[0]
        #expect(String(decoding: record.key, as: UTF8.self) == "order-7")
        #expect(record.text == "{}")
        #expect(record.timestampMilliseconds == 1_764_504_000_123)
        #expect(!record.isTimestampOfBroker)
        #expect(record.header("ce_id").map { String(decoding: $0, as: UTF8.self) } == "a-2")
        #expect(record.header("none") == nil)
        var all: [String] = []
        record.forEachHeader { all.append("\(String(cString: $0))=\(String(decoding: $1, as: UTF8.self))") }
        #expect(all == ["ce_id=a-1", "traceparent=00-1", "ce_id=a-2"])
        if batch.count == 1 {
            batch.giveBack()
            bench.drive(until: { reader.read(into: batch) > 0 })
        }
        #expect(batch[batch.count - 1].isTombstone)
        batch.giveBack()
        bench.close(producer)
        bench.close(consumer)
    }

    @Test func aPartitionThatIsNotReadHoldsNobodyUp() throws {
        let cluster = MockCluster()
        cluster.make(topic: "rides", partitions: 2)
        let bench = Bench(cluster)
        let values = (0..<2_000).map { "\($0) " + String(repeating: "x", count: 300) }
        try bench.produce(values, to: "rides", 0)
        try bench.produce(values, to: "rides", 1)
        // 1 MiB for eight partitions: 64 KiB and 128 records each.
        let consumer = try bench.reader { $0.prefetchMiB = 1 }
        var queued: [Int64] = []
        consumer.onStatistics = { statistics in
            queued += statistics.partitions.filter { $0.partition.partition == 0 }.map(\.queuedBytes)
        }
        let held = try consumer.open(rides, at: .beginning)
        let other = try consumer.open(KafkaTopicPartition("rides", 1), at: .beginning)
        let isWhole = all(other, bench) == values
        #expect(isWhole)
        bench.drive(until: { queued.count > 2 && queued.last! > 0 })
        // The limit, and one answer beyond it.
        #expect(queued.max()! <= 2 * 64 << 10)
        let heldIsWhole = all(held, bench) == values
        #expect(heldIsWhole)
        bench.close(consumer)
    }

    @Test func anOffsetThatDoesNotExistStopsItsPartitionAlone() throws {
        let cluster = MockCluster()
        cluster.make(topic: "rides", partitions: 2)
        let bench = Bench(cluster)
        try bench.produce(["a", "b"], to: "rides", 0)
        try bench.produce(["c"], to: "rides", 1)
        let consumer = try bench.reader()
        var stops: [KafkaFault] = []
        consumer.onEvent = { if case .stopped(KafkaTopicPartition("rides", 0), let fault) = $0 { stops.append(fault) } }
        let lost = try consumer.open(rides, at: .offset(500))
        let fine = try consumer.open(KafkaTopicPartition("rides", 1), at: .beginning)
        bench.drive(until: {
            _ = lost.read(into: KafkaBatch(capacity: 1))
            return !stops.isEmpty
        })
        #expect(stops.first?.kind == .outOfRange)
        #expect(stops.first?.problem.contains("rides") == true)
        #expect(all(fine, bench) == ["c"])
        let again = try consumer.reopen(rides, at: .beginning)
        #expect(all(again, bench) == ["a", "b"])
        bench.close(consumer)
    }

    @Test func brokersThatWereAwayAreReadOnFrom() throws {
        let cluster = MockCluster()
        cluster.make(topic: "rides", partitions: 1)
        let bench = Bench(cluster)
        try bench.produce(["a"], to: "rides")
        let consumer = try bench.reader()
        let reader = try consumer.open(rides, at: .beginning)
        #expect(all(reader, bench) == ["a"])
        bench.drive(until: { consumer.status == .connected })
        cluster.takeDown(broker: -1)
        bench.drive(until: { consumer.status.isFailing })
        guard case .failing(let fault) = consumer.status else { return }
        #expect(fault.kind == .unreachable)
        cluster.bringUp(broker: -1)
        bench.drive(until: { consumer.status == .connected })
        try bench.produce(["b"], to: "rides")
        let batch = KafkaBatch(capacity: 10)
        bench.drive(until: { reader.read(into: batch) > 0 })
        #expect(batch[0].text == "b")
        batch.giveBack()
        bench.close(consumer)
    }

    @Test func aBatchThatIsStillLentHoldsTheEndUpAndNothingElse() throws {
        let cluster = MockCluster()
        cluster.make(topic: "rides", partitions: 1)
        let bench = Bench(cluster)
        try bench.produce(["a"], to: "rides")
        let consumer = try bench.reader()
        let reader = try consumer.open(rides, at: .beginning)
        let batch = KafkaBatch(capacity: 10)
        bench.drive(until: { reader.read(into: batch) > 0 })
        var isClosed = false
        consumer.close { isClosed = true }
        loopTurns(bench)
        #expect(batch[0].text == "a")
        batch.giveBack()
        bench.drive(until: { isClosed })
    }

    private func loopTurns(_ bench: Bench) {
        for _ in 0..<3 { bench.loop.runOnce(timeoutMilliseconds: 0) }
    }

    @Test func aReaderThatNobodyClosedIsFreed() throws {
        let cluster = MockCluster()
        cluster.make(topic: "rides", partitions: 1)
        let bench = Bench(cluster)
        try bench.produce(["a"], to: "rides")
        weak var left: KafkaReader?
        do {
            let consumer = try bench.reader()
            left = consumer
            #expect(all(try consumer.open(rides, at: .beginning), bench) == ["a"])
        }
        #expect(left == nil)
    }
}
