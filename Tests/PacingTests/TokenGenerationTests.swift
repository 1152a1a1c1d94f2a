import Telemetry
import Testing

@testable import Pacing

/// The latest registration wins, whatever order reports come in (contract, sections 11 and 15; TOK-03, TOK-06, TOK-10, TOK-11).
@Suite("Update tokens by their time of registration")
struct TokenGenerationTests {
    private let ride = EventBuilder()

    private func riding(_ token: UInt8 = 1, at seconds: Double = 0) -> VirtualRun {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.started(seconds, .updateToken(.of(token)), fields: ["status": "riding"], type: "Ride"))
        return run
    }

    private func target(_ run: VirtualRun) -> PushTarget? {
        Array("ride-1".utf8).withUnsafeBytes { run.shard.view(of: $0, at: run.instant)?.target }
    }

    private func registeredAt(_ run: VirtualRun) -> Int64? {
        guard let index = Array("ride-1".utf8).withUnsafeBytes({ run.shard.find($0) }) else { return nil }
        return run.shard.record(index).targetRegisteredAtMilliseconds
    }

    @Test("an older one than what is on file changes nothing, its flag included")
    func older() {
        let run = riding(at: 0)
        run.apply(ride.token(50, .of(2)))
        let sends = run.sends.count
        run.apply(ride.token(49, .of(3), frequent: true), at: 60)
        #expect(target(run) == .updateToken(.of(2)))
        #expect(run.decisions["out_of_order"] == 1)
        run.apply(ride.status(61, "near"))
        #expect(run.sends.count == sends + 1)
        #expect(run.last?.target == .updateToken(.of(2)))
    }

    @Test("at equal time the later record wins")
    func equal() {
        let run = riding()
        run.apply(ride.token(50, .of(2)))
        run.apply(ride.token(50, .of(3)))
        #expect(target(run) == .updateToken(.of(3)))
    }

    @Test("a repeated report renews the time of registration, and never brings it back")
    func repeated() {
        let run = riding()
        run.apply(ride.token(50, .of(1)))
        #expect(registeredAt(run) == EventBuilder.milliseconds(50))
        run.apply(ride.token(20, .of(1)), at: 60)
        #expect(registeredAt(run) == EventBuilder.milliseconds(50))
        run.apply(ride.token(40, .of(2)), at: 61)
        #expect(target(run) == .updateToken(.of(1)))
        #expect(run.sends.isEmpty)
    }

    @Test("of those that come before their activity the newest is kept")
    func early() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.token(20, .of(2)))
        run.apply(ride.token(10, .of(1)), at: 21)
        #expect(run.decisions == ["applied": 1, "out_of_order": 1])
        run.apply(ride.token(20, .of(3)), at: 22)
        run.apply(ride.status(23, "riding"))
        #expect(run.last?.target == .updateToken(.of(3)))
    }

    @Test("a start that names an older one does not clear what was registered since")
    func startAfterToken() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.token(20, .of(2)))
        run.apply(ride.started(10, .updateToken(.of(1)), fields: ["status": "riding"], type: "Ride"), at: 21)
        #expect(target(run) == .updateToken(.of(2)))
        run.apply(ride.started(15, .updateToken(.of(1)), type: "Ride"), at: 22)
        #expect(target(run) == .updateToken(.of(2)))
    }

    @Test(
        "after a 410 an older one does not come back, nor the same report; a new report revives the activity with its newest state"
    )
    func afterGone() {
        let run = riding(at: 30)
        run.answer = { _ in .targetGone }
        run.apply(ride.status(31, "near"))
        run.answer = { _ in .accepted }
        run.apply(ride.token(29, .of(7)), at: 40)
        run.apply(ride.token(30, .of(1)), at: 41)
        #expect(target(run) == nil)
        run.apply(ride.status(42, "there"))
        run.apply(ride.token(43, .of(1)))
        #expect(run.last?.target == .updateToken(.of(1)))
        #expect(run.last?.contentState[FieldPath("status")] == "there")
    }

    @Test("a start token's time says nothing about update tokens")
    func kindsApart() {
        let run = VirtualRun(planTargets: false)
        run.hasCredits = false
        run.apply(ride.started(50, .startToken(.of(9)), alert: .saying("Ride"), type: "Ride"))
        run.apply(ride.token(20, .of(1)), at: 51)
        #expect(target(run) == .updateToken(.of(1)))
    }

    @Test("a rotation in flight: what the old one took does not count, and the new one gets the newest state")
    func rotationInFlight() {
        let run = riding()
        run.answer = { _ in nil }
        run.apply(ride.status(20, "near"))
        let old = run.last!
        run.apply(ride.token(21, .of(2)))
        run.apply(ride.status(22, "there"))
        #expect(run.sends.count == 1)
        run.settle(old, .accepted)
        #expect(run.sends.count == 2)
        #expect(run.last?.target == .updateToken(.of(2)))
        #expect(run.last?.contentState[FieldPath("status")] == "there")
    }

    // MARK: Taken back

    @Test("taken back, the activity waits for another as after a 410, and that one is told what changed")
    func revoked() {
        let run = riding()
        run.apply(ride.revoked(20, .of(1)))
        #expect(target(run) == nil)
        run.apply(ride.status(21, "near"))
        #expect(run.sends.isEmpty)
        run.apply(ride.token(30, .of(2)))
        #expect(run.last?.target == .updateToken(.of(2)))
        #expect(run.last?.reasons == [.status, .retarget])
    }

    @Test("what was registered later stays, as does another one than the one that is named")
    func registeredLater() {
        let run = riding()
        run.apply(ride.token(20, .of(2)))
        run.apply(ride.revoked(19, .of(2)), at: 21)
        run.apply(ride.revoked(19), at: 22)
        run.apply(ride.revoked(25, .of(1)))
        #expect(target(run) == .updateToken(.of(2)))
        run.apply(ride.revoked(26))
        #expect(target(run) == nil)
    }

    @Test("a report from before it was taken back comes too late; one from after does not")
    func lateReport() {
        let run = riding()
        run.apply(ride.revoked(20))
        run.apply(ride.token(10, .of(2)), at: 21)
        #expect(target(run) == nil)
        run.apply(ride.token(20, .of(2)), at: 22)
        #expect(target(run) == .updateToken(.of(2)))
        run.apply(ride.revoked(30, .of(3)))
        run.apply(ride.token(29, .of(3)), at: 31)
        #expect(target(run) == .updateToken(.of(2)))
        run.apply(ride.token(31, .of(3)))
        #expect(target(run) == .updateToken(.of(3)))
    }

    @Test("before the activity began it is forgotten just so")
    func earlyRevoked() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.token(10, .of(1)))
        run.apply(ride.revoked(20, .of(1)))
        run.apply(ride.token(15, .of(1)), at: 21)
        run.apply(ride.status(22, "riding"))
        #expect(run.sends.isEmpty)
        run.apply(ride.token(19, .of(1)), at: 23)
        #expect(target(run) == nil)
        run.apply(ride.token(24, .of(1)))
        #expect(run.sends.count == 1)
    }

    @Test("an update that waits to be sent again goes to the next one as another update; one in flight does not count")
    func revokedUnderWay() {
        let run = riding()
        run.answer = { _ in nil }
        run.apply(ride.status(20, "near"))
        let first = run.last!
        run.settle(first, .retry(holdsNewer: false))
        run.apply(ride.revoked(21))
        #expect(run.retake(first.ticket) == nil)
        run.apply(ride.token(22, .of(2)))
        #expect(run.last?.target == .updateToken(.of(2)))
        #expect(run.last?.sequence == 2)
        run.apply(ride.revoked(23))
        run.settle(run.last!, .accepted)
        run.apply(ride.token(24, .of(3)))
        #expect(run.last?.target == .updateToken(.of(3)))
        #expect(run.last?.contentState[FieldPath("status")] == "near")
    }

    @Test("an end whose token was taken back waits for another")
    func revokedWhileEnding() {
        let run = riding()
        run.hasCredits = false
        run.apply(ride.ended(20, fields: ["status": "there"]))
        run.apply(ride.revoked(21, .of(1)))
        run.hasCredits = true
        run.dispatch()
        #expect(run.sends.isEmpty)
        run.apply(ride.token(22, .of(2)))
        #expect(run.last?.kind == .end)
        #expect(run.last?.target == .updateToken(.of(2)))
    }

    @Test("what the registry kept counts by its time as well, and told twice it changes nothing")
    func kept() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.status(10, "riding"))
        func take(_ seconds: Double, _ token: UInt8) {
            run.shard.takeKeptToken(
                .of(token), registeredAtMilliseconds: EventBuilder.milliseconds(seconds), frequentUpdates: true,
                of: Array("ride-1".utf8), at: run.instant)
            run.dispatch()
        }
        take(5, 1)
        #expect(run.last?.target == .updateToken(.of(1)))
        let decisions = run.decisions
        take(5, 1)
        take(4, 2)
        #expect(target(run) == .updateToken(.of(1)))
        #expect(run.decisions == decisions)
        run.apply(ride.token(20, .of(3)))
        take(5, 1)
        #expect(target(run) == .updateToken(.of(3)))
    }

    @Test(
        "what the registry kept of an earlier card is no token of the next one, and does not keep that from being started"
    )
    func keptOfEarlierLife() {
        let run = riding()
        run.apply(ride.ended(20))
        run.apply(ride.started(30, .startToken(.of(9)), fields: ["status": "new"], alert: .saying("New"), type: "Ride"))
        #expect(run.last?.kind == .start)
        run.shard.takeKeptToken(
            .of(1), registeredAtMilliseconds: EventBuilder.milliseconds(0), frequentUpdates: nil,
            of: Array("ride-1".utf8), at: run.instant)
        #expect(target(run) != .updateToken(.of(1)))
        run.shard.takeKeptToken(
            .of(2), registeredAtMilliseconds: EventBuilder.milliseconds(0), frequentUpdates: nil,
            of: Array("ride-1".utf8), at: run.instant)
        #expect(target(run) == .updateToken(.of(2)))
    }

    @Test("what was taken back is still so for the next owner")
    func afterTakeOver() {
        let bench = CheckpointBench()
        bench.apply(ride.started(0, .updateToken(.of(1)), fields: ["status": "riding"], type: "Ride"), offset: 0)
        bench.apply(ride.token(5, .of(1)), offset: 1)
        bench.apply(ride.revoked(20), offset: 2)
        bench.apply(EventBuilder(activity: "ride-2").revoked(20, .of(7)), offset: 3)
        bench.takeOver()
        bench.shard.noteCaughtUp(spreadMilliseconds: 0, at: bench.instant)
        bench.apply(ride.status(21, "near"), offset: 4)
        bench.apply(ride.token(19, .of(2)), offset: 5)
        bench.apply(EventBuilder(activity: "ride-2").token(19, .of(7)), offset: 6)
        bench.apply(EventBuilder(activity: "ride-2").status(22, "riding"), offset: 7)
        #expect(bench.updates.isEmpty)
        bench.apply(ride.token(23, .of(2)), offset: 8)
        #expect(bench.last?.contentState[FieldPath("status")] == "near")
    }
}
