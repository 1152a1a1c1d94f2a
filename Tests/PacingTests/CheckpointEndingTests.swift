import Telemetry
import Testing

@testable import Pacing

@Suite("What the store is told of an activity's end")
struct CheckpointEndingTests {
    private let builder = EventBuilder()
    private let ride = Array("ride-1".utf8)

    @Test("It keeps a tombstone for as long as the activity is remembered")
    func tombstone() {
        let bench = CheckpointBench()
        bench.apply(builder.started(0, .updateToken(.of(1))))
        bench.apply(builder.ended(1))
        #expect(bench.store[ride]?.expiresAtMilliseconds == bench.now + 12 * 3_600_000)
        #expect(bench.store[ride]?.dueMilliseconds == nil)
        bench.changeOwner()
        bench.apply(builder.status(2, "near"))
        #expect(bench.shard.decisions[.afterEnd] == 1)
    }

    @Test("An end that could never be told leaves the store as well, once its time is over")
    func neverTold() {
        let bench = CheckpointBench()
        bench.apply(builder.started(0, .updateToken(.of(1))))
        bench.answer = { _ in .targetGone }
        bench.apply(builder.ended(1, fields: ["status": "over"]))
        #expect(bench.store[ride]?.expiresAtMilliseconds == nil)
        bench.run(to: 13 * 3_600)
        #expect(bench.shard.activityCount == 0)
        #expect(bench.store[ride]?.expiresAtMilliseconds != nil)
        #expect(bench.shard.decisions[.unsendable] == 1)
    }

    @Test("It follows no subject any more, also where the store failed at first")
    func formerSubject() {
        let bench = CheckpointBench()
        bench.apply(builder.started(0, .updateToken(.of(1)), follows: "courier"))
        #expect(bench.followers[Array("courier".utf8)] == [ride])
        _ = bench.shard.apply(builder.ended(1), at: bench.instant)
        bench.dispatch()
        bench.save(fails: true)
        bench.pump()
        #expect(bench.followers[Array("courier".utf8)] == [])
    }

    @Test("It follows no subject any more, also where it ends while its next life's first checkpoint is on its way")
    func endsWhileSaved() {
        let bench = CheckpointBench()
        bench.apply(builder.started(0, .updateToken(.of(1)), follows: "courier"))
        _ = bench.shard.apply(builder.ended(1), at: bench.instant)
        bench.dispatch()
        _ = bench.shard.apply(builder.started(2, .updateToken(.of(2)), follows: "courier"), at: bench.instant)
        let underWay = bench.shard.takeCheckpoints(limit: .max, at: bench.instant)
        _ = bench.shard.apply(builder.ended(3), at: bench.instant)
        bench.keep(underWay)
        #expect(bench.followers[Array("courier".utf8)] == [ride])
        bench.pump()
        #expect(bench.followers[Array("courier".utf8)] == [])
    }

    @Test("One that follows the same subject again in its next life stays its follower")
    func followsAgain() {
        let bench = CheckpointBench()
        bench.apply(builder.started(0, .updateToken(.of(1)), follows: "courier"))
        _ = bench.shard.apply(builder.ended(1), at: bench.instant)
        bench.dispatch()
        _ = bench.shard.apply(builder.started(2, .updateToken(.of(2)), follows: "courier"), at: bench.instant)
        bench.pump()
        #expect(bench.followers[Array("courier".utf8)] == [ride])
    }
}
