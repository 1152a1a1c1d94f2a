import Telemetry
import Testing

@testable import Pacing

@Suite("A take-over")
struct CheckpointTakeOverTests {
    /// Rides that have something to tell and have not told it; the first of them something urgent. Then nobody owned them for 20 s.
    private func left(_ rides: Int, urgent: Int = 0) -> CheckpointBench {
        let bench = CheckpointBench(.with { $0.profile = .unlimited })
        for number in 0..<rides {
            let builder = EventBuilder(activity: "ride-\(number)")
            _ = bench.shard.apply(
                builder.started(0, .updateToken(.of(1)), fields: ["status": "new"]), at: bench.instant)
            let event = number < urgent ? builder.status(1, "near") : builder.position(1, north: 500)
            _ = bench.shard.apply(event, at: bench.instant)
        }
        while bench.shard.hasUnsaved { bench.save() }
        bench.now += 20_000
        return bench
    }

    @Test("of many spreads what is routine over its time, and keeps back nothing urgent")
    func spread() {
        let bench = left(200, urgent: 50)
        bench.takeOver()
        bench.shard.noteCaughtUp(spreadMilliseconds: 20_000, at: bench.instant)
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

    @Test("whose owner takes long to catch up begins its turns then: none has passed meanwhile")
    func slowCatchUp() {
        let bench = left(200)
        bench.takeOver()
        bench.run(toMilliseconds: bench.now + 15_000)
        bench.pump()
        #expect(bench.updates.isEmpty)
        bench.shard.noteCaughtUp(spreadMilliseconds: 20_000, at: bench.instant)
        let begun = bench.now
        var told = [bench.updates.count]
        for second in 1...20 {
            bench.run(toMilliseconds: begun + Int64(second) * 1_000)
            told.append(bench.updates.count)
        }
        bench.run(toMilliseconds: begun + 20_001)
        #expect(bench.updates.count == 200)
        // Ten a second, as chance has it.
        let busiest = zip(told, told.dropFirst()).map { $1 - $0 }.max()!
        #expect(busiest <= 20)
    }

    @Test("asks the store for numbers as turns come, and for what is urgent at once")
    func numbers() {
        let bench = left(200, urgent: 50)
        bench.takeOver()
        #expect(bench.shard.unsavedCount == 50)
        bench.pump()
        #expect(bench.updates.count == 50)
        bench.shard.noteCaughtUp(spreadMilliseconds: 20_000, at: bench.instant)
        #expect(bench.shard.unsavedCount < 5)
        bench.run(toMilliseconds: bench.now + 20_001)
        #expect(bench.updates.count == 200)
    }

    @Test("puts off what is taken over and not told yet: nothing of its own, and nothing twice")
    func own() {
        let bench = left(1)
        bench.takeOver()
        bench.shard.noteCaughtUp(spreadMilliseconds: 3_600_000, at: bench.instant)
        let own = EventBuilder(activity: "own")
        bench.apply(own.started(21, .updateToken(.of(2)), fields: ["status": "new"]))
        bench.apply(own.position(22, north: 500))
        #expect(bench.updates.map(\.activityIdentifier) == ["own"])
        // Told at once, since it is urgent; what is routine then has had its turn.
        bench.apply(EventBuilder(activity: "ride-0").status(23, "near"))
        bench.apply(EventBuilder(activity: "ride-0").position(60, north: 5_000))
        bench.run(to: 120)
        #expect(bench.updates.map(\.activityIdentifier) == ["own", "ride-0", "ride-0"])
        #expect(bench.updates.map(\.isUrgent) == [false, true, false])
    }

    @Test("gives its turn also to what is loaded after it has caught up, and none once all have passed")
    func loadedLate() {
        let rides = (0..<40).map { "ride-\($0)" }
        func told(afterMilliseconds loads: Int64) -> [Int64] {
            let bench = left(40)
            bench.startOwning()
            bench.shard.noteCaughtUp(spreadMilliseconds: 20_000, at: bench.instant)
            let caughtUp = bench.now
            bench.now += loads
            for ride in rides { bench.restore(Array(ride.utf8)) }
            bench.pump()
            bench.run(toMilliseconds: caughtUp + 40_000)
            #expect(bench.updates.count == 40)
            return bench.updates.map { $0.takenAt.nowMilliseconds - caughtUp }.sorted()
        }
        let early = told(afterMilliseconds: 0)
        let late = told(afterMilliseconds: 5_000)
        // The same turns; those that had passed when it was loaded leave then.
        #expect(late == early.map { max($0, 5_000) })
        #expect(Set(late).count > 20)
        #expect(told(afterMilliseconds: 20_000) == Array(repeating: 20_000, count: 40))
    }

    @Test("leaves a refresh that is due by itself meanwhile its time")
    func refreshDueMeanwhile() {
        let bench = CheckpointBench(
            .with {
                $0.profile = .unlimited
                $0.staleAfterMilliseconds = 40_000
                $0.refreshLeadMilliseconds = 10_000
            })
        for number in 0..<100 {
            let builder = EventBuilder(activity: "ride-\(number)")
            bench.apply(builder.started(0, .updateToken(.of(1)), fields: ["status": "new"]))
            bench.apply(builder.status(0, "near"))
            bench.apply(builder.status(0, "near"))
        }
        #expect(bench.updates.count == 100)
        bench.saveAll()
        bench.now += 20_000
        bench.takeOver()
        bench.shard.noteCaughtUp(spreadMilliseconds: 30_000, at: bench.instant)
        bench.run(to: 29.9)
        #expect(bench.updates.count == 100)
        bench.run(to: 30.1)
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
        bench.takeOver()
        bench.shard.noteCaughtUp(spreadMilliseconds: 0, at: bench.instant)
        bench.apply(builder.position(62.2, north: 220))
        bench.run(to: 65)
        #expect(bench.updates.count == 2)
        bench.apply(builder.position(66, north: 50_000))
        bench.run(to: 70)
        #expect(bench.updates.count == 2)
    }

    @Test(
        "stamps above all that the owner before can have stamped, and by the clock where that one handed over",
        arguments: [(false, 7), (true, 5)])
    func timestamps(handsOver: Bool, seconds: Int64) {
        let bench = CheckpointBench()
        bench.apply(EventBuilder().started(0, .updateToken(.of(1)), fields: ["status": "new"]))
        bench.apply(EventBuilder().status(0, "cooking"))
        if handsOver { bench.saveAll() } else { bench.save() }
        let kept = bench.store[Array("ride-1".utf8)]!
        let next = CheckpointBench()
        next.now = bench.now + 5_000
        next.shard.beginOwning(timestampLeadMilliseconds: 1_667, at: next.instant)
        #expect(throws: Never.self) { try next.restore(Array("ride-1".utf8), from: kept.bytes) }
        next.apply(EventBuilder().status(5, "near"))
        #expect(next.last?.timestampSeconds == EventBuilder.epochMilliseconds / 1_000 + seconds)
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
