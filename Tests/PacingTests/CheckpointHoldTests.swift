import Telemetry
import Testing

@testable import Pacing

@Suite("What is not settled holds its offset")
struct CheckpointHoldTests {
    private let builder = EventBuilder()

    /// One activity on its phone, and nobody to send.
    private func begun() -> CheckpointBench {
        let bench = CheckpointBench()
        bench.apply(builder.started(0, .updateToken(.of(1)), fields: ["status": "new"]), offset: 1)
        bench.answer = { _ in nil }
        return bench
    }

    private func held(_ bench: CheckpointBench, source: Int = 0) -> Int64? {
        bench.shard.smallestHeld(source: source)?.offset
    }

    @Test("until its update is accepted")
    func accepted() throws {
        let bench = begun()
        #expect(held(bench) == nil)
        bench.apply(builder.status(1, "near"), offset: 2)
        #expect(held(bench) == 2)
        bench.shard.settle(try #require(bench.last).ticket, .accepted, at: bench.instant)
        #expect(held(bench) == nil)
    }

    @Test("and a newer position takes over from an older one, while a status holds its own")
    func conflated() {
        let bench = begun()
        bench.apply(builder.status(1, "near"), offset: 2)
        bench.apply(builder.position(2, north: 100), offset: 3)
        #expect(held(bench) == 2)
        let other = begun()
        other.apply(builder.position(1, north: 100), offset: 2)
        other.shard.settle(other.last!.ticket, .accepted, at: other.instant)
        other.pump()
        other.apply(builder.position(2, north: 180), offset: 3)
        #expect(held(other) == 3)
        other.apply(builder.position(3, north: 260), offset: 4)
        #expect(held(other) == 4)
    }

    @Test("also a position inside the deadband of what is on its way, until that has arrived")
    func insideWhatIsOnItsWay() throws {
        let bench = begun()
        bench.apply(builder.position(1, north: 0), offset: 2)
        bench.shard.settle(try #require(bench.last).ticket, .accepted, at: bench.instant)
        bench.pump()
        bench.apply(builder.position(60, north: 400), offset: 3)
        bench.shard.saveHeld(source: 0, appliedAtOrBefore: bench.now)
        bench.save()
        #expect(held(bench) == nil)
        let flight = try #require(bench.last).ticket
        bench.apply(builder.position(61, north: 405), offset: 4)
        #expect(held(bench) == 4)
        bench.apply(builder.position(62, north: 410), offset: 5)
        #expect(held(bench) == 5)
        bench.shard.settle(flight, .accepted, at: bench.instant)
        #expect(held(bench) == nil)
        #expect(bench.shard.decisions.pending == 0)
    }

    @Test("and one that did not arrive leaves what followed it held")
    func didNotArrive() throws {
        let bench = begun()
        bench.apply(builder.position(1, north: 0), offset: 2)
        let flight = try #require(bench.last).ticket
        bench.apply(builder.position(2, north: 5), offset: 3)
        #expect(held(bench) == 2)
        bench.shard.settle(flight, .targetGone, at: bench.instant)
        // What followed has taken the place of what did not arrive.
        #expect(held(bench) == 3)
        #expect(bench.shard.decisions.pending == 0)
    }

    @Test("of its own source")
    func sources() {
        let bench = begun()
        bench.apply(builder.status(1, "near"), offset: 40, source: 3)
        #expect(held(bench) == nil)
        #expect(held(bench, source: 3) == 40)
        #expect(held(bench, source: 7) == nil)
    }

    @Test("no longer once a checkpoint covers it; and what comes after that holds again")
    func afterCheckpoint() {
        let bench = begun()
        bench.apply(builder.status(1, "near"), offset: 2)
        bench.shard.saveHeld(source: 0, appliedAtOrBefore: bench.now)
        bench.save()
        #expect(held(bench) == nil)
        bench.apply(builder.status(2, "there"), offset: 3)
        #expect(held(bench) == 3)
    }

    @Test("also where the activity was restored with a position held aside")
    func restoredAside() {
        let bench = begun()
        bench.answer = { _ in .accepted }
        bench.apply(builder.position(1, north: 0), offset: 2)
        bench.apply(builder.position(2, north: 50_000), offset: 3)
        #expect(held(bench) == 3)
        bench.saveAll()
        bench.changeOwner()
        bench.pump()
        #expect(held(bench) == nil)
        bench.answer = { _ in nil }
        _ = bench.shard.apply(builder.status(3, "near"), offset: 4, at: bench.instant)
        #expect(held(bench) == 4)
        // The next one bears it out: both are taken.
        bench.apply(builder.position(4, north: 50_050), offset: 5)
        #expect(bench.shard.decisions[.implausible] == 0)
    }

    @Test("A batch that the store did not take is taken again with all that it had")
    func failedSave() {
        let bench = begun()
        bench.apply(builder.status(1, "near"), offset: 2)
        bench.shard.saveHeld(source: 0, appliedAtOrBefore: bench.now)
        let count = bench.save(fails: true)
        #expect(count == 1)
        #expect(bench.shard.hasUnsaved)
        #expect(bench.save() == 1)
        #expect(!bench.shard.hasUnsaved)
    }

    @Test("The queue gives what a look at everybody gives", arguments: 0..<4)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = HoldQueue()
        var holds: [UInt32: [Int64]] = [:]
        var queued: Set<UInt32> = []
        var offset: Int64 = 0
        for _ in 0..<20_000 {
            offset += 1
            let index = UInt32.random(in: 0..<3_000, using: &random)
            switch Int.random(in: 0..<1_000, using: &random) {
            case 0..<600:
                holds[index, default: []].append(offset)
                if queued.insert(index).inserted { queue.add(offset: offset, index: index) }
            case 600..<995:
                // The oldest goes first: what an activity holds only rises.
                holds[index] = Array((holds[index] ?? []).dropFirst(2))
            default:
                let found = queue.smallest {
                    holds[$0]?.first.map { Held(offset: $0, appliedAtMilliseconds: 0) }
                } left: {
                    queued.remove($0)
                }
                #expect(found?.offset == holds.values.compactMap(\.first).min(), "seed \(seed)")
            }
        }
    }
}
