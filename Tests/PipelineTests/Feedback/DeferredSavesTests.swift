import Flow
import Pacing
import Testing

@testable import Pipeline

/// A value cannot be changed inside an expectation.
private final class Saves {
    private var saves = DeferredSaves(patienceMilliseconds: 1_000)
    private let bench: FeedbackBench

    init(_ bench: FeedbackBench) { self.bench = bench }

    var isEmpty: Bool { saves.isEmpty }

    func hold(_ identifier: UInt64, _ request: StoreRequest) -> Bool {
        saves.hold(identifier, request, for: bench.desk, bench.lane, at: bench.moment)
    }

    func next() -> UInt64? { saves.next(bench.desk, at: bench.moment)?.identifier }
}

@Suite("Saves that wait for feedback")
struct DeferredSavesTests {
    private func save(_ partition: Int32) -> StoreRequest {
        .save(
            partition: partition, 1, CheckpointBatch(bytes: [], entries: [], positions: [], serial: 1, acknowledged: 0))
    }

    private func load(_ partition: Int32) -> StoreRequest { .load(partition: partition, 1, []) }

    @Test("go at once where nothing that must not be lost waits, whatever was accepted")
    func nothingWaits() throws {
        let bench = try FeedbackBench()
        bench.sink.setAway(true)
        try bench.push("a", 200)
        let saves = Saves(bench)
        #expect(!saves.hold(1, save(0)))
    }

    @Test("wait until it is written, with what is asked of the partition behind them; renewals and others do not")
    func waits() throws {
        let bench = try FeedbackBench()
        bench.sink.setAway(true)
        try bench.push("a", 410, .unregistered)
        let saves = Saves(bench)
        #expect(saves.hold(1, save(0)))
        #expect(saves.hold(2, load(0)))
        #expect(!saves.hold(3, .renew(partition: 0, 1)))
        #expect(!saves.hold(4, save(1)))
        #expect(!saves.hold(5, .beat))
        #expect(saves.next() == nil)
        bench.sink.setAway(false)
        bench.until { bench.desk.pending == 0 }
        #expect(saves.next() == 1)
        #expect(saves.next() == 2)
        #expect(saves.next() == nil)
        #expect(saves.isEmpty)
    }

    @Test("wait for an end of which no phone hears as well")
    func untoldEnd() throws {
        let bench = try FeedbackBench()
        bench.sink.setAway(true)
        try bench.apply("activity.started", "a")
        try bench.apply("activity.ended", "a")
        let saves = Saves(bench)
        #expect(saves.hold(1, save(0)))
    }

    @Test("wait as long as is set and no longer, and then for nothing before what waits has been written")
    func silent() throws {
        let bench = try FeedbackBench()
        bench.sink.setAway(true)
        try bench.push("a", 410, .unregistered)
        let saves = Saves(bench)
        #expect(saves.hold(1, save(0)))
        bench.now += 999
        #expect(saves.next() == nil)
        bench.now += 1
        #expect(saves.next() == 1)
        #expect(bench.count("waypulse_feedback_unwaited_total") == 1)
        try bench.push("b", 410, .unregistered)
        #expect(!saves.hold(2, save(0)))
        bench.sink.setAway(false)
        bench.until { bench.desk.pending == 0 }
        bench.sink.setAway(true)
        try bench.push("c", 410, .unregistered)
        #expect(saves.hold(3, save(0)))
    }
}
