import Telemetry
import Testing

@testable import Pacing

@Suite("A take-over")
struct CheckpointTakeOverTests {
    @Test("of many spreads what is routine over its time, and keeps back nothing urgent")
    func spread() {
        let bench = CheckpointBench(.with { $0.profile = .unlimited })
        bench.answer = { _ in nil }
        bench.shard.newlyReady = []
        for number in 0..<200 {
            let builder = EventBuilder(activity: "ride-\(number)")
            _ = bench.shard.apply(
                builder.started(0, .updateToken(.of(1)), fields: ["status": "new"]), at: bench.instant)
            let isUrgent = number < 50
            let event = isUrgent ? builder.status(1, "near") : builder.position(1, north: 500)
            _ = bench.shard.apply(event, at: bench.instant)
        }
        while bench.shard.hasUnsaved { bench.save() }
        bench.now += 20_000
        bench.changeOwner(spreadMilliseconds: 20_000)
        bench.answer = { _ in .accepted }
        bench.pump()
        #expect(bench.updates.filter(\.isUrgent).count == 50)
        let routine = bench.updates.filter { !$0.isUrgent }.count
        #expect(routine < 5)
        let begun = bench.now
        bench.run(toMilliseconds: begun + 10_000)
        let half = bench.updates.count - 50
        #expect((50..<100).contains(half))
        bench.run(toMilliseconds: begun + 20_001)
        #expect(bench.updates.count == 200)
    }

    @Test("asks of no position that it fits to one that was suppressed and is forgotten")
    func forgottenAnchor() throws {
        let builder = EventBuilder()
        let bench = CheckpointBench(
            .with {
                $0.profile = .unlimited
                $0.minIntervalMilliseconds = 0
            })
        bench.apply(builder.started(0, .updateToken(.of(1)), fields: ["status": "new"]))
        bench.apply(builder.position(1, north: 0))
        bench.apply(builder.position(60, north: 70))
        #expect(bench.updates.count == 1)
        bench.saveAll()
        bench.changeOwner(spreadMilliseconds: 1)
        bench.apply(builder.position(62.2, north: 220))
        bench.run(to: 65)
        #expect(bench.updates.count == 2)
        bench.apply(builder.position(66, north: 50_000))
        bench.run(to: 70)
        #expect(bench.updates.count == 2)
    }

    @Test("stamps above all that the owner before can have stamped")
    func timestamps() {
        let bench = CheckpointBench()
        bench.apply(EventBuilder().started(0, .updateToken(.of(1)), fields: ["status": "new"]))
        bench.apply(EventBuilder().status(0, "cooking"))
        bench.save()
        let kept = bench.store[Array("ride-1".utf8)]!
        let next = CheckpointBench()
        next.now = bench.now + 5_000
        next.shard.beginOwning(spreadMilliseconds: 0, timestampLeadMilliseconds: 1_667, at: next.instant)
        #expect(throws: Never.self) { try next.restore(Array("ride-1".utf8), from: kept.bytes) }
        next.apply(EventBuilder().status(5, "near"))
        #expect(next.last?.timestampSeconds == EventBuilder.epochMilliseconds / 1_000 + 7)
    }

    @Test("stamps by the clock where the owner before handed over")
    func timestampsAfterHandOver() {
        let bench = CheckpointBench()
        bench.apply(EventBuilder().started(0, .updateToken(.of(1)), fields: ["status": "new"]))
        bench.apply(EventBuilder().status(0, "cooking"))
        bench.saveAll()
        let kept = bench.store[Array("ride-1".utf8)]!
        let next = CheckpointBench()
        next.now = bench.now + 5_000
        next.shard.beginOwning(spreadMilliseconds: 0, timestampLeadMilliseconds: 1_667, at: next.instant)
        #expect(throws: Never.self) { try next.restore(Array("ride-1".utf8), from: kept.bytes) }
        next.apply(EventBuilder().status(5, "near"))
        #expect(next.last?.timestampSeconds == EventBuilder.epochMilliseconds / 1_000 + 5)
    }

    @Test("keeps followers in the order of their start, whatever the order in which they come back")
    func followers() {
        let bench = CheckpointBench()
        for number in [3, 1, 2] {
            bench.apply(
                EventBuilder(activity: "ride-\(number)").started(
                    0, .updateToken(.of(UInt8(number))), follows: "courier"))
        }
        bench.saveAll()
        bench.changeOwner()
        let courier = Array("courier".utf8)
        let followers = courier.withUnsafeBytes { bench.shard.subjects.followers(of: $0) }
        let names = followers.map { index in
            bench.shard.withIdentifier(ofIndex: index) { String(decoding: $0, as: UTF8.self) }
        }
        #expect(names == ["ride-3", "ride-1", "ride-2"])
    }

    @Test("knows tokens that came before their activity")
    func earlyTokens() {
        let bench = CheckpointBench()
        bench.apply(EventBuilder().token(0, .of(5), frequent: true))
        #expect(bench.store[Array("ride-1".utf8)]?.expiresAtMilliseconds == bench.now + 12 * 3_600_000)
        bench.changeOwner()
        bench.apply(EventBuilder().started(1, fields: ["status": "new"]))
        bench.apply(EventBuilder().status(2, "near"))
        #expect(bench.last?.target == .updateToken(.of(5)))
    }
}
