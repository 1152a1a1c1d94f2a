import Telemetry
import Testing

@testable import Pacing

@Suite("Sequence, timestamp and the clocks")
struct ClockTests {
    let ride = EventBuilder()

    @Test("timestamps are whole seconds, strictly rising, at most five ahead of the clock")
    func timestampRunsAhead() {
        let run = VirtualRun(.with { $0.profile = .unlimited })
        for step in 0..<8 { run.apply(ride.status(0.1 + Double(step) / 100, "step \(step)")) }
        let start = EventBuilder.epochMilliseconds / 1000
        #expect(run.updates.map(\.timestampSeconds) == (0...5).map { start + $0 })
        run.finish()
        // The seventh waits until its timestamp is five seconds ahead: second 1.
        #expect(run.sends.last?.seconds == 1)
        #expect(run.last?.timestampSeconds == start + 6)
        #expect(run.last?.contentState[FieldPath("status")] == "step 7")
    }

    @Test("the wall clock jumps ahead by an hour: timestamps follow, pacing does not")
    func wallJumpsAhead() {
        let run = VirtualRun()
        run.apply(ride.position(0))
        run.apply(ride.position(5, north: 100))
        run.wallSkewMilliseconds = 3_600_000
        run.settle(at: 15)
        #expect(run.sends.map(\.seconds) == [0, 15])
        #expect(run.last?.timestampSeconds == EventBuilder.epochMilliseconds / 1000 + 3615)
        #expect(run.last?.staleDateSeconds == EventBuilder.epochMilliseconds / 1000 + 3615 + 180)
    }

    @Test("once a wall clock that fell back is put right, what waited for it leaves within a minute, without an event")
    func wallIsPutRight() {
        let run = VirtualRun()
        run.apply(ride.status(0, "riding"))
        run.wallSkewMilliseconds = -3_600_000
        run.apply(ride.status(10, "arrived"))
        run.settle(at: 200)
        #expect(run.sends.count == 1)
        run.wallSkewMilliseconds = 0
        run.settle(at: 260)
        #expect(run.sends.count == 2)
        #expect(run.last?.reasons == .status)
    }

    @Test("the wall clock falls back by an hour: nothing leaves with a time that the phone would drop")
    func wallFallsBack() {
        let run = VirtualRun()
        run.apply(ride.status(0, "riding"))
        run.wallSkewMilliseconds = -3_600_000
        run.apply(ride.status(10, "arrived"))
        #expect(run.sends.count == 1)
        run.wallSkewMilliseconds = 0
        run.apply(ride.status(11, fields: ["note": "clock mended"]))
        #expect(run.last?.timestampSeconds == EventBuilder.epochMilliseconds / 1000 + 11)
        #expect(run.last?.contentState[FieldPath("status")] == "arrived")
    }

    @Test("the wall clock falls back before a retry: it leaves once its timestamp may, and nothing runs in circles")
    func wallFallsBackBeforeRetry() {
        let run = VirtualRun()
        run.answer = { _ in nil }
        run.apply(ride.status(0, "riding"))
        run.settle(run.last!, .retry(holdsNewer: false))
        run.wallSkewMilliseconds = -30_000
        run.advance(to: 1)
        #expect(run.retake(run.last!.ticket) == nil)
        run.settle(at: 25)
        #expect(run.sends.count == 1)
        run.settle(at: 26)
        #expect(run.sends.count == 2)
        #expect(run.last?.attempt == 2)
        #expect(run.last?.timestampSeconds == EventBuilder.epochMilliseconds / 1000 + 1)
    }

    @Test("a now that steps back stands still: no interval gets shorter, nothing traps")
    func nowStepsBack() {
        let shard = Shard(settings: ShardSettings(planTargets: true))
        let start = EventBuilder.epochMilliseconds
        _ = shard.apply(ride.position(10), at: Instant(milliseconds: start + 10_000))
        let first = shard.take(pool: 0, at: Instant(milliseconds: start + 10_000))
        #expect(first != nil)
        shard.settle(first!.ticket, .accepted, at: Instant(milliseconds: start + 9_000))
        _ = shard.apply(
            ride.position(11, north: 100), at: Instant(nowMilliseconds: start, wallMilliseconds: start + 11_000))
        shard.fire(at: Instant(milliseconds: start + 24_999))
        #expect(shard.ready(pool: 0) == nil)
        shard.fire(at: Instant(milliseconds: start + 25_000))
        #expect(
            shard.take(pool: 0, at: Instant(milliseconds: start + 25_000))?.takenAt.nowMilliseconds == start + 25_000)
    }

    @Test("an event's own old time never becomes a timestamp")
    func oldEvent() {
        let run = VirtualRun()
        run.apply(ride.position(0), at: 1800)
        #expect(run.last?.timestampSeconds == EventBuilder.epochMilliseconds / 1000 + 1800)
        #expect(run.last?.positionTimestampMilliseconds == EventBuilder.epochMilliseconds)
    }

    @Test("the id of a push follows from activity and sequence")
    func identifiers() {
        let run = VirtualRun()
        run.apply(ride.status(0, "a"))
        run.apply(ride.status(1, "b"))
        let again = VirtualRun()
        again.apply(ride.status(5, "c"))
        #expect(run.updates[0].apnsIdentifier == again.updates[0].apnsIdentifier)
        #expect(run.updates[0].apnsIdentifier != run.updates[1].apnsIdentifier)
        #expect(run.updates[0].apnsIdentifier.description.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
    }
}
