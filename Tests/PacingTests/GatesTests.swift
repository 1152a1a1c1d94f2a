import Telemetry
import Testing

@testable import Pacing

@Suite("May it go now?")
struct GatesTests {
    let ride = EventBuilder()

    @Test("held by the interval, the newest truth leaves when it is up, counted from the send")
    func interval() {
        let run = timeline(
            "a....b...c..................|", ["a": .at(0), "b": .at(100), "c": .at(200)],
            sends: "a..............c............|")
        #expect(run.decisions == ["sent": 2, "conflated": 1])
        #expect(run.last?.position == EventBuilder.coordinate(north: 200))
    }

    @Test("a fixed deadline: steady input does not push it out")
    func fixedDeadline() {
        var drawing = "a"
        for _ in 0..<40 { drawing += "b" }
        let run = VirtualRun()
        for (second, _) in drawing.enumerated() {
            run.apply(ride.position(Double(second), north: Double(second) * 90))
        }
        #expect(run.sends.map(\.seconds) == [0, 15, 30])
    }

    @Test("the courier came back while the gate was shut: returned, and nothing is sent")
    func cameBack() {
        let run = timeline(
            "a....b....c..........|", ["a": .at(0), "b": .at(100), "c": .at(10)], sends: "a|")
        #expect(run.decisions == ["sent": 1, "conflated": 1, "returned": 1])
    }

    @Test("until the gate opens all that is applied joins the waiting update, even inside the deadband")
    func joining() {
        let run = timeline(
            "a....b....c.r.......d....|",
            ["a": .at(0), "b": .at(100), "c": .at(10), "r": .fields(["status": nil]), "d": .at(12)], sends: "a|")
        #expect(run.decisions == ["sent": 1, "conflated": 1, "returned": 2, "deadband": 1])
    }

    @Test("a record exactly at the due time is applied first")
    func tie() {
        timeline("a....b.........c.....|", ["a": .at(0), "b": .at(100), "c": .at(300)], sends: "a..............c|")
        let run = timeline(
            "a....b.........c.....|", ["a": .at(0), "b": .at(100), "c": .at(10)], sends: "a|")
        #expect(run.decisions == ["sent": 1, "conflated": 1, "returned": 1])
    }

    @Test("a status that came back before its gate opened leaves its courier to the routine gates")
    func lostUrgency() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.started(0, .updateToken(.of(1)), fields: ["status": "riding"]))
        run.apply(ride.position(1))
        run.answer = { _ in nil }
        run.apply(ride.position(20, north: 100))
        let inFlight = run.last!
        run.apply(ride.status(21, "arrived"))
        run.apply(ride.position(22, north: 200))
        run.apply(ride.status(23, "riding"))
        run.settle(inFlight, .accepted)
        #expect(run.sends.count == 2)
        run.answer = { _ in .accepted }
        run.settle(at: 60)
        #expect(run.sends.count == 3)
        #expect(run.sends.last?.seconds == 35)
        #expect(run.last?.reasons == .distance)
    }

    @Test("the bucket: four at once in effect, then one a minute")
    func standardBucket() {
        let run = VirtualRun(.with { $0.refresh = false })
        for step in 0...60 {
            run.apply(ride.position(Double(step) * 5, north: Double(step) * 100))
        }
        // 0, 15, 30, 45 spend the burst; the first token comes 60 s after the bucket was last full.
        #expect(run.sends.map(\.seconds) == [0, 15, 30, 45, 60, 120, 180, 240, 300])
    }

    @Test("frequent: eight, then one each fifteen seconds, so the interval rules")
    func frequentBucket() {
        let run = VirtualRun(.with { $0.profile = .frequent })
        for step in 0...60 {
            run.apply(ride.position(Double(step) * 5, north: Double(step) * 100))
        }
        #expect(run.sends.map(\.seconds) == (0...20).map { Double($0) * 15 })
    }

    @Test("auto is frequent where the device says so, and a switch keeps the level")
    func autoProfile() {
        var bucket = CadenceBucket(.standard)
        for second in [0, 1, 2] as [Int64] { bucket.take(above: 0, nowMilliseconds: second * 1000) }
        bucket.switchTo(.frequent, nowMilliseconds: 10_000)
        #expect(bucket.level == 1)
        bucket.refill(nowMilliseconds: 24_999)
        #expect(bucket.level == 1)
        bucket.refill(nowMilliseconds: 25_000)
        #expect(bucket.level == 2)
        bucket.refill(nowMilliseconds: 1_000_000)
        #expect(bucket.level == 8)
        bucket.switchTo(.standard, nowMilliseconds: 1_000_000)
        #expect(bucket.level == 4)
        let run = VirtualRun(planTargets: false)
        run.apply(ride.started(0, .updateToken(.of(1)), frequent: true))
        for step in 0...60 {
            run.apply(ride.position(Double(step) * 5 + 1, north: Double(step) * 100))
        }
        #expect(run.sends.count == 21)
    }

    @Test("the interval of the bucket runs from when it last became not full")
    func bucketInterval() {
        var bucket = CadenceBucket(.standard)
        bucket.refill(nowMilliseconds: 1_000_000)
        bucket.take(above: 0, nowMilliseconds: 1_000_000)
        bucket.take(above: 0, nowMilliseconds: 1_030_000)
        bucket.refill(nowMilliseconds: 1_059_999)
        #expect(bucket.level == 2)
        bucket.refill(nowMilliseconds: 1_060_000)
        #expect(bucket.level == 3)
        bucket.refill(nowMilliseconds: 1_120_000)
        #expect(bucket.level == 4)
        bucket.take(above: 0, nowMilliseconds: 1_500_000)
        #expect(bucket.reaches(4, nowMilliseconds: 1_500_000) == 1_560_000)
    }

    @Test("urgent updates borrow down to −burst; from there they are five seconds apart at priority 5 and take nothing")
    func urgentBorrows() {
        let run = VirtualRun()
        for step in 0..<14 {
            run.apply(ride.status(Double(step), "step \(step)"))
        }
        run.settle(at: 29)
        // Eight take the bucket from 4 to −4 at second 7; then one each five seconds, the newest truth each time.
        #expect(run.sends.map(\.seconds) == [0, 1, 2, 3, 4, 5, 6, 7, 12, 17])
        #expect(run.updates.map(\.priority) == [10, 10, 10, 10, 10, 10, 10, 10, 5, 5])
        #expect(run.last?.contentState[FieldPath("status")] == "step 13")
        #expect(run.decisions == ["sent": 10, "conflated": 4])
    }

    @Test("below zero the routine waits for a level above zero")
    func routineBelowZero() {
        let run = VirtualRun(.with { $0.refresh = false })
        for step in 0..<6 { run.apply(ride.status(Double(step), "step \(step)")) }  // 4 → −2
        run.apply(ride.position(20, north: 0))
        run.settle(at: 400)
        // −2 reaches 1 after three intervals from second 0; but 150 s after the last send an empty bucket no longer holds.
        #expect(run.sends.last?.seconds == 155)
    }

    @Test("an empty bucket holds until the lead before stale, and then takes nothing it has not")
    func lenientBucket() {
        let run = VirtualRun(.with { $0.profile = .standard })
        for step in 0..<7 { run.apply(ride.status(Double(step), "step \(step)")) }  // −3
        run.apply(ride.position(10))
        run.settle(at: 156)
        #expect(run.sends.last?.seconds == 156)
        // At 156 two intervals have given two: −1, of which nothing is taken; 180 s bring it to 0.
        run.apply(ride.position(170, north: 200))
        run.settle(at: 330)
        #expect(run.sends.last?.seconds == 240)
    }

    @Test("endings are exempt from the interval and the bucket, and take one if there is one")
    func endingsAreExempt() {
        let run = VirtualRun()
        for step in 0..<8 { run.apply(ride.status(Double(step), "step \(step)")) }
        run.apply(ride.ended(7))
        #expect(run.sends.last?.seconds == 7)
        #expect(run.last?.kind == .end)
        #expect(run.last?.priority == 10)
    }

    @Test("unlimited knows no bucket")
    func unlimited() {
        let run = VirtualRun(.with { $0.profile = .unlimited })
        for step in 0..<60 { run.apply(ride.position(Double(step) * 15, north: Double(step) * 100)) }
        #expect(run.sends.count == 60)
    }

    @Test("one in flight per activity, whatever the class; what came meanwhile leaves with the answer")
    func oneInFlight() {
        let run = VirtualRun()
        run.answer = { _ in nil }
        run.apply(ride.status(0, "riding"))
        let first = run.last!
        run.apply(ride.status(1, "arrived"))
        run.apply(ride.status(2, "done"))
        #expect(run.sends.count == 1)
        run.settle(first, .accepted)
        #expect(run.last?.contentState[FieldPath("status")] == "done")
        #expect(run.last?.sequence == 2)
        #expect(run.decisions == ["sent": 1, "conflated": 1, "pending": 1])
    }

    @Test("without a credit nothing leaves; then urgent before routine, longest waiting first")
    func credits() {
        let run = VirtualRun(.with { $0.minIntervalMilliseconds = 0 })
        run.hasCredits = false
        for (second, name) in ["b", "a", "c", "d"].enumerated() {
            run.apply(EventBuilder(activity: name).position(Double(second)))
        }
        run.apply(EventBuilder(activity: "c").status(5, "arrived"))
        #expect(run.shard.ready(pool: 0)?.isUrgent == true)
        run.hasCredits = true
        run.dispatch()
        #expect(run.updates.map(\.activityIdentifier) == ["c", "b", "a", "d"])
    }

    @Test(
        "in a plan no credit is missing: what becomes possible first leaves first, a routine update before an urgent one"
    )
    func orderOfRelease() {
        var settings = ShardSettings()
        settings.keepsOrderOfRelease = true
        settings.apps = ["courier", "rider"]
        let run = VirtualRun(settings)
        var van = EventBuilder(activity: "van-3")
        van.isForSubject = true
        // The first follower already shows the status, and is told the note; to the second the status is news.
        run.apply(
            EventBuilder(activity: "z").started(
                0, .updateToken(.of(1)), fields: ["status": "near"], follows: "van-3", app: "rider"))
        run.apply(EventBuilder(activity: "a").started(0, .updateToken(.of(2)), follows: "van-3", app: "courier"))
        run.apply(van.status(5, "near", fields: ["note": "left"]))
        #expect(run.updates.map(\.activityIdentifier) == ["z", "a"])
        #expect(run.updates.map(\.isUrgent) == [false, true])
    }

    @Test("what waits for a credit alone is judged when it is taken")
    func lateBinding() {
        let run = VirtualRun(.with { $0.minIntervalMilliseconds = 0 })
        run.apply(ride.position(0))
        run.hasCredits = false
        run.apply(ride.position(10, north: 100))
        run.apply(ride.position(20, north: 300))
        run.apply(ride.position(30, north: 10))
        run.hasCredits = true
        run.dispatch()
        #expect(run.decisions == ["sent": 1, "conflated": 2, "returned": 1])
        #expect(run.sends.count == 1)
    }

    @Test("timers fire in order of due time, then of activity start")
    func timerOrder() {
        let run = VirtualRun()
        let names = ["z", "m", "a", "q"]
        for name in names { run.apply(EventBuilder(activity: name).position(0)) }
        for name in names.reversed() { run.apply(EventBuilder(activity: name).position(5, north: 100)) }
        run.settle(at: 15)
        #expect(run.updates.suffix(4).map(\.activityIdentifier) == names)
    }
}
