import Telemetry
import Testing

@testable import Pacing

@Suite("Endings, life and memory")
struct EndingTests {
    let ride = EventBuilder()
    let hour = 3600.0

    @Test("the end tells the final state at once, and nothing follows it")
    func end() {
        let run = timeline(
            "a....b.E.c.S.|",
            ["a": .at(0), "b": .at(100), "E": .ended(["status": "delivered"]), "c": .at(300), "S": .status("late")],
            sends: "a......E.....|")
        #expect(run.last?.kind == .end)
        #expect(run.last?.reasons.names == ["status", "distance", "ended"])
        #expect(run.last?.staleDateSeconds == nil)
        #expect(run.last?.contentState[FieldPath("status")] == "delivered")
        #expect(run.decisions == ["sent": 3, "after_end": 2])
    }

    @Test("an end that sets nothing is applied, and sent all the same")
    func bareEnd() {
        let run = VirtualRun()
        run.apply(ride.position(0))
        run.apply(ride.ended(1, dismissal: .immediate))
        #expect(run.last?.kind == .end)
        #expect(run.last?.dismissal == .immediate)
        #expect(run.last?.reasons == .ended)
        #expect(run.decisions == ["sent": 1, "applied": 1])
    }

    @Test("the end waits for the answer of an update in flight")
    func endWaits() {
        let run = VirtualRun()
        run.answer = { _ in nil }
        run.apply(ride.position(0))
        run.apply(ride.ended(1))
        #expect(run.sends.count == 1)
        run.settle(run.last!, .accepted)
        #expect(run.last?.kind == .end)
        #expect(run.last?.sequence == 2)
    }

    @Test("an activity that never had a target is unsendable")
    func neverATarget() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.started(0, fields: ["status": "riding"]))
        run.apply(ride.position(1))
        #expect(run.decisions == ["pending": 2])
        run.apply(ride.ended(2, fields: ["status": "done"]))
        #expect(run.decisions == ["unsendable": 2, "conflated": 1])
        run.apply(ride.token(3, .of(1)))
        #expect(run.decisions == ["unsendable": 2, "conflated": 1, "after_end": 1])
    }

    @Test("an end whose target died waits for a token, and goes to it")
    func endWaitsForToken() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.started(0, .updateToken(.of(1)), fields: ["status": "riding"]))
        run.answer = { _ in .targetGone }
        run.apply(ride.ended(10, fields: ["status": "done"]))
        #expect(run.decisions == ["applied": 1, "pending": 1])
        run.answer = { _ in .accepted }
        run.apply(ride.position(11))
        run.apply(ride.token(12, .of(2)))
        #expect(run.last?.kind == .end)
        #expect(run.last?.target == .updateToken(.of(2)))
        #expect(run.decisions == ["applied": 2, "after_end": 1, "sent": 1])
    }

    @Test("it is dismissed four hours after its end at the latest, and at once where that lies in the past (LAP-07)")
    func dismissal() {
        func dismissal(_ wanted: Dismissal?) -> Dismissal? {
            let run = VirtualRun(planTargets: false)
            run.apply(ride.started(0, .updateToken(.of(1)), fields: ["status": "riding"]))
            run.apply(ride.ended(10, dismissal: wanted))
            return run.last?.dismissal
        }
        func at(_ seconds: Double) -> Dismissal { .at(milliseconds: EventBuilder.milliseconds(seconds)) }
        #expect(dismissal(nil) == nil)
        #expect(dismissal(.immediate) == .immediate)
        #expect(dismissal(at(9)) == .immediate)
        #expect(dismissal(at(10)) == .immediate)
        #expect(dismissal(at(11)) == at(11))
        #expect(dismissal(at(10 + 4 * hour)) == at(10 + 4 * hour))
        #expect(dismissal(at(10 + 5 * hour)) == at(10 + 4 * hour))
    }

    @Test("at the end of its life an activity ends with a final frame, which absorbs an update of that instant")
    func life() {
        let run = VirtualRun(.with { $0.refresh = false })
        run.apply(ride.position(0))
        run.apply(ride.position(8 * hour - 15, north: 100))
        run.apply(ride.position(8 * hour - 5, north: 300))
        run.settle(at: 8 * hour)
        #expect(run.sends.map(\.seconds) == [0, 8 * hour - 15, 8 * hour])
        #expect(run.last?.kind == .end)
        #expect(run.last?.reasons == [.distance, .ended])
        #expect(run.decisions == ["sent": 3])
        run.apply(ride.position(8 * hour + 1, north: 500))
        #expect(run.decisions == ["sent": 3, "after_end": 1])
    }

    @Test("a life counts from the earlier of the start's own time and now, and may be switched off")
    func lifeStart() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.started(-hour, .updateToken(.of(1))), at: 0)
        run.settle(at: 7 * hour)
        #expect(run.sends.last?.seconds == 7 * hour)
        let off = VirtualRun(.with { $0.maxActivityLifeMilliseconds = nil }, planTargets: false)
        off.apply(ride.started(0, .updateToken(.of(1))))
        off.settle(at: 100 * hour)
        #expect(off.sends.isEmpty)
    }

    @Test("for a start by push the life counts from the send")
    func lifeOfPushedStart() {
        let run = VirtualRun(planTargets: false)
        run.hasCredits = false
        run.apply(ride.started(-hour, .startToken(.of(9)), alert: .saying("Ride"), type: "Ride"), at: 0)
        run.advance(to: hour)
        run.hasCredits = true
        run.dispatch()
        #expect(run.last?.kind == .start)
        run.apply(ride.token(hour + 1, .of(1)))
        run.settle(at: 9 * hour - 1)
        #expect(run.updates.filter { $0.kind == .end }.isEmpty)
        run.settle(at: 9 * hour)
        #expect(run.last?.kind == .end)
    }

    @Test("with renew on, the end of a life begins a new card through the start token")
    func renew() {
        let run = VirtualRun(.with { $0.renew = true }, planTargets: false)
        run.apply(
            ride.started(
                0, .updateToken(.of(1)), fields: ["status": "riding"], alert: .saying("Ride"), type: "Ride",
                renewal: .of(9)))
        run.settle(at: 8 * hour)
        #expect(run.last?.kind == .start)
        #expect(run.last?.target == .startToken(.of(9)))
        #expect(run.last?.alert == .saying("Ride"))
        run.apply(ride.token(8 * hour + 5, .of(2)))
        run.apply(ride.status(8 * hour + 6, "arrived"))
        #expect(run.last?.target == .updateToken(.of(2)))
        #expect(run.last?.kind == .update)
    }

    @Test("an ended activity leaves memory twelve hours after the last of it, and its id is then new")
    func removal() {
        let run = VirtualRun()
        run.apply(ride.position(0))
        run.apply(ride.ended(10))
        run.settle(at: 10 + 12 * hour - 0.001)
        #expect(run.shard.statistics.activities == 1)
        run.settle(at: 10 + 12 * hour)
        #expect(run.shard.statistics.activities == 0)
        #expect(run.shard.nextDueMilliseconds == nil)
        run.apply(ride.position(11 + 12 * hour))
        #expect(run.last?.sequence == 1)
    }

    @Test("what an ended activity could never send is unsendable when it leaves")
    func removalWithPending() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.started(0, .updateToken(.of(1)), fields: ["status": "riding"]))
        run.answer = { _ in .targetGone }
        run.apply(ride.ended(10, fields: ["status": "done"]))
        run.settle(at: 10 + 12 * hour)
        #expect(run.decisions == ["applied": 1, "unsendable": 1])
        #expect(run.shard.statistics.activities == 0)
    }

    @Test("a start with a new target begins a new life: the sequence goes on, what was shown does not")
    func newLife() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.started(0, .updateToken(.of(1)), fields: ["status": "riding"]))
        run.apply(ride.position(1, id: 5), offset: 7)
        run.apply(ride.ended(2))
        run.apply(ride.started(3, .updateToken(.of(1))))
        #expect(run.decisions == ["applied": 2, "sent": 1, "after_end": 1])
        run.apply(ride.started(4, .updateToken(.of(2)), fields: ["status": "again"]))
        run.apply(ride.position(1, id: 6), at: 5, offset: 8)
        #expect(run.sends.count == 3)  // no position was shown in this life, and its interval is open
        #expect(run.last?.sequence == 3)
        #expect(run.last?.target == .updateToken(.of(2)))
        #expect(run.last?.contentState[FieldPath("status")] == "again")
        run.apply(ride.position(6, id: 5))
        run.apply(ride.position(7), offset: 7)
        #expect(run.shard.decisions[.duplicate] == 2)  // ids and offsets go on
    }

    @Test("a new life while the end still waits makes the end unsendable")
    func newLifeBeforeTheEndLeft() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.started(0, .updateToken(.of(1)), fields: ["status": "riding"]))
        run.answer = { _ in .targetGone }
        run.apply(ride.ended(10, fields: ["status": "done"]))
        run.answer = { _ in .accepted }
        run.apply(ride.started(11, .updateToken(.of(2)), fields: ["status": "again"]))
        #expect(run.decisions == ["applied": 2, "unsendable": 1])
        #expect(run.sends.count == 1)
    }

    @Test("a redelivered start of the life that ended is an echo, whichever of its targets it names")
    func echoes() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.started(0, .startToken(.of(9)), alert: .saying("Ride"), type: "Ride"))
        run.apply(ride.token(1, .of(1)))
        run.apply(ride.token(2, .of(2)))
        run.apply(ride.ended(3))
        for target in [.startToken(.of(9)), .updateToken(.of(1)), .updateToken(.of(2)), .none] as [StartTarget] {
            run.apply(ride.started(4, target, alert: .saying("Ride")))
        }
        #expect(run.shard.decisions[.afterEnd] == 4)
    }
}
