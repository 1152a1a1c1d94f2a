import Telemetry
import Testing

@testable import Pacing

@Suite("What can be seen of an activity")
struct ActivityViewTests {
    private let ride = EventBuilder()
    private let identifier = Array("ride-1".utf8)

    private func seen(_ bench: CheckpointBench) -> ActivityView? {
        identifier.withUnsafeBytes { bench.shard.view(of: $0, at: bench.instant) }
    }

    /// As whoever does not own it sees it.
    private func kept(_ bench: CheckpointBench) throws -> ActivityView? {
        let bytes = try #require(bench.store[identifier]).bytes
        return try identifier.span.withUnsafeBytes { identifier throws(CheckpointFault) in
            try bytes.span.withUnsafeBytes { bytes throws(CheckpointFault) in
                try ActivityView(checkpoint: bytes, of: identifier, settings: bench.settings, at: bench.instant)
            }
        }
    }

    @Test("is its newest truth, also what the phone was not told of, under the number of the last push")
    func newestTruth() throws {
        let bench = CheckpointBench()
        bench.apply(ride.started(0, .updateToken(.of(1)), fields: ["status": "new"], type: "Ride"))
        bench.apply(ride.position(1, north: 0))
        #expect(bench.updates.count == 1)
        bench.apply(ride.position(2, north: 20))
        let view = try #require(seen(bench))
        #expect(view.stage == .active)
        #expect(view.activityIdentifier == "ride-1")
        #expect(view.attributesType == "Ride")
        #expect(view.target == .updateToken(.of(1)))
        #expect(view.sequence == 1)
        #expect(view.startedAtMilliseconds == EventBuilder.milliseconds(0))
        #expect(view.lastSentAtMilliseconds == EventBuilder.milliseconds(1))
        #expect(view.asOfMilliseconds == EventBuilder.milliseconds(2))
        #expect(!view.isWaiting)
        let state = try #require(view.contentState)
        #expect(state[FieldPath("status")] == "new")
        #expect(state[FieldPath("sequenceNumber")] == 1)
        #expect(state[FieldPath("latitude")] != bench.last?.contentState[FieldPath("latitude")])
        #expect(state[FieldPath("longitude")] == bench.last?.contentState[FieldPath("longitude")])
    }

    @Test("is the same from what is in memory and from what was stored of it", arguments: [false, true])
    func fromCheckpoint(isLast: Bool) throws {
        let bench = CheckpointBench(apps: ["courier", "rides"])
        bench.apply(ride.started(0, .updateToken(.of(1)), fields: ["status": "new"], type: "Ride", app: "rides"))
        bench.answer = { _ in nil }
        bench.apply(ride.status(1, "near"))
        bench.apply(ride.position(3, north: 20))
        if isLast {
            bench.saveAll()
        } else {
            bench.shard.saveAgain()
            bench.save()
        }
        let inMemory = try #require(seen(bench))
        let stored = try #require(try kept(bench))
        #expect(stored.app == "rides")
        #expect(stored.contentState == inMemory.contentState)
        #expect(stored.sequence == 1)
        #expect(stored.isWaiting)
        #expect(stored.lastSentAtMilliseconds == inMemory.lastSentAtMilliseconds)
        #expect(stored.startedAtMilliseconds == inMemory.startedAtMilliseconds)
        #expect(stored.target == inMemory.target)
        #expect(stored.asOfMilliseconds == EventBuilder.milliseconds(3))
    }

    @Test("tells one that waits for its token from one whose start is still to leave, and from one that has ended")
    func stages() throws {
        let bench = CheckpointBench()
        bench.apply(ride.position(0))
        #expect(seen(bench)?.stage == .waitingForToken)
        #expect(seen(bench)?.isWaiting == true)
        #expect(seen(bench)?.contentState?[FieldPath("sequenceNumber")] == 0)
        bench.apply(ride.token(1, .of(1)))
        #expect(seen(bench)?.stage == .active)
        #expect(seen(bench)?.isWaiting == false)
        bench.answer = { _ in nil }
        bench.apply(ride.ended(20, fields: ["status": "there"]))
        #expect(seen(bench)?.stage == .ended)
        #expect(seen(bench)?.isWaiting == true)
        #expect(seen(bench)?.contentState?[FieldPath("status")] == "there")
        bench.shard.settle(try #require(bench.last).ticket, .accepted, at: bench.instant)
        bench.pump()
        #expect(seen(bench)?.contentState == nil)
        #expect(seen(bench)?.isWaiting == false)
        #expect(seen(bench)?.startedAtMilliseconds == nil)
        #expect(seen(bench)?.endedAtMilliseconds == EventBuilder.milliseconds(20))
        #expect(try kept(bench)?.stage == .ended)
    }

    @Test("is none of an id that nobody knows, nor of one of which a token came and nothing else")
    func unknown() throws {
        let bench = CheckpointBench()
        #expect(seen(bench) == nil)
        bench.apply(ride.token(0, .of(1)))
        #expect(seen(bench) == nil)
        #expect(try kept(bench) == nil)
    }

    @Test("looking changes nothing")
    func untouched() throws {
        let bench = CheckpointBench()
        bench.answer = { _ in nil }
        bench.apply(ride.started(0, .startToken(.of(9)), fields: ["status": "new"], alert: .saying("x"), type: "Ride"))
        let before = bench.shard.decisions
        #expect(seen(bench) == seen(bench))
        #expect(seen(bench)?.stage == .waitingForToken)
        #expect(bench.shard.decisions == before)
        #expect(bench.shard.nextDueMilliseconds != nil)
        #expect(!bench.shard.hasUnsaved)
    }
}
