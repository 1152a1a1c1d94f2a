import Telemetry
import Testing

@testable import Pacing

@Suite("An activity that rests leaves memory")
struct CheckpointEvictionTests {
    private let builder = EventBuilder()
    private let ride = Array("ride-1".utf8)

    private func resting(_ pacing: PacingSettings = .defaults) -> CheckpointBench {
        let bench = CheckpointBench(pacing)
        bench.apply(builder.started(0, .updateToken(.of(1)), fields: ["status": "new"]), offset: 1)
        bench.apply(builder.status(1, "near"), offset: 2)
        bench.run(to: 100)
        return bench
    }

    private func takeIdle(
        _ bench: CheckpointBench
    ) -> (bytes: [UInt8], entries: [CheckpointBatch.Entry], receipt: CheckpointReceipt) {
        bench.shard.takeIdle(limit: 10, quietSinceMilliseconds: bench.now - 60_000, at: bench.instant)
    }

    /// What rests is saved, and the store has kept it for long enough.
    private func evict(_ bench: CheckpointBench) {
        bench.keep(takeIdle(bench))
        bench.now += 5_000
        _ = bench.shard.letDepart(at: bench.instant)
    }

    @Test("some seconds after that is saved, and goes on where it was with its next event")
    func evicted() {
        let bench = resting()
        bench.keep(takeIdle(bench))
        #expect(bench.shard.activityCount == 1)
        #expect(bench.shard.departing == 1)
        #expect(bench.shard.nextDepartureMilliseconds == bench.now + 5_000)
        bench.now += 4_999
        #expect(!bench.shard.letDepart(at: bench.instant))
        bench.now += 1
        #expect(bench.shard.letDepart(at: bench.instant))
        #expect(bench.shard.activityCount == 0)
        #expect(bench.shard.evictions == 1)
        bench.restore(ride)
        bench.apply(builder.status(111, "there"), offset: 3)
        #expect(bench.updates.map(\.sequence) == [1, 2])
        bench.apply(builder.status(112, "again"), offset: 3)
        #expect(bench.shard.decisions[.duplicate] == 1)
    }

    @Test("and not when something came meanwhile, be it inside the deadband")
    func touched() {
        let bench = resting()
        bench.apply(builder.position(100, north: 0), offset: 3)
        bench.run(to: 200)
        let taken = takeIdle(bench)
        #expect(taken.entries.count == 1)
        _ = bench.shard.apply(builder.position(200, north: 10), offset: 4, at: bench.instant)
        bench.keep(taken)
        bench.now += 5_000
        #expect(!bench.shard.letDepart(at: bench.instant))
        #expect(bench.shard.activityCount == 1)
    }

    @Test("nor when the store turns out to have forgotten it")
    func forgotten() {
        let bench = resting()
        bench.keep(takeIdle(bench))
        bench.shard.saveAgain()
        bench.now += 5_000
        #expect(!bench.shard.letDepart(at: bench.instant))
        #expect(bench.shard.activityCount == 1)
    }

    @Test("Whatever is about to leave is not taken again")
    func takenOnce() {
        let bench = resting()
        bench.keep(takeIdle(bench))
        #expect(takeIdle(bench).entries.isEmpty)
    }

    @Test(
        "What comes after its return is saved, be it inside the deadband: else the next owner takes the one before it for the newest"
    )
    func returned() throws {
        let bench = resting(.with { $0.refresh = false })
        bench.apply(builder.position(100, north: 0), offset: 3)
        bench.run(to: 200)
        bench.apply(builder.position(200, north: 40), offset: 4)
        bench.run(to: 400)
        evict(bench)
        #expect(bench.shard.activityCount == 0)
        bench.restore(ride)
        _ = bench.shard.apply(builder.position(410, north: -40), offset: 5, at: bench.instant)
        #expect(bench.shard.hasUnsaved)
        bench.pump()
        _ = bench.shard.apply(builder.position(420, north: -41), offset: 6, at: bench.instant)
        #expect(!bench.shard.hasUnsaved)
        bench.takeOver()
        bench.shard.noteCaughtUp(spreadMilliseconds: 0, at: bench.instant)
        bench.apply(builder.status(430, "there"), offset: 7)
        bench.run(to: 440)
        let told = try #require(bench.last?.position)
        let north = told.latitude - builder.position(0, north: 0).position.coordinate.latitude
        #expect(abs(north) < 0.000_01)
    }

    @Test("and of one that stays since something came, that is saved as well")
    func stayed() {
        let bench = resting()
        bench.apply(builder.position(100, north: 0), offset: 3)
        bench.run(to: 200)
        let taken = takeIdle(bench)
        _ = bench.shard.apply(builder.position(200, north: 10), offset: 4, at: bench.instant)
        #expect(bench.shard.hasUnsaved)
        bench.keep(taken)
        #expect(bench.shard.hasUnsaved)
    }

    @Test("If it stays after all, no number leaves above the bound that the store has now")
    func boundOfOneThatStays() throws {
        let bench = resting()
        let taken = takeIdle(bench)
        bench.write(taken.bytes, taken.entries)
        _ = bench.shard.apply(builder.status(100, "there"), offset: 3, at: bench.instant)
        bench.dispatch()
        #expect(bench.updates.count == 1)
        bench.shard.saved(taken.receipt, at: bench.instant)
        bench.pump()
        #expect(bench.updates.map(\.sequence) == [1, 2])
        // An owner that takes over now goes on above all that left.
        bench.changeOwner()
        bench.pump()
        bench.apply(builder.status(120, "gone"), offset: 4)
        #expect(bench.last?.sequence == 67)
    }

    @Test("Neither does one that follows a subject, waits, or has an update under way")
    func busy() {
        let bench = CheckpointBench()
        bench.apply(builder.started(0, .updateToken(.of(1)), follows: "courier"))
        bench.apply(EventBuilder(activity: "ride-2").status(1, "near"))
        bench.run(to: 500)
        #expect(takeIdle(bench).entries.isEmpty)
    }

    @Test("A subject's own activity, evicted, is asked for with the subject's next event")
    func subject() {
        let bench = CheckpointBench()
        let courier = Array("courier".utf8)
        bench.apply(EventBuilder(activity: "courier").started(0, .updateToken(.of(1))), offset: 1)
        courier.withUnsafeBytes { bench.shard.noteLoaded(subject: $0) }
        bench.run(to: 100)
        #expect(courier.withUnsafeBytes { !bench.shard.needsLoad($0, isSubject: true) })
        evict(bench)
        #expect(courier.withUnsafeBytes { bench.shard.needsLoad($0, isSubject: true) })
    }
}
