import Telemetry
import Testing

@testable import Pacing

@Suite("One instant, and the end of a recording")
struct RecordingEndTests {
    let ride = EventBuilder()

    @Test("a record is sent at once while the gates are open, even if others of the same time follow")
    func sameInstant() {
        let run = VirtualRun()
        run.apply(ride.status(0, "near"))
        run.apply(ride.status(0, "here"))
        run.apply(ride.position(0))
        #expect(run.sends.map(\.seconds) == [0, 0])
        #expect(run.updates.map(\.timestampSeconds).last == EventBuilder.epochMilliseconds / 1000 + 1)
        run.finish()
        #expect(run.sends.map(\.seconds) == [0, 0, 15])
    }

    @Test("what time alone releases still leaves, at its time")
    func runsOn() {
        let run = VirtualRun()
        run.apply(ride.position(0))
        run.apply(ride.position(5, north: 100))
        run.finish()
        #expect(run.sends.map(\.seconds) == [0, 15])
        #expect(run.shard.decisions.pending == 0)
    }

    @Test("a refresh that is not due yet, a life and a removal do not fire any more")
    func nothingElseFires() {
        let run = VirtualRun()
        run.apply(ride.position(0))
        run.apply(ride.position(5))
        run.apply(EventBuilder(activity: "ride-2").position(6))
        run.apply(EventBuilder(activity: "ride-2").ended(7))
        run.finish()
        #expect(run.sends.count == 3)
        #expect(run.seconds == 7)
        #expect(run.shard.statistics.activities == 2)
    }

    @Test("a refresh that already waits still leaves")
    func waitingRefresh() {
        let run = VirtualRun(
            .with {
                $0.staleAfterMilliseconds = 12_000
                $0.refreshLeadMilliseconds = 4_000
                $0.minIntervalMilliseconds = 60_000
            })
        run.apply(ride.position(0))
        run.apply(ride.position(1))
        run.apply(ride.position(10))  // the refresh waits since 8, for the interval
        #expect(run.decisions == ["sent": 1, "deadband": 1, "pending": 1])
        run.finish()
        #expect(run.sends.map(\.seconds) == [0, 60])
        #expect(run.last?.reasons == .refresh)
    }

    @Test("what waits for a target stays pending")
    func pendingForTarget() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.started(0, fields: ["status": "riding"]))
        run.finish()
        #expect(run.sends.isEmpty)
        #expect(run.decisions == ["pending": 1])
    }
}
