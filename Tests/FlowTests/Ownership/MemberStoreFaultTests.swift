import LiveActivities
import Pacing
import Telemetry
import Testing

@testable import Flow

@Suite("A member whose store is ill")
struct MemberStoreFaultTests {
    private func begun(_ change: (inout MemberSettings) -> Void = { _ in }) -> (GroupBench, GroupBench.Seat) {
        let bench = GroupBench()
        let seat = bench.join("a", change)
        bench.pass(300)
        bench.begin("ride")
        bench.pass(300)
        return (bench, seat)
    }

    @Test(
        "asks again, not over and over, and goes on when it is well",
        arguments: [StoreFailure.unavailable, .refusesWrites, .misconfigured])
    func outage(failure: StoreFailure) {
        let (bench, seat) = begun()
        let before = bench.store.asked.values.reduce(0, +)
        bench.store.fault = { _ in failure }
        bench.status("other", "near")
        bench.status("ride", "near")
        bench.pass(5_000)
        // Beats and four kinds of requests, each again after half a second.
        #expect(bench.store.asked.values.reduce(0, +) - before < 80)
        #expect(bench.pushes.isEmpty)
        bench.store.fault = { _ in nil }
        bench.pass(1_000)
        #expect(bench.statuses(of: "ride") == ["near"])
        #expect(seat.member.counts.partitionsLost == 0)
        #expect(seat.member.counts.storeFailures > 0)
    }

    @Test("that is full sends on as long as it has numbers, and then waits")
    func full() {
        let (bench, seat) = begun()
        bench.store.fault = { if case .save = $0 { .refusesWrites } else { nil } }
        for number in 0..<80 {
            bench.status("ride", "\(number)")
            bench.pass(6_000)
        }
        #expect(bench.sequences(of: "ride") == Array(1...64))
        bench.store.fault = { _ in nil }
        bench.pass(10_000)
        #expect(bench.statuses(of: "ride").last == "79")
        #expect(bench.sequences(of: "ride") == Array(1...65))
        #expect(seat.member.counts.partitionsLost == 0)
    }

    @Test("A save of which nobody knows whether it was done is made again")
    func unknownSave() {
        let (bench, _) = begun()
        var lost = 0
        bench.store.fault = { request in
            guard case .save = request, lost < 2 else { return nil }
            lost += 1
            return .unavailable
        }
        bench.status("ride", "near")
        bench.pass(5_000)
        #expect(lost == 2)
        #expect(bench.store.partitions[0]?.positions == [SettledPosition(offset: 2, records: 2)])
    }

    @Test("that cannot write at the end lets go all the same, and the next owner reads again")
    func cannotSaveLast() {
        let (bench, seat) = begun()
        bench.pass(1_000)
        bench.store.fault = { if case .save = $0 { .refusesWrites } else { nil } }
        bench.status("ride", "near")
        seat.member.stop(at: bench.moment)
        bench.pass(12_000)
        #expect(seat.member.isStopped)
        #expect(bench.store.partitions[0]?.owner == nil)
        bench.store.fault = { _ in nil }
        bench.remove(seat)
        bench.join("b")
        bench.pass(1_000)
        #expect(bench.statuses(of: "ride").last == "near")
    }

    @Test("asks again to be released, so that nobody waits for the lease")
    func release() {
        let (bench, seat) = begun()
        var failures = 0
        bench.store.fault = { request in
            guard case .release = request, failures < 2 else { return nil }
            failures += 1
            return .unavailable
        }
        seat.member.stop(at: bench.moment)
        bench.pass(3_000)
        #expect(failures == 2)
        #expect(seat.member.isStopped)
        #expect(bench.store.partitions[0]?.owner == nil)
        #expect(seat.member.counts.partitionsReleased == 1)
    }

    @Test("that is out of reach for good stops nevertheless, with the lease")
    func stopsWithoutStore() {
        let (bench, seat) = begun()
        bench.store.fault = { _ in .unavailable }
        bench.status("ride", "near")
        seat.member.stop(at: bench.moment)
        bench.pass(11_000)
        #expect(seat.member.isStopped)
        #expect(bench.turnsOfNow < 100)
    }

    @Test("A checkpoint that cannot be read is told of, and its activity begins anew")
    func unusable() throws {
        let (bench, seat) = begun()
        bench.remove(seat)
        let identifier = Array("ride".utf8)
        bench.store.partitions[0]?.checkpoints[identifier]?.bytes[3] ^= 1
        bench.pass(11_000)
        let next = bench.join("b")
        bench.pass(11_000)
        bench.status("ride", "near")
        #expect(
            next.member.notices.contains { notice in
                if case .checkpointUnusable(0, identifier, _) = notice { true } else { false }
            })
        #expect(bench.owned(by: next) == [0])
        #expect(bench.store.partitions[0]?.checkpoints[identifier] != nil)
    }
}
