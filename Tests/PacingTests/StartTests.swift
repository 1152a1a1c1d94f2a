import Telemetry
import Testing

@testable import Pacing

@Suite("Starts and targets")
struct StartTests {
    let ride = EventBuilder()

    @Test("in a plan an activity that began by itself has a target, also after it was started by push")
    func assumedTargetStays() {
        let run = VirtualRun()
        run.apply(ride.status(0, relevance: 1))
        run.apply(ride.started(5, .startToken(.of(9)), alert: .saying("On the way"), type: "Ride"))
        #expect(run.last?.kind == .start)
        run.apply(ride.position(30))
        #expect(run.last?.kind == .update)
        #expect(run.last?.reasons == .distance)
    }

    @Test("the bucket starts at the burst of what the start reports, whatever an early token said")
    func burstOfTheStart() {
        let run = VirtualRun(.with { $0.minIntervalMilliseconds = 0 }, planTargets: false)
        run.apply(ride.token(0, .of(1), frequent: false))
        run.apply(ride.started(1, .none, frequent: true))
        for second in 2..<12 { run.apply(ride.position(Double(second), north: Double(second) * 90)) }
        #expect(run.sends.map(\.seconds) == [2, 3, 4, 5, 6, 7, 8, 9])
    }

    @Test("a start token that is only kept for renewal begins no new life either")
    func keptStartTokenIsAnEcho() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.token(0, .of(1)))
        run.apply(ride.started(1, .startToken(.of(9)), alert: .saying("Ride"), type: "Ride"))
        run.apply(ride.ended(2))
        run.apply(ride.started(3, .startToken(.of(9)), alert: .saying("Ride"), type: "Ride"))
        #expect(run.shard.decisions[.afterEnd] == 1)
    }

    @Test("an activity that began on the phone already shows its start: nothing is sent until something differs")
    func phoneStart() {
        let run = VirtualRun(planTargets: false)
        run.apply(
            ride.started(0, .updateToken(.of(1)), fields: ["status": "riding"], alert: .saying("not sent")))
        run.apply(ride.status(1, "riding"))
        #expect(run.sends.isEmpty)
        #expect(run.decisions == ["applied": 2])
        run.apply(ride.position(2))
        #expect(run.last?.reasons == .distance)
        #expect(run.last?.alert == nil)
        run.apply(ride.status(3, "arrived"))
        #expect(run.last?.reasons == .status)
    }

    @Test("a channel is a target like a token")
    func channel() {
        let run = VirtualRun(planTargets: false)
        var match = EventBuilder(activity: "match-7")
        match.isForSubject = true
        run.apply(match.started(0, .channel("Q2hhbm5lbA=="), fields: ["score": "0:0"]))
        run.apply(match.status(1, fields: ["score": "1:0"]))
        #expect(run.last?.target == .channel("Q2hhbm5lbA=="))
        #expect(run.decisions == ["applied": 1, "sent": 1])
    }

    @Test("a start by push needs an alert, and begins nothing without one")
    func startWithoutAlert() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.started(0, .startToken(.of(9)), type: "Ride"))
        #expect(run.faults.map(\.reason) == [.missingField("alert")])
        #expect(run.decisions == ["dead_letter": 1])
        #expect(run.shard.statistics.activities == 0)
    }

    @Test(
        "a start by push whose alert says nothing begins nothing either (LAP-13)",
        arguments: [
            Alert(title: .string(""), body: nil, sound: nil),
            Alert(title: .string(""), body: .string(""), sound: "default"),
            Alert(title: nil, body: nil, sound: "default"),
        ])
    func startWithEmptyAlert(alert: Alert) {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.started(0, .startToken(.of(9)), alert: alert, type: "Ride"))
        run.apply(ride.started(1, .user("anna"), alert: alert, type: "Ride"))
        #expect(run.faults.map(\.reason) == [.missingField("alert.title"), .missingField("alert.title")])
        #expect(run.shard.statistics.activities == 0)
        let text = Alert(title: nil, body: .object(["loc-key": "ON_ITS_WAY"]), sound: nil)
        run.apply(ride.started(2, .startToken(.of(9)), alert: text, type: "Ride"))
        #expect(run.last?.kind == .start)
    }

    @Test("a second start for a living activity is none, unless its life is another (TOK-09)")
    func secondStart() {
        let run = VirtualRun(planTargets: false)
        for second in 0..<3 {
            run.apply(
                ride.started(
                    Double(second), .startToken(.of(9)), fields: ["step": .number(JSONNumber(Int64(second)))],
                    alert: .saying("x"), type: "Ride"))
        }
        run.apply(ride.started(3, .startToken(.of(8)), alert: .saying("x"), type: "Ride"))
        #expect(run.sends.count == 1)
        #expect(run.decisions["repeated_start"] == 3)
        // Held until the update token comes, and then sent once (TOK-01).
        run.apply(ride.token(4, .of(1)))
        run.advance(to: 16)
        #expect(run.updates.map(\.kind) == [.start, .update])
        #expect(run.last?.contentState[FieldPath("step")] == 2)
        run.apply(ride.ended(30))
        run.apply(ride.started(31, .startToken(.of(7)), alert: .saying("x"), type: "Ride"))
        #expect(run.last?.kind == .start)
    }

    @Test("a start by push tells all, then waits for the update token; the first one is no change")
    func pushedStart() {
        let run = VirtualRun(planTargets: false)
        run.apply(
            ride.started(
                0, .startToken(.of(9)), fields: ["status": "riding"], alert: .saying("On the way"), type: "Ride",
                attributes: ["orderId": 7]))
        #expect(run.last?.kind == .start)
        #expect(run.last?.reasons.names == ["started", "status", "alert"])
        #expect(run.last?.alert == .saying("On the way"))
        #expect(run.last?.attributes == ["orderId": 7])
        run.apply(ride.position(1))
        run.apply(ride.position(2, north: 10))
        #expect(run.decisions == ["sent": 1, "conflated": 1, "pending": 1])
        run.apply(ride.token(20, .of(1)))
        #expect(run.sends.count == 2)
        #expect(run.last?.kind == .update)
        #expect(run.last?.reasons == .distance)
        #expect(run.last?.target == .updateToken(.of(1)))
    }

    @Test("the update token may come before the answer to the start: then what the start told is shown")
    func tokenBeforeAnswer() {
        let run = VirtualRun(planTargets: false)
        run.answer = { _ in nil }
        run.apply(
            ride.started(0, .startToken(.of(9)), fields: ["status": "riding"], alert: .saying("x"), type: "Ride"))
        run.apply(ride.token(1, .of(1)))
        run.settle(run.last!, .accepted)
        #expect(run.sends.count == 1)
        run.apply(ride.status(2, "riding"))
        #expect(run.decisions == ["sent": 1, "applied": 2])
    }

    @Test("without a target an activity waits with its newest truth alone, then sends once")
    func waitingForToken() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.started(0, fields: ["status": "riding"], alert: .saying("hello")))
        for second in 1...50 { run.apply(ride.position(Double(second), north: Double(second) * 50)) }
        run.apply(ride.status(51, "arrived"))
        run.finish()
        #expect(run.decisions == ["conflated": 49, "pending": 3])
        run.apply(ride.token(60, .of(1)))
        #expect(run.sends.count == 1)
        #expect(run.last?.reasons.names == ["status", "alert", "distance"])
        #expect(run.decisions == ["conflated": 49, "sent": 3, "applied": 1])
    }

    @Test("a repeated start takes over target, frequency and content, and nothing else")
    func repeatedStart() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.started(0, .updateToken(.of(1)), fields: ["status": "riding"], type: "Ride"))
        run.apply(
            ride.started(1, .updateToken(.of(1)), fields: ["status": "riding"], alert: .saying("x"), type: "Other"))
        #expect(run.sends.isEmpty)
        run.apply(ride.started(2, .updateToken(.of(2)), fields: ["status": "arrived"], frequent: true))
        #expect(run.last?.reasons == [.status, .retarget])
        #expect(run.last?.target == .updateToken(.of(2)))
        #expect(run.last?.attributesType == "Ride")
        #expect(run.last?.alert == nil)
        #expect(run.decisions == ["applied": 1, "repeated_start": 2])
        #expect(run.shard.decisions.pending == 0)
    }

    @Test("where the activity began by itself and nothing was sent, its activity.started is the start")
    func lateStart() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.position(0))
        run.apply(ride.started(1, .updateToken(.of(1)), fields: ["status": "riding"], type: "Ride"))
        #expect(run.last?.reasons == .distance)
        #expect(run.last?.attributesType == "Ride")
        #expect(run.decisions == ["sent": 2])
        run.apply(ride.started(2, .updateToken(.of(1))))
        #expect(run.shard.decisions[.repeatedStart] == 1)
    }

    @Test("a start token sends nothing where an update token is known or anything was sent: it is kept for renewal")
    func keptForRenewal() {
        let run = VirtualRun(.with { $0.renew = true }, planTargets: false)
        run.apply(ride.started(0, .updateToken(.of(1)), fields: ["status": "riding"], alert: .saying("Ride")))
        run.apply(ride.started(1, .startToken(.of(9))))
        #expect(run.sends.isEmpty)
        #expect(run.decisions == ["applied": 1, "repeated_start": 1])
        run.settle(at: 8 * 3600)
        #expect(run.last?.target == .startToken(.of(9)))
    }

    @Test("a start token for a living activity without any target becomes it, with its alert")
    func startTokenLater() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.started(0, fields: ["status": "riding"]))
        run.apply(ride.started(1, .startToken(.of(9))))
        #expect(run.faults.map(\.reason) == [.missingField("alert")])
        run.apply(ride.started(2, .startToken(.of(9)), alert: .saying("Ride")))
        #expect(run.last?.kind == .start)
        #expect(run.last?.reasons.names == ["started", "status", "alert"])
    }

    @Test("a token that replaces another after something was shown gets the newest state")
    func retarget() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.started(0, .updateToken(.of(1)), fields: ["status": "riding"]))
        run.apply(ride.token(5, .of(1)))
        #expect(run.sends.isEmpty)
        run.apply(ride.token(6, .of(2)))
        #expect(run.last?.reasons == .retarget)
        #expect(run.last?.isUrgent == false)
        #expect(run.last?.target == .updateToken(.of(2)))
        #expect(run.decisions == ["applied": 3])
    }

    @Test("a token that replaces another before anything was shown is no retarget")
    func replacedBeforeShown() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.started(0))
        run.apply(ride.token(1, .of(1)))
        run.apply(ride.token(2, .of(2)))
        #expect(run.sends.isEmpty)
        run.apply(ride.status(3, "riding"))
        #expect(run.last?.reasons == .status)
    }

    @Test("an alert that waits is kept until it is sent, whatever becomes of its status; the newest wins")
    func alerts() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.started(0, .updateToken(.of(1)), fields: ["status": "riding"]))
        run.answer = { _ in nil }
        run.apply(ride.status(1, "near"))
        run.apply(ride.status(2, "arrived", alert: .saying("first")))
        run.apply(ride.status(3, "near", alert: .saying("second")))
        run.apply(ride.status(4, "near"))
        run.settle(run.last!, .accepted)
        #expect(run.last?.reasons == .alert)
        #expect(run.last?.alert == .saying("second"))
        run.settle(run.last!, .accepted)
        #expect(run.decisions == ["applied": 1, "sent": 3, "conflated": 1])
    }

    @Test("settings go by attributes type, byte for byte")
    func settingsByType() {
        var settings = ShardSettings(planTargets: false)
        settings.byAttributesType = ["caf\u{E9}": .with { $0.deadbandMeters = 10 }]
        let run = VirtualRun(settings)
        run.apply(ride.started(0, .updateToken(.of(1)), type: "caf\u{E9}"))
        run.apply(ride.position(1))
        run.apply(ride.position(30, north: 20))
        #expect(run.sends.count == 2)
        let other = EventBuilder(activity: "ride-2")
        run.apply(other.started(31, .updateToken(.of(2)), type: "cafe\u{301}"))
        run.apply(other.position(32))
        run.apply(other.position(60, north: 20))
        #expect(run.sends.count == 3)
    }

    @Test("the app names the pool")
    func pools() {
        let shard = Shard(settings: ShardSettings(apps: ["rides", "meals"], planTargets: true))
        let at = Instant(milliseconds: EventBuilder.epochMilliseconds)
        _ = shard.apply(ride.started(0, .updateToken(.of(1)), app: "meals"), at: at)
        _ = shard.apply(ride.position(0), at: at)
        #expect(shard.ready(pool: 0) == nil)
        #expect(shard.take(pool: 1, at: at)?.pool == 1)
    }

    @Test("a merged state that does not fit is a dead letter and leaves everything as it was")
    func deadLetters() {
        var settings = ShardSettings(planTargets: true)
        settings.check = { _, state in
            state[FieldPath("eta")]?.asString == nil
                ? nil : EventFault(.contentStateMismatch(path: "eta"), "eta is a string, the schema wants a number")
        }
        let run = VirtualRun(settings)
        run.apply(ride.status(0, "riding"))
        run.apply(ride.status(1, "lost", fields: ["eta": "soon"], id: 3))
        run.apply(ride.position(2, fields: ["eta": "soon"]))
        run.apply(ride.ended(3, fields: ["eta": "soon"]))
        run.apply(ride.status(4, fields: ["note": .string(String(repeating: "x", count: 4096))]))
        #expect(
            run.faults.map(\.reason.name) == [
                "content_state_mismatch:eta", "content_state_mismatch:eta", "content_state_mismatch:eta",
                "content_state_too_large",
            ])
        #expect(run.decisions == ["sent": 1, "dead_letter": 4])
        run.apply(ride.status(5, "arrived", id: 3))
        #expect(run.last?.contentState == ContentState(["status": "arrived", "sequenceNumber": 2]))
    }

    @Test("4096 bytes are allowed, 5120 on a channel")
    func sizes() {
        func note(_ bytes: Int) -> JSONObject { ["n": .string(String(repeating: "x", count: bytes - 8))] }
        let run = VirtualRun()
        run.apply(ride.status(0, fields: note(4096)))
        run.apply(ride.status(1, fields: note(4097)))
        #expect(run.decisions == ["sent": 1, "dead_letter": 1])
        let broadcast = VirtualRun()
        broadcast.apply(ride.started(0, .channel("AA=="), fields: note(5120)))
        broadcast.apply(ride.status(1, fields: note(5121)))
        #expect(broadcast.decisions == ["applied": 1, "dead_letter": 1])
    }

    @Test("a refused record counts as one event and one dead letter")
    func countedDeadLetter() {
        let run = VirtualRun()
        run.shard.countDeadLetter()
        #expect(run.shard.decisions.activityEvents == 1)
        #expect(run.decisions == ["dead_letter": 1])
    }

    @Test("ids are bytes: two normal forms of a name are two activities")
    func identifiersAreBytes() {
        let run = VirtualRun()
        run.apply(EventBuilder(activity: "caf\u{E9}").position(0))
        run.apply(EventBuilder(activity: "cafe\u{301}").position(0))
        #expect(run.shard.statistics.activities == 2)
        #expect(run.updates.map { Array($0.activityIdentifier.utf8).count } == [5, 6])
    }
}

@Suite("Subjects and followers")
struct SubjectTests {
    var van: EventBuilder {
        var builder = EventBuilder(activity: "van-3")
        builder.isForSubject = true
        return builder
    }
    let first = EventBuilder(activity: "order-z")
    let second = EventBuilder(activity: "order-a")

    @Test("a subject's event is applied to each follower, in the order of their start")
    func followers() {
        let run = VirtualRun(planTargets: false)
        run.apply(first.started(0, .updateToken(.of(1)), follows: "van-3"))
        run.apply(second.started(1, .updateToken(.of(2)), follows: "van-3"))
        run.apply(van.position(2))
        #expect(run.updates.map(\.activityIdentifier) == ["order-z", "order-a"])
        #expect(run.shard.decisions.activityEvents == 4)
        #expect(run.decisions == ["applied": 2, "sent": 2])
    }

    @Test("where nobody follows it counts once; its newest position becomes a follower's at its start")
    func positionBeforeStart() {
        let run = VirtualRun(planTargets: false)
        run.apply(van.position(0, north: 10, fields: ["load": 3]))
        run.apply(van.position(5, north: 20))
        run.apply(van.position(6, at: Coordinate(latitude: 0, longitude: 0)))
        run.apply(van.position(3, north: 30), at: 7)
        run.apply(van.status(8, "loading"))
        #expect(run.decisions == ["no_follower": 5])
        run.apply(first.started(10, .updateToken(.of(1)), fields: ["status": "riding"], follows: "van-3"))
        #expect(run.last?.reasons == .distance)
        #expect(run.last?.position == EventBuilder.coordinate(north: 20))
        #expect(run.last?.contentState[FieldPath("load")] == nil)
        run.apply(van.position(5, north: 500), at: 11)
        #expect(run.decisions == ["no_follower": 5, "sent": 1, "duplicate": 1])
    }

    @Test("a position that is too old by then is of no use")
    func oldSubjectPosition() {
        let run = VirtualRun(planTargets: false)
        run.apply(van.position(0))
        run.apply(first.started(3600.001, .updateToken(.of(1)), follows: "van-3"))
        #expect(run.sends.isEmpty)
    }

    @Test("a subject's end ends all followers; what has ended follows nothing")
    func subjectEnds() {
        let run = VirtualRun(planTargets: false)
        run.apply(first.started(0, .updateToken(.of(1)), follows: "van-3"))
        run.apply(second.started(1, .updateToken(.of(2)), follows: "van-3"))
        run.apply(first.ended(2))
        run.apply(van.ended(3, fields: ["status": "done"]))
        #expect(run.updates.map(\.kind) == [.end, .end])
        run.apply(van.position(4))
        #expect(run.decisions == ["applied": 3, "sent": 1, "no_follower": 1])
    }

    @Test("a subject that is an activity itself gets its own events, beside its followers")
    func channelWithFollowers() {
        let run = VirtualRun(planTargets: false)
        run.apply(van.started(0, .channel("AA==")))
        run.apply(first.started(1, .updateToken(.of(1)), follows: "van-3"))
        run.apply(van.position(2))
        #expect(run.updates.map(\.activityIdentifier) == ["van-3", "order-z"])
    }

    @Test("a subject that becomes an activity itself is where it was last seen")
    func channelBeginsWhereTheSubjectWas() {
        let run = VirtualRun(planTargets: false)
        run.apply(van.position(0))
        run.apply(van.started(5, .channel("AA=="), fields: ["score": "0:0"]))
        #expect(run.last?.reasons == .distance)
        #expect(run.last?.positionTimestampMilliseconds == EventBuilder.milliseconds(0))
        #expect(run.decisions == ["no_follower": 1, "sent": 1])
    }

    @Test("the late start of what began by itself is its start: in the order of starts it stands there")
    func lateStartOrder() {
        let run = VirtualRun()
        run.apply(first.status(0, relevance: 1))
        run.apply(second.status(1, relevance: 1))
        run.apply(second.started(2, .updateToken(.of(2)), follows: "van-3"))
        run.apply(first.started(3, .updateToken(.of(1)), follows: "van-3"))
        run.apply(van.position(5))
        run.apply(van.position(10, north: 100))
        run.settle(at: 20)
        #expect(run.updates.map(\.activityIdentifier) == ["order-a", "order-z", "order-a", "order-z"])
    }

    @Test(
        "a subject that was an activity and has ended leaves its events to its followers, and counts them where it has none"
    )
    func endedChannel() {
        let run = VirtualRun(planTargets: false)
        run.apply(van.started(0, .channel("AA==")))
        run.apply(first.started(1, .updateToken(.of(1)), follows: "van-3"))
        run.apply(EventBuilder(activity: "van-3").ended(2))
        run.apply(van.status(3, "riding"))
        #expect(run.decisions == ["applied": 3, "sent": 1])
        run.apply(first.ended(4))
        run.apply(van.status(5, "parked"))
        #expect(run.decisions == ["applied": 4, "sent": 1, "after_end": 1])
    }

    @Test("a subject's event begins nothing by itself")
    func noAutoStart() {
        let run = VirtualRun()
        run.apply(van.position(0))
        #expect(run.shard.statistics.activities == 0)
    }

    @Test("each follower refuses by itself: one dead letter each")
    func followerFaults() {
        let run = VirtualRun(planTargets: false)
        let big: JSONObject = ["note": .string(String(repeating: "x", count: 3000))]
        run.apply(
            first.started(
                0, .updateToken(.of(1)), fields: ["own": .string(String(repeating: "y", count: 2000))], follows: "van-3"
            ))
        run.apply(second.started(1, .updateToken(.of(2)), follows: "van-3"))
        run.apply(van.status(2, fields: big))
        #expect(run.faults.count == 1)
        #expect(run.decisions == ["applied": 2, "dead_letter": 1, "sent": 1])
    }

    @Test("subjects that nobody follows are forgotten once their position is of no use")
    func subjectsAreBounded() {
        let run = VirtualRun()
        for number in 0..<5_000 {
            var builder = EventBuilder(activity: "van-\(number)")
            builder.isForSubject = true
            run.apply(builder.position(Double(number) * 10))
        }
        #expect(run.shard.statistics.subjects < 2_000)
    }
}
