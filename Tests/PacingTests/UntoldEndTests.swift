import Telemetry
import Testing

@testable import Pacing

@Suite("Ends of which no phone will hear")
struct UntoldEndTests {
    let ride = EventBuilder()

    private func run() -> VirtualRun {
        var settings = ShardSettings(planTargets: false, hashSeed: 42)
        settings.notesUntoldEnds = true
        return VirtualRun(settings)
    }

    @Test("are noted at once where there never was anybody to tell")
    func nobody() {
        let run = run()
        run.apply(ride.started(0, fields: ["status": "riding"]))
        run.apply(ride.ended(2))
        let ends = run.shard.takeUntoldEnds()
        #expect(ends.map(\.reason) == [.noTarget])
        #expect(ends.map(\.target) == [nil])
        #expect(run.shard.takeUntoldEnds().isEmpty)
    }

    @Test("are noted when the activity is forgotten, where its token was gone and no other came")
    func gone() throws {
        let run = run()
        run.apply(ride.started(0, .updateToken(.of(1)), fields: ["status": "riding"]))
        run.answer = { _ in .targetGone }
        run.apply(ride.status(1, "near"))
        run.apply(ride.ended(2))
        #expect(run.shard.takeUntoldEnds().isEmpty)
        run.advance(to: 13 * 3600)
        let end = try #require(run.shard.takeUntoldEnds().first)
        #expect(end.reason == .noTarget)
        #expect(end.target == .updateToken(.of(1)))
        #expect(end.sequence == 1)
    }

    @Test("are none where the end was told, and none where nobody asks")
    func told() {
        let run = run()
        run.apply(ride.started(0, .updateToken(.of(1)), fields: ["status": "riding"]))
        run.apply(ride.ended(2))
        #expect(run.last?.kind == .end)
        run.advance(to: 13 * 3600)
        #expect(run.shard.takeUntoldEnds().isEmpty)
        let other = VirtualRun(planTargets: false)
        other.apply(ride.started(0))
        other.apply(ride.ended(2))
        #expect(other.shard.takeUntoldEnds().isEmpty)
    }
}
