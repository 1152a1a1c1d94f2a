import Telemetry
import Testing

@testable import Pacing

/// An owner tells something and ends before it can save that it has; what it had told is then taken back before the next one tells anything.
@Suite("What may have been told by an owner that is gone")
struct CheckpointRetellingTests {
    private let builder = EventBuilder()

    /// The phone shows `near`, and the store knows that; `there` waits, as the store knows too, and then is told.
    private func leaves() -> CheckpointBench {
        let bench = CheckpointBench(.with { $0.profile = .unlimited })
        bench.apply(builder.started(0, .updateToken(.of(1)), fields: ["status": "new"]))
        bench.apply(builder.status(1, "near"))
        bench.now += 30_000
        _ = bench.shard.apply(builder.status(31, "there"), at: bench.instant)
        bench.shard.saveAll()
        while bench.shard.hasUnsaved { bench.save() }
        bench.dispatch()
        #expect(statuses(bench) == ["near", "there"])
        bench.now += 20_000
        bench.takeOver()
        return bench
    }

    private func catchUp(_ bench: CheckpointBench) {
        bench.shard.noteCaughtUp(spreadMilliseconds: 0, at: bench.instant)
        bench.pump()
    }

    private func statuses(_ bench: CheckpointBench) -> [String] {
        bench.updates.map { if case .string(let text)? = $0.contentState[FieldPath("status")] { text } else { "-" } }
    }

    @Test("is told again as it is now, though the store says that the phone shows just that")
    func takenBack() {
        let bench = leaves()
        bench.apply(builder.status(51, "near"))
        catchUp(bench)
        bench.run(to: 120)
        #expect(statuses(bench) == ["near", "there", "near"])
        #expect(bench.last?.reasons == .retarget)
        #expect(bench.updates.map(\.sequence) == bench.updates.map(\.sequence).sorted())
    }

    @Test("is told again also where the next owner ends before it could")
    func takenBackTwice() {
        let bench = leaves()
        bench.apply(builder.status(51, "near"))
        bench.takeOver()
        catchUp(bench)
        bench.run(to: 120)
        #expect(statuses(bench) == ["near", "there", "near"])
    }

    @Test("is told again where its event comes once more to the next owner")
    func readAgain() {
        let bench = CheckpointBench(.with { $0.profile = .unlimited })
        bench.apply(builder.started(0, .updateToken(.of(1)), fields: ["status": "new"]))
        bench.apply(builder.status(1, "near"))
        bench.now += 30_000
        _ = bench.shard.apply(builder.status(31, "there"), at: bench.instant)
        bench.dispatch()
        bench.takeOver()
        // Nothing leaves before all is read that was there.
        _ = bench.shard.apply(builder.status(31, "there"), at: bench.instant)
        _ = bench.shard.apply(builder.status(32, "near"), at: bench.instant)
        catchUp(bench)
        bench.run(to: 120)
        #expect(statuses(bench) == ["near", "there", "near"])
    }

    @Test("is told once, and from then on a change that is taken back in time is nobody's business")
    func once() {
        let bench = leaves()
        bench.apply(builder.status(51, "near"))
        catchUp(bench)
        bench.run(to: 120)
        #expect(bench.updates.count == 3)
        _ = bench.shard.apply(builder.position(121, north: 0), at: bench.instant)
        bench.pump()
        let before = bench.updates.count
        _ = bench.shard.apply(builder.status(122, "there"), at: bench.instant)
        _ = bench.shard.apply(builder.status(123, "near"), at: bench.instant)
        bench.pump()
        #expect(bench.updates.count == before)
    }

    @Test("is not told again where nothing waited")
    func nothingWaited() {
        let bench = CheckpointBench(.with { $0.profile = .unlimited })
        bench.apply(builder.started(0, .updateToken(.of(1)), fields: ["status": "new"]))
        bench.apply(builder.status(1, "near"))
        bench.now += 20_000
        bench.takeOver()
        bench.apply(builder.status(22, "near"))
        catchUp(bench)
        bench.run(to: 60)
        #expect(statuses(bench) == ["near"])
    }

    @Test("does not include what was refused, once something newer came that gave no reason to tell anything")
    func refused() {
        let bench = CheckpointBench(
            .with {
                $0.profile = .unlimited
                $0.minIntervalMilliseconds = 0
            })
        bench.apply(builder.started(0, .updateToken(.of(1)), fields: ["status": "new"]))
        bench.apply(builder.position(1, north: 0))
        bench.answer = { _ in .refused }
        bench.apply(builder.position(30, north: 80))
        bench.answer = { _ in .accepted }
        bench.takeOver()
        catchUp(bench)
        bench.apply(builder.position(60, north: -70))
        let told = bench.updates.count
        bench.takeOver()
        catchUp(bench)
        bench.run(to: 7_200)
        // A refresh tells what holds by then, or what the phone shows, which is within the deadband of it.
        let origin = builder.position(0, north: 0).position.coordinate.latitude
        let north = bench.updates.dropFirst(told).compactMap { $0.position.map { $0.latitude - origin } }
        #expect(!north.isEmpty)
        #expect(north.allSatisfy { $0 < 0.000_01 })
    }
}
