import Pacing
import Testing

@testable import Flow

@Suite("Records that a member holds until somebody else has kept them")
struct MemberHoldTests {
    private func position(_ bench: GroupBench) -> Int64? { bench.store.partitions[0]?.positions[0]?.offset }

    @Test("No position passes them, and it goes on when all below are released")
    func held() {
        let bench = GroupBench()
        let seat = bench.join("a")
        bench.pass(300)
        bench.begin("ride")
        bench.pass(300)
        #expect(position(bench) == 1)
        let epoch = seat.member.epoch(of: 0)
        for offset: Int64 in [2, 4] { seat.member.hold(partition: 0, source: 0, offset: offset) }
        for status in ["near", "nearer", "there", "gone"] { bench.status("ride", status) }
        bench.pass(2_000)
        #expect(position(bench) == 1)
        // Not in the order in which they came: the smallest counts.
        seat.member.release(partition: 0, source: 0, offset: 4, epoch: epoch)
        bench.pass(2_000)
        #expect(position(bench) == 1)
        #expect(seat.member.holds(partition: 0, source: 0) == 1)
        seat.member.release(partition: 0, source: 0, offset: 2, epoch: epoch)
        bench.pass(60_000)
        #expect(position(bench) == 5)
    }

    @Test("They do not hold up a hand-over: the next owner reads them again")
    func handedOver() {
        let bench = GroupBench()
        let first = bench.join("a")
        bench.pass(300)
        bench.begin("ride")
        bench.pass(300)
        first.member.hold(partition: 0, source: 0, offset: 2)
        let epoch = first.member.epoch(of: 0)
        bench.status("ride", "near")
        bench.pass(2_000)
        first.member.stop(at: bench.moment)
        bench.pass(2_000)
        #expect(first.member.isStopped)
        #expect(position(bench) == 1)
        bench.remove(first)
        let second = bench.join("b")
        bench.pass(60_000)
        #expect(second.member.progress(partition: 0, source: 0).read?.offset == 2)
        #expect(position(bench) == 2)
        // A word that comes from the time before is of no account now.
        second.member.hold(partition: 0, source: 0, offset: 3)
        second.member.release(partition: 0, source: 0, offset: 3, epoch: epoch)
        #expect(second.member.holds(partition: 0, source: 0) == 1)
    }

    @Test("A log that was cut back holds nothing of what it lost")
    func rewound() {
        let bench = GroupBench()
        let seat = bench.join("a")
        bench.pass(300)
        bench.begin("ride")
        bench.pass(300)
        seat.member.hold(partition: 0, source: 0, offset: 1)
        seat.member.rewind(partition: 0, source: 0, to: SettledPosition(offset: 0, records: 0))
        #expect(seat.member.holds(partition: 0, source: 0) == 0)
    }

    @Test("A claim that the store forgot and gave again changes nothing: what was held before is released")
    func claimedAgain() {
        let bench = GroupBench()
        let seat = bench.join("a")
        bench.pass(300)
        bench.begin("ride")
        bench.pass(300)
        let epoch = seat.member.epoch(of: 0)
        seat.member.hold(partition: 0, source: 0, offset: 2)
        bench.status("ride", "near")
        bench.pass(2_000)
        bench.store.partitions = [:]
        bench.pass(5_000)
        #expect(seat.member.counts.storeSetbacks == 1)
        #expect(seat.member.epoch(of: 0) > epoch)
        #expect(position(bench) == 1)
        seat.member.release(partition: 0, source: 0, offset: 2, epoch: epoch)
        bench.pass(5_000)
        #expect(position(bench) == 2)
    }
}
