import KafkaClient
import Pacing
import Sockets
import Telemetry
import Testing

@testable import Streams

@Suite("A partition of Kafka", .serialized)
struct KafkaFeedTests {
    @Test("from its beginning: what is there, in order, and where that ended when it began")
    func beginning() throws {
        let bench = try KafkaFeedBench()
        try bench.produce(positions: 1_200)
        bench.open()
        bench.drive { bench.offsets.count == 1_200 && bench.notices.count > 1 }
        #expect(bench.offsets == Array(0..<1_200))
        #expect(
            bench.notices == [
                .begins(source: 0, SettledPosition(offset: -1, records: 0), newestOffset: 1_199),
                .reachedEnd(source: 0),
            ])
        #expect(bench.feed?.fault == nil)
    }

    @Test("of an empty one, and of one that is read from its newest record on, the end is where it begins")
    func ends() throws {
        let empty = try KafkaFeedBench()
        empty.open()
        empty.drive { !empty.notices.isEmpty }
        #expect(empty.notices == [.begins(source: 0, SettledPosition(offset: -1, records: 0), newestOffset: -1)])

        let latest = try KafkaFeedBench()
        try latest.produce(positions: 5)
        latest.open(from: .end)
        latest.drive { !latest.notices.isEmpty }
        #expect(latest.notices == [.begins(source: 0, SettledPosition(offset: 4, records: 0), newestOffset: -1)])
        try latest.produce(positions: 1)
        latest.drive { !latest.offsets.isEmpty }
        #expect(latest.offsets == [5])
    }

    @Test("after what the store says, whatever else is known")
    func stored() throws {
        let bench = try KafkaFeedBench()
        try bench.produce(positions: 10)
        bench.open(after: SettledPosition(offset: 6, records: 3), from: .end)
        bench.drive { bench.offsets.count == 3 }
        #expect(bench.offsets == [7, 8, 9])
        #expect(bench.notices.first == .begins(source: 0, SettledPosition(offset: 6, records: 3), newestOffset: 9))
    }

    @Test("records that retention took unread are counted, and reading goes on behind them")
    func trimmed() throws {
        // The mock cluster keeps 5 MiB a partition.
        let bench = try KafkaFeedBench()
        let value = KafkaFeedBench.position(
            "\"timestamp\":1773000000,\"note\":\"\(String(repeating: "x", count: 60_000))\"")
        for _ in 0..<12 { try bench.produce(Array(repeating: value, count: 20)) }
        bench.open(after: SettledPosition(offset: 2, records: 3))
        bench.drive { bench.offsets.last == 239 }
        guard case .trimmed(0, let records, let position)? = bench.notices.first else {
            Issue.record("\(bench.notices)")
            return
        }
        let first = try #require(bench.offsets.first)
        #expect(first > 3)
        #expect(records == first - 3)
        #expect(position == SettledPosition(offset: first - 1, records: 3 + records))
        #expect(bench.notices.dropFirst().first == .begins(source: 0, position, newestOffset: 239))
    }

    @Test(
        "a log that ends before what was read of it is read again where it is, from its beginning if nobody knows better"
    )
    func rewound() throws {
        let bench = try KafkaFeedBench()
        try bench.produce(positions: 4)
        bench.open(after: SettledPosition(offset: 41, records: 42))
        bench.drive { bench.offsets.count == 4 }
        #expect(bench.offsets == [0, 1, 2, 3])
        #expect(
            bench.notices.prefix(2) == [
                .rewound(source: 0, fromOffset: 41, SettledPosition(offset: -1, records: 42)),
                .begins(source: 0, SettledPosition(offset: -1, records: 42), newestOffset: 3),
            ])
    }

    @Test("two topics, each with its own places")
    func topics() throws {
        let bench = try KafkaFeedBench(topics: ["rides", "orders"])
        try bench.produce(positions: 700)
        try bench.produce(positions: 30, to: "orders")
        bench.open()
        bench.drive { bench.offsets.count == 730 }
        #expect(
            bench.notices.contains(.begins(source: 1, SettledPosition(offset: -1, records: 0), newestOffset: 29)))
        #expect(
            bench.notices.contains(.begins(source: 0, SettledPosition(offset: -1, records: 0), newestOffset: 699)))
    }

    @Test("no more is read ahead than fits into two batches, and the rest goes on when there is room")
    func held() throws {
        let bench = try KafkaFeedBench()
        try bench.produce(positions: 3_000)
        bench.isHeld = true
        let feed = bench.open()
        bench.drive { feed.batchesAhead == 2 }
        let begin = EventLoop.currentMilliseconds()
        bench.drive { EventLoop.currentMilliseconds() > begin + 200 }
        #expect(feed.batchesAhead == 2)
        bench.isHeld = false
        bench.drive { bench.offsets.count == 3_000 }
        #expect(bench.offsets == Array(0..<3_000))
    }

    @Test("how far reading is behind: counted from what was not applied, and by the time at which it was written")
    func lag() throws {
        let bench = try KafkaFeedBench()
        try bench.produce(Array(repeating: KafkaFeedBench.position(), count: 10), at: 1_000_000)
        bench.isHeld = true
        let feed = bench.open()
        bench.drive { feed.first != nil }
        var lag = feed.lag(nowMilliseconds: EventLoop.currentMilliseconds(), wallMilliseconds: 1_060_000)
        #expect(lag.records == 10)
        #expect(lag.milliseconds == 60_000)
        // A clock that is behind the producers'.
        lag = feed.lag(nowMilliseconds: EventLoop.currentMilliseconds(), wallMilliseconds: 5)
        #expect(lag.milliseconds == 0)
        bench.isHeld = false
        bench.drive { bench.offsets.count == 10 && bench.notices.count > 1 }
        lag = feed.lag(nowMilliseconds: EventLoop.currentMilliseconds(), wallMilliseconds: 1_060_000)
        #expect(lag.records == 0)
        #expect(lag.milliseconds == 0)
    }

    @Test("tombstones, Confluent's framing and CloudEvents")
    func envelopes() throws {
        let bench = try KafkaFeedBench()
        try bench.produce([nil, [0, 0, 0, 0, 7] + KafkaFeedBench.position(), [0, 0, 0, 0, 7, 2, 0x61]])
        try bench.produce(
            [KafkaFeedBench.position(#""speed":1"#)],
            headers: [("ce_specversion", "1.0"), ("ce_id", "e-1"), ("ce_time", "2026-03-08T20:00:00Z")])
        bench.open()
        bench.drive { bench.offsets.count == 4 }
        #expect(bench.faults.map(\.reason) == [.notJSON, .notJSON])
        #expect(bench.faults[0].explanation.contains("no value"))
        #expect(bench.faults[1].explanation.contains("schema"))
        #expect(bench.events[1]?.timestampMilliseconds == 1_773_000_000_000)
        #expect(bench.events[3]?.timestampMilliseconds == 1_773_000_000_000)
    }

    @Test("a topic that is refused says so, and is read as soon as it may be")
    func refused() throws {
        let bench = try KafkaFeedBench()
        try bench.produce(positions: 3)
        bench.cluster.fail(.fetch, Array(repeating: .init(29), count: 3))
        let feed = bench.open()
        bench.drive { feed.fault != nil || bench.offsets.count == 3 }
        bench.drive { bench.offsets.count == 3 && feed.fault == nil }
        #expect(bench.offsets == [0, 1, 2])
    }

    @Test("a look-up that failed is a fault no longer once reading goes on")
    func lookedUpAgain() throws {
        let bench = try KafkaFeedBench()
        try bench.produce(positions: 3)
        bench.cluster.fail(.listOffsets, [.init(29)])
        let feed = bench.open(after: SettledPosition(offset: 41, records: 42))
        bench.drive { feed.fault?.problem.contains("asking for the offsets") == true }
        bench.drive { bench.offsets.count == 3 && feed.fault == nil }
        #expect(bench.offsets == [0, 1, 2])
    }
}
