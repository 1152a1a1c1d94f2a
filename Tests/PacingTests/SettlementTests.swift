import Telemetry
import Testing

@testable import Pacing

@Suite("What became of an update")
struct SettlementTests {
    let ride = EventBuilder()

    /// An activity on the phone, shown at 0 m with status "riding"; sends are answered by the test.
    func onTheWay(_ settings: PacingSettings = .defaults) -> VirtualRun {
        let run = VirtualRun(settings, planTargets: false)
        run.apply(ride.started(0, .updateToken(.of(1)), fields: ["status": "riding"]))
        run.apply(ride.position(0))
        run.answer = { _ in nil }
        return run
    }

    @Test("in flight counts as shown; a final refusal takes it back and counts refused")
    func refused() {
        let run = onTheWay()
        run.apply(ride.position(20, north: 100))
        run.apply(ride.position(21, north: 110))
        #expect(run.decisions == ["applied": 1, "sent": 1, "pending": 1, "deadband": 1])
        run.settle(run.last!, .refused)
        #expect(run.decisions == ["applied": 1, "sent": 1, "refused": 1, "deadband": 1])
        run.apply(ride.position(40, north: 111))
        #expect(run.last?.sequence == 3)
        #expect(run.last?.reasons == .distance)
    }

    @Test("a status that was refused is judged again with the next event")
    func refusedStatus() {
        let run = onTheWay()
        run.apply(ride.status(20, "arrived"))
        run.settle(run.last!, .refused)
        #expect(run.sends.count == 2)
        run.apply(ride.position(40, north: 1))
        #expect(run.last?.reasons == .status)
        #expect(run.last?.contentState[FieldPath("status")] == "arrived")
    }

    @Test("what was refused for good is not sent again by time alone, stale or not")
    func refusedAndStale() {
        let run = onTheWay()
        run.apply(ride.status(20, "arrived"))
        run.settle(run.last!, .refused)
        let sends = run.sends.count
        run.settle(at: 600)
        #expect(run.sends.count == sends)
        run.apply(ride.position(601))
        #expect(run.sends.count == sends + 1)
    }

    @Test("a retry carries the same content, sequence and id, with a new timestamp")
    func retry() {
        let run = onTheWay()
        run.apply(ride.status(20, "arrived", alert: .saying("Here")))
        let first = run.last!
        run.settle(first, .retry(holdsNewer: false))
        run.apply(ride.position(30, north: 10))
        run.settle(at: 60)
        let again = run.retake(first.ticket)
        #expect(again?.sequence == first.sequence)
        #expect(again?.apnsIdentifier == first.apnsIdentifier)
        #expect(again?.contentState == first.contentState)
        #expect(again?.alert == first.alert)
        #expect(again?.attempt == 2)
        #expect(again?.timestampSeconds == first.timestampSeconds + 40)
        run.settle(again!, .accepted)
        #expect(run.decisions == ["applied": 1, "sent": 2, "deadband": 1])
        #expect(run.retake(first.ticket) == nil)
    }

    @Test("newer content does not wait for a retry: it takes the next number, and the old content is not sent again")
    func superseded() {
        let run = onTheWay()
        run.apply(ride.status(20, "near", fields: ["note": "A"]))
        let first = run.last!
        run.settle(first, .retry(holdsNewer: false))
        run.apply(ride.status(21, "arrived"))
        #expect(run.last?.sequence == first.sequence + 1)
        #expect(run.retake(first.ticket) == nil)
        run.settle(run.last!, .accepted)
        // The first status still told its note, in the update that took its place.
        #expect(run.decisions == ["applied": 1, "sent": 3])
        #expect(run.last?.contentState[FieldPath("note")] == "A")
    }

    @Test("an alert that a superseded update did not deliver goes with the newer one")
    func supersededAlert() {
        let run = onTheWay()
        run.apply(ride.status(20, "near", alert: .saying("Near")))
        run.settle(run.last!, .retry(holdsNewer: false))
        run.apply(ride.status(21, "arrived"))
        #expect(run.last?.alert == .saying("Near"))
        #expect(run.last?.reasons == [.status, .alert])
        #expect(run.decisions == ["applied": 1, "sent": 1, "pending": 2])
    }

    @Test("a target that asks for a pause holds newer content as well")
    func holdsNewer() {
        let run = onTheWay()
        run.apply(ride.status(20, "near"))
        let first = run.last!
        run.settle(first, .retry(holdsNewer: true))
        run.apply(ride.status(21, "arrived"))
        #expect(run.sends.count == 2)
        run.settle(at: 50)
        #expect(run.sends.count == 2)
        // Its time has come: the newer content goes in its place.
        #expect(run.retake(first.ticket) == nil)
        #expect(run.sends.count == 3)
        #expect(run.last?.contentState[FieldPath("status")] == "arrived")
        #expect(run.last?.sequence == first.sequence + 1)
    }

    @Test("a retry that comes back unsent leaves the time and the bucket of the attempt before as they are")
    func unsentRetry() {
        let run = onTheWay()
        run.apply(ride.status(20, "near"))
        let first = run.last!
        run.settle(first, .retry(holdsNewer: false))
        run.settle(at: 20.2)
        let again = run.retake(first.ticket)!
        #expect(again.timestampSeconds == first.timestampSeconds + 1)
        run.hasCredits = false
        run.settle(again, .unsent)
        #expect(run.shard.record(0).bucket.level == 2)
        run.hasCredits = true
        run.dispatch()
        // The first attempt may have reached the phone: neither its number nor its timestamp is given to another one.
        #expect(run.last?.sequence == first.sequence)
        #expect(run.last?.apnsIdentifier == first.apnsIdentifier)
        #expect(run.last?.attempt == 2)
        #expect(run.last?.timestampSeconds == first.timestampSeconds + 1)
        run.settle(run.last!, .retry(holdsNewer: false))
        run.apply(ride.position(30, north: 100))
        // 15 s after the attempt at 20.2 s, not after the send before it.
        #expect(run.last?.sequence == first.sequence)
        run.settle(at: 35.2)
        #expect(run.last?.reasons == .distance)
        #expect(run.last?.sequence == first.sequence + 1)
    }

    @Test("a retry that comes back unsent after its target was replaced goes to the new one, as another update")
    func unsentRetryRetargeted() {
        let run = onTheWay()
        run.apply(ride.status(20, "near"))
        let first = run.last!
        run.settle(first, .retry(holdsNewer: false))
        let again = run.retake(first.ticket)!
        run.apply(ride.token(21, .of(2)))
        run.settle(again, .unsent)
        #expect(run.last?.sequence == first.sequence + 1)
        #expect(run.last?.reasons == [.status, .distance, .retarget] || run.last?.reasons == [.status, .retarget])
        #expect(run.last!.timestampSeconds > first.timestampSeconds)
    }

    @Test("the life of an activity begun by push counts from the attempt that began it")
    func lifeOfARetriedStart() {
        let run = VirtualRun(.with { $0.maxActivityLifeMilliseconds = 600_000 }, planTargets: false)
        run.answer = { _ in nil }
        run.apply(ride.started(0, .startToken(.of(1)), fields: ["status": "riding"], alert: .saying("Go")))
        run.settle(run.last!, .retry(holdsNewer: false))
        run.settle(at: 300)
        run.settle(run.retake(run.last!.ticket)!, .accepted)
        run.answer = { _ in .accepted }
        run.apply(ride.token(310, .of(2)))
        run.settle(at: 899)
        #expect(run.updates.allSatisfy { $0.kind != .end })
        run.settle(at: 900)
        #expect(run.last?.kind == .end)
    }

    @Test("a retry that meets newer content behind a gate leaves by itself if that content loses its reasons")
    func lapsedRetry() {
        let run = onTheWay(.with { $0.refresh = false })
        run.apply(ride.position(20, north: 100))
        let first = run.last!
        run.settle(first, .retry(holdsNewer: false))
        run.apply(ride.position(25, north: 200))
        run.settle(at: 30)
        #expect(run.retake(first.ticket) == nil)
        run.apply(ride.position(33, north: 110))
        run.settle(at: 35)
        #expect(run.last?.sequence == first.sequence)
        #expect(run.last?.attempt == 2)
        run.settle(run.last!, .accepted)
        #expect(run.decisions == ["applied": 1, "sent": 2, "conflated": 1, "returned": 1])
    }

    @Test("unsent is as if it had not been taken, but for its number")
    func unsent() {
        let run = onTheWay()
        run.apply(ride.position(20, north: 100))
        let first = run.last!
        run.hasCredits = false
        run.settle(first, .unsent)
        run.apply(ride.position(21, north: 150))
        run.hasCredits = true
        run.dispatch()
        #expect(run.sends.count == 3)
        #expect(run.last?.sequence == first.sequence + 1)
        #expect(run.last?.timestampSeconds == first.timestampSeconds + 1)
        run.settle(run.last!, .accepted)
        #expect(run.decisions == ["applied": 1, "sent": 2, "conflated": 1])
        // The bucket gave one for both: 4 − 2 at second 21.
        let record = run.shard.record(0)
        #expect(record.bucket.level == 2)
    }

    @Test("a target that is gone is dropped; the content waits for a new one and is told there")
    func targetGone() {
        let run = onTheWay()
        run.apply(ride.status(20, "arrived", alert: .saying("Here")))
        run.settle(run.last!, .targetGone)
        run.apply(ride.position(21, north: 5))
        #expect(run.sends.count == 2)
        run.apply(ride.token(30, .of(2)))
        #expect(run.last?.reasons == [.status, .alert, .retarget])
        #expect(run.last?.target == .updateToken(.of(2)))
        run.settle(run.last!, .accepted)
        #expect(run.decisions == ["applied": 2, "sent": 3])
    }

    @Test("an old target's death says nothing about the one that took its place")
    func oldTargetGone() {
        let run = onTheWay()
        run.apply(ride.status(20, "arrived"))
        let old = run.last!
        run.apply(ride.token(21, .of(2)))
        run.settle(old, .targetGone)
        #expect(run.last?.target == .updateToken(.of(2)))
        #expect(run.last?.reasons == [.status, .retarget])
    }

    @Test("an acceptance for a target that is no longer the activity's does not advance what is shown")
    func acceptedByOldTarget() {
        let run = onTheWay()
        run.apply(ride.status(20, "arrived"))
        let old = run.last!
        run.apply(ride.token(21, .of(2)))
        run.settle(old, .accepted)
        #expect(run.last?.reasons == [.status, .retarget])
        #expect(run.last?.contentState[FieldPath("status")] == "arrived")
        #expect(run.shard.decisions[.sent] == 2)
    }

    @Test("a start whose outcome is unknown is not repeated; its content goes to the token when it comes")
    func unknownStart() {
        let run = VirtualRun(planTargets: false)
        run.answer = { _ in .unknownStart }
        run.apply(ride.started(0, .startToken(.of(9)), fields: ["status": "riding"], alert: .saying("x"), type: "R"))
        run.apply(ride.status(1, "near"))
        run.apply(ride.started(2, .startToken(.of(8)), alert: .saying("x")))
        #expect(run.updates.map(\.kind) == [.start])
        run.answer = { _ in .accepted }
        run.apply(ride.token(3, .of(1)))
        #expect(run.updates.map(\.kind) == [.start, .update])
        #expect(run.last?.contentState[FieldPath("status")] == "near")
    }

    @Test("a start that did not get through is tried again as a start, with the newest content")
    func retriedStart() {
        let run = VirtualRun(planTargets: false)
        run.answer = { _ in nil }
        run.apply(ride.started(0, .startToken(.of(9)), fields: ["status": "riding"], alert: .saying("x"), type: "R"))
        let first = run.last!
        run.settle(first, .retry(holdsNewer: false))
        run.apply(ride.status(1, "near"))
        #expect(run.last?.kind == .start)
        #expect(run.last?.sequence == 2)
        #expect(run.last?.alert == .saying("x"))
        #expect(run.last?.target == .startToken(.of(9)))
        #expect(run.retake(first.ticket) == nil)
    }

    @Test("a start that was refused is not tried again with each event")
    func refusedStart() {
        let run = VirtualRun(planTargets: false)
        run.answer = { _ in .refused }
        run.apply(ride.started(0, .startToken(.of(9)), fields: ["status": "riding"], alert: .saying("x"), type: "R"))
        run.apply(ride.status(1, "near"))
        #expect(run.sends.count == 1)
        #expect(run.decisions == ["refused": 1, "pending": 1])
        run.answer = { _ in .accepted }
        run.apply(ride.started(2, .startToken(.of(8)), alert: .saying("y")))
        #expect(run.last?.kind == .start)
        #expect(run.last?.target == .startToken(.of(8)))
    }

    @Test("an activity that ends before its start got through has no card to end")
    func endedBeforeStart() {
        let run = VirtualRun(planTargets: false)
        run.answer = { _ in nil }
        run.apply(ride.started(0, .startToken(.of(9)), fields: ["status": "riding"], alert: .saying("x"), type: "R"))
        run.apply(ride.ended(1, fields: ["status": "done"]))
        run.settle(run.last!, .retry(holdsNewer: false))
        #expect(run.decisions == ["unsendable": 2])
        #expect(run.retake(run.last!.ticket) == nil)
        run.settle(at: 13 * 3600)
        #expect(run.shard.statistics.activities == 0)
    }

    @Test("an end that is refused for good ends its activity all the same")
    func refusedEnd() {
        let run = onTheWay()
        run.apply(ride.ended(10, fields: ["status": "done"]))
        run.settle(run.last!, .refused)
        run.apply(ride.position(11))
        #expect(run.decisions == ["applied": 1, "sent": 1, "refused": 1, "after_end": 1])
        run.settle(at: 13 * 3600)
        #expect(run.shard.statistics.activities == 0)
    }

    @Test("an end takes the place of an update that waits for a retry")
    func endSupersedes() {
        let run = onTheWay()
        run.apply(ride.status(20, "near"))
        let first = run.last!
        run.settle(first, .retry(holdsNewer: false))
        run.apply(ride.ended(21, fields: ["status": "done"]))
        #expect(run.last?.kind == .end)
        #expect(run.retake(first.ticket) == nil)
        run.settle(run.last!, .accepted)
        #expect(run.decisions == ["applied": 1, "sent": 2, "conflated": 1])
    }

    @Test("an unknown ticket is ignored")
    func unknownTicket() {
        let run = onTheWay()
        run.settle(run.last!, .refused)
        run.shard.settle(Ticket(slot: 99, generation: 1), .accepted, at: run.instant)
        #expect(run.decisions == ["applied": 1, "sent": 1])
    }

    @Test("a waiting update holds the smallest offset of the events that it would still tell")
    func heldOffsets() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.started(0, fields: ["status": "riding"]), offset: 10)
        run.apply(ride.position(1), offset: 11)
        run.apply(ride.position(2), offset: 12)
        let waiting = { () -> Int64? in
            var held: Held?
            run.shard.record(0).waiting.lower(&held, source: 0, above: -1)
            return held?.offset
        }
        #expect(waiting() == 10)
        run.apply(ride.status(3, "near"), offset: 13)
        #expect(waiting() == 12)
        run.apply(ride.position(4), offset: 14)
        #expect(waiting() == 13)
    }
}
