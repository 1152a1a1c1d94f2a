import Telemetry
import Testing

@testable import Pacing

/// What the next owner makes of an update that was under way.
@Suite("A checkpoint of an activity with an update under way")
struct CheckpointFlightTests {
    private let builder = EventBuilder()

    /// The last owner is gone; what it saved is what there is.
    private func takeOver(_ bench: CheckpointBench) {
        while bench.shard.hasUnsaved { bench.save() }
        bench.now += 10_000
        bench.changeOwner()
        bench.answer = { _ in .accepted }
        bench.pump()
    }

    @Test("counts it as not told: its content goes again, under a number above the bound")
    func update() {
        let bench = CheckpointBench()
        bench.apply(builder.started(0, .updateToken(.of(1)), fields: ["status": "new"]))
        bench.answer = { _ in nil }
        bench.apply(builder.status(1, "near", alert: .saying("near")))
        #expect(bench.last?.sequence == 1)
        bench.shard.saveHeld(source: 0, appliedAtOrBefore: bench.now)
        bench.saveAll()
        takeOver(bench)
        #expect(bench.updates.count == 2)
        #expect(bench.last?.contentState[FieldPath("status")] == "near")
        #expect(bench.last?.alert == .saying("near"))
        #expect((bench.last?.sequence ?? 0) > 1)
    }

    @Test("of an end sends the end again, with its dismissal and what it set")
    func end() {
        let bench = CheckpointBench()
        bench.apply(builder.started(0, .updateToken(.of(1)), fields: ["status": "new"]))
        bench.answer = { _ in nil }
        bench.apply(
            builder.ended(1, fields: ["status": "over"], dismissal: .at(milliseconds: EventBuilder.milliseconds(77))))
        #expect(bench.last?.kind == .end)
        bench.saveAll()
        #expect(bench.store[Array("ride-1".utf8)]?.expiresAtMilliseconds == nil)
        takeOver(bench)
        #expect(bench.updates.map(\.kind) == [.end, .end])
        #expect(bench.last?.dismissal == .at(milliseconds: EventBuilder.milliseconds(77)))
        #expect(bench.last?.contentState[FieldPath("status")] == "over")
    }

    @Test("of a start that left does not repeat it: the card's own token is waited for")
    func start() {
        let bench = CheckpointBench()
        bench.answer = { _ in nil }
        bench.apply(builder.started(0, .startToken(.of(1)), fields: ["status": "new"], alert: .saying("hello")))
        #expect(bench.last?.kind == .start)
        takeOver(bench)
        #expect(bench.updates.count == 1)
        bench.apply(builder.token(20, .of(2)))
        #expect(bench.updates.map(\.kind) == [.start, .update])
        #expect(bench.last?.target == .updateToken(.of(2)))
    }

    @Test("of a start whose card has reported its token keeps that token")
    func startWithToken() {
        let bench = CheckpointBench()
        bench.answer = { _ in nil }
        bench.apply(builder.started(0, .startToken(.of(1)), fields: ["status": "new"], alert: .saying("hello")))
        bench.apply(builder.token(1, .of(2)))
        takeOver(bench)
        bench.apply(builder.status(30, "near"))
        #expect(bench.last?.target == .updateToken(.of(2)))
        #expect(bench.last?.contentState[FieldPath("status")] == "near")
    }

    @Test("of a start that is noted and has not left: known to the store, it is not repeated after a crash")
    func notedStart() {
        let bench = CheckpointBench()
        bench.shard.newlyReady = []
        _ = bench.shard.apply(
            builder.started(0, .startToken(.of(1)), alert: .saying("hello")), at: bench.instant)
        bench.save()
        #expect(bench.shard.take(pool: 0, at: bench.instant) == nil)
        bench.save()
        #expect(bench.shard.ready(pool: 0) != nil)
        takeOver(bench)
        #expect(bench.updates.isEmpty)
    }

    @Test(
        "of a start that is noted and has not left: a clean hand-over takes the note back, and the next owner sends it")
    func handedOverStart() {
        let bench = CheckpointBench()
        _ = bench.shard.apply(
            builder.started(0, .startToken(.of(1)), alert: .saying("hello")), at: bench.instant)
        bench.save()
        #expect(bench.shard.take(pool: 0, at: bench.instant) == nil)
        bench.save()
        bench.saveAll()
        takeOver(bench)
        #expect(bench.updates.map(\.kind) == [.start])
    }

    @Test("of a noted start whose app reports an update token meanwhile keeps that, and no card is begun")
    func notedStartWithToken() {
        let bench = CheckpointBench()
        _ = bench.shard.apply(
            builder.started(0, .startToken(.of(1)), fields: ["status": "new"], alert: .saying("hello")),
            at: bench.instant)
        bench.save()
        #expect(bench.shard.take(pool: 0, at: bench.instant) == nil)
        _ = bench.shard.apply(builder.token(1, .of(2)), at: bench.instant)
        bench.save()
        takeOver(bench)
        #expect(bench.updates.map(\.kind) == [.update])
        #expect(bench.last?.target == .updateToken(.of(2)))
    }

    @Test("of a start that the provider put off is no attempt: the next owner sends it")
    func retriedStart() throws {
        let bench = CheckpointBench()
        bench.answer = { _ in nil }
        bench.apply(builder.started(0, .startToken(.of(1)), alert: .saying("hello")))
        let start = try #require(bench.last)
        bench.shard.settle(start.ticket, .retry(holdsNewer: false), at: bench.instant)
        takeOver(bench)
        #expect(bench.updates.map(\.kind) == [.start, .start])
        #expect((bench.last?.sequence ?? 0) > 64)
    }

    @Test("keeps the smallest threshold of a waiting update: a worse fix does not talk the phone's error away")
    func threshold() {
        let bench = CheckpointBench()
        bench.apply(builder.started(0, .updateToken(.of(1)), fields: ["status": "new"]))
        bench.apply(builder.position(1, north: 0, accuracy: 5))
        bench.apply(builder.position(2, north: 100, accuracy: 5))
        bench.apply(builder.position(3, north: 100, accuracy: 190))
        #expect(bench.updates.count == 1)
        bench.saveAll()
        bench.changeOwner()
        bench.pump()
        bench.run(to: 20)
        #expect(bench.updates.count == 2)
        #expect(bench.last?.reasons == .distance)
    }

    @Test("Settings that have changed since take hold: another profile, another bucket")
    func changedProfile() throws {
        let bench = CheckpointBench(.with { $0.profile = .unlimited })
        bench.apply(builder.started(0, .updateToken(.of(1)), fields: ["status": "new"]))
        bench.saveAll()
        let next = CheckpointBench(.with { $0.profile = .standard })
        try next.restore(Array("ride-1".utf8), from: #require(bench.store[Array("ride-1".utf8)]).bytes)
        #expect(next.shard.record(0).bucket.limits == .standard)
    }
}
