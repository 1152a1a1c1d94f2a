import Telemetry
import Testing

@testable import Pacing

@Suite("An activity that takes the place of another")
struct ReplacingTests {
    private let old = EventBuilder(activity: "order-1")
    private let new = EventBuilder(activity: "order-2")

    private func start(_ seconds: Double, replaces: String = "order-1") -> Event {
        new.started(
            seconds, .startToken(.of(9)), fields: ["status": "new"], alert: .saying("Order 2"), type: "Ride",
            replaces: replaces)
    }

    private func began(_ run: VirtualRun) {
        run.apply(old.started(0, .updateToken(.of(1)), fields: ["status": "near"], type: "Ride"))
    }

    @Test("ends it with a final frame before its own start leaves")
    func order() {
        let run = VirtualRun(planTargets: false)
        began(run)
        run.apply(old.position(1, north: 10))
        run.apply(start(20))
        #expect(run.updates.suffix(2).map(\.kind) == [.end, .start])
        let end = run.updates[run.updates.count - 2]
        #expect(end.activityIdentifier == "order-1")
        #expect(end.dismissal == nil)
        #expect(end.contentState[FieldPath("status")] == "near")
        #expect(end.contentState[FieldPath("latitude")] != nil)
        run.apply(old.status(21, "late"))
        #expect(run.decisions["after_end"] == 1)
        #expect(run.decisions["pending"] == nil)
    }

    @Test("waits with its start for an answer without which the end may not leave, and with nothing else")
    func waitsForAnswer() {
        let run = VirtualRun(planTargets: false)
        began(run)
        run.answer = { $0.kind == .update ? nil : .accepted }
        run.apply(old.status(10, "there"))
        let update = run.last!
        run.apply(start(20))
        run.advance(to: 30)
        #expect(run.sends.count == 1)
        run.settle(update, .accepted)
        run.advance(to: 31)
        #expect(run.updates.map(\.kind) == [.update, .end, .start])
    }

    @Test("does not wait where nobody can be told of the end")
    func withoutTarget() {
        let run = VirtualRun(planTargets: false)
        run.apply(old.status(0, "near"))
        run.apply(start(20))
        #expect(run.updates.map(\.kind) == [.start])
        #expect(run.decisions["unsendable"] == 1)
    }

    @Test(
        "changes nothing where the other is unknown, has ended, or the start is an echo",
        arguments: ["order-7", "order-1"])
    func nothing(named: String) {
        let run = VirtualRun(planTargets: false)
        began(run)
        run.apply(old.ended(10))
        run.apply(start(20, replaces: named))
        #expect(run.updates.map(\.kind) == [.end, .start])
        run.apply(EventBuilder(activity: "order-3").started(21, .updateToken(.of(3)), type: "Ride"))
        run.apply(start(22, replaces: "order-3"))
        #expect(run.decisions["repeated_start"] == 1)
        #expect(run.updates.map(\.kind) == [.end, .start])
    }

    @Test(
        "an activity that begins by itself and is started later replaces as well; one that began on the phone waits for nothing"
    )
    func otherStarts() {
        let run = VirtualRun(planTargets: false)
        began(run)
        run.apply(new.status(10, "new"))
        run.apply(new.started(11, .updateToken(.of(5)), type: "Ride", replaces: "order-1"))
        #expect(run.updates.map(\.kind) == [.end, .update])
    }

    // MARK: When the process dies between

    /// What is kept of both by then is all that the next owner has.
    private func next(_ bench: CheckpointBench, _ identifiers: [String]) -> [[UInt8]] {
        bench.startOwning()
        bench.shard.noteCaughtUp(spreadMilliseconds: 0, at: bench.instant)
        for identifier in identifiers { bench.restore(Array(identifier.utf8)) }
        bench.pump()
        let wanted = bench.shard.takeWantedLoads()
        for identifier in wanted { bench.restore(identifier) }
        bench.shard.noteLoaded(activities: wanted, at: bench.instant)
        bench.pump()
        return wanted
    }

    @Test("the next owner ends what the one before had not, though it knows of the new one alone")
    func diesBetween() {
        let bench = CheckpointBench()
        bench.apply(old.started(0, .updateToken(.of(1)), fields: ["status": "near"], type: "Ride"), offset: 0)
        let before = bench.store[Array("order-1".utf8)]!
        bench.answer = { _ in nil }
        bench.apply(new.started(20, .updateToken(.of(2)), type: "Ride", replaces: "order-1"), offset: 1)
        // The batch with the end was never written, that with the new one was.
        bench.overwrite(Array("order-1".utf8), with: before)
        bench.answer = { _ in .accepted }
        #expect(next(bench, ["order-2"]) == [Array("order-1".utf8)])
        #expect(bench.last?.kind == .end)
        #expect(bench.last?.activityIdentifier == "order-1")
    }

    @Test("one that is not in memory is loaded, and until then the start waits")
    func loads() {
        let bench = CheckpointBench()
        bench.apply(old.started(0, .updateToken(.of(1)), fields: ["status": "near"], type: "Ride"), offset: 0)
        bench.saveAll()
        bench.startOwning()
        bench.shard.noteCaughtUp(spreadMilliseconds: 0, at: bench.instant)
        bench.apply(start(20), offset: 1)
        #expect(bench.updates.isEmpty)
        let wanted = bench.shard.takeWantedLoads()
        #expect(wanted == [Array("order-1".utf8)])
        bench.shard.wantAgain(wanted[0])
        #expect(bench.shard.takeWantedLoads() == wanted)
        bench.restore(wanted[0])
        bench.shard.noteLoaded(activities: wanted, at: bench.instant)
        bench.pump()
        #expect(bench.updates.map(\.kind) == [.end, .start])
    }

    @Test("one that is kept nowhere is none, and the start leaves")
    func keptNowhere() {
        let bench = CheckpointBench()
        bench.apply(start(20), offset: 1)
        let wanted = bench.shard.takeWantedLoads()
        bench.shard.noteLoaded(activities: wanted, at: bench.instant)
        bench.pump()
        #expect(bench.updates.map(\.kind) == [.start])
    }

    @Test("another life of what was replaced is none of its business, whoever owns it")
    func anotherLife() {
        let bench = CheckpointBench()
        bench.apply(old.started(0, .updateToken(.of(1)), fields: ["status": "near"], type: "Ride"), offset: 0)
        bench.apply(new.started(20, .updateToken(.of(2)), type: "Ride", replaces: "order-1"), offset: 1)
        bench.apply(old.started(30, .updateToken(.of(3)), fields: ["status": "near"], type: "Ride"), offset: 2)
        bench.saveAll()
        let ends = bench.updates.count { $0.kind == .end }
        #expect(next(bench, ["order-2"]) == [Array("order-1".utf8)])
        #expect(bench.updates.count { $0.kind == .end } == ends)
        bench.apply(old.status(40, "there"), offset: 3)
        #expect(bench.last?.target == .updateToken(.of(3)))
    }
}
