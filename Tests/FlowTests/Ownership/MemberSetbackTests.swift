import Pacing
import Testing

@testable import Flow

@Suite("A store that has forgotten what it called saved")
struct MemberSetbackTests {
    private func position(_ bench: GroupBench) -> Int64? { bench.store.partitions[0]?.positions[0]?.offset }

    @Test("is told again with the next save, and the next owner loses nothing")
    func save() {
        let bench = GroupBench()
        let first = bench.join("a")
        bench.begin("ride")
        bench.pass(1_000)
        let kept = bench.store.partitions
        bench.status("ride", "near")
        bench.begin("other")
        bench.pass(1_000)
        bench.store.partitions = kept
        bench.begin("third")
        bench.pass(1_000)
        #expect(first.member.counts.storeSetbacks == 1)
        #expect(position(bench) == 4)
        bench.remove(first)
        bench.join("b")
        bench.pass(15_000)
        bench.status("other", "far")
        bench.status("ride", "near")
        bench.pass(10_000)
        #expect(bench.statuses(of: "other").last == "far")
        #expect(bench.statuses(of: "ride") == ["near"])
    }

    @Test("is told again by whoever renews, though nothing happens any more")
    func renewal() {
        let bench = GroupBench()
        let first = bench.join("a")
        bench.pass(1_000)
        let kept = bench.store.partitions
        bench.begin("ride")
        bench.status("ride", "near")
        bench.pass(1_000)
        #expect(position(bench) == 2)
        bench.store.partitions = kept
        bench.pass(10_000)
        #expect(position(bench) == 2)
        #expect(bench.store.partitions[0]?.checkpoints.count == 1)
        #expect(first.member.counts.storeSetbacks == 1)
        #expect(first.member.notices.contains(.storeBehind(partition: 0)))
    }

    @Test("is told again before the partition is let go of")
    func release() {
        let bench = GroupBench()
        let first = bench.join("a")
        bench.pass(1_000)
        let kept = bench.store.partitions
        bench.begin("ride")
        bench.status("ride", "near")
        bench.pass(1_000)
        bench.store.fault = { request in
            guard case .release = request else { return nil }
            bench.store.partitions = kept
            bench.store.fault = { _ in nil }
            return nil
        }
        first.member.stop(at: bench.moment)
        bench.pass(1_000)
        #expect(first.member.isStopped)
        #expect(first.member.counts.storeSetbacks == 1)
        #expect(position(bench) == 2)
        #expect(bench.store.partitions[0]?.checkpoints.count == 1)
        bench.remove(first)
        bench.join("b")
        bench.pass(15_000)
        #expect(bench.statuses(of: "ride") == ["near"])
    }

    @Test("moves no position before all is there again")
    func order() {
        let bench = GroupBench()
        bench.join("a")
        for number in 0..<1_500 { bench.begin("ride-\(number)") }
        bench.pass(2_000)
        var kept = bench.store.partitions
        kept[0]?.checkpoints = [:]
        kept[0]?.positions = [nil]
        kept[0]?.serial = 0
        bench.store.partitions = kept
        bench.store.fault = { _ in
            if let partition = bench.store.partitions[0], partition.positions[0] != nil {
                #expect(partition.checkpoints.count == 1_500)
            }
            return nil
        }
        bench.pass(10_000)
        #expect(position(bench) == 1_500)
        #expect(bench.store.partitions[0]?.checkpoints.count == 1_500)
    }

    @Test("One that was emptied is given back all that is in memory, and whoever owned what goes on owning it")
    func emptied() {
        let bench = GroupBench(partitions: 4)
        let seats = ["a", "b"].map { bench.join($0) }
        bench.pass(3_000)
        let owned = seats.map { bench.owned(by: $0) }
        #expect(owned.map(\.count) == [2, 2])
        let rides = ["zero", "one", "two", "three"]
        for (number, ride) in rides.enumerated() { bench.begin(ride, partition: Int32(number)) }
        bench.pass(1_000)
        for (number, ride) in rides.enumerated() { bench.status(ride, "near", partition: Int32(number)) }
        bench.pass(1_000)
        bench.store.partitions = [:]
        bench.store.members = [:]
        bench.pass(2_000)
        #expect(seats.map { bench.owned(by: $0) } == owned)
        #expect(seats.allSatisfy { $0.member.counts.storeSetbacks == 2 && $0.member.counts.partitionsLost == 0 })
        #expect(
            bench.store.partitions.values.allSatisfy {
                $0.checkpoints.count == 1 && $0.positions.map { $0?.offset } == [2]
            })
        for (number, ride) in rides.enumerated() { bench.status(ride, "there", partition: Int32(number)) }
        bench.pass(30_000)
        #expect(rides.allSatisfy { bench.statuses(of: $0) == ["near", "there"] })
        let numbers = rides.map { ride in
            bench.pushes.filter { $0.update.activityIdentifier == ride }.map(\.update.sequence)
        }
        #expect(numbers.allSatisfy { $0 == $0.sorted() && Set($0).count == $0.count })
    }

    @Test("One that was emptied while a partition is handed over is told all of it first")
    func emptiedAtTheEnd() {
        let bench = GroupBench()
        let first = bench.join("a")
        bench.pass(1_000)
        bench.begin("ride")
        bench.status("ride", "near")
        bench.pass(1_000)
        bench.store.fault = { request in
            guard case .release = request else { return nil }
            bench.store.partitions = [:]
            bench.store.fault = { request in
                // Its last checkpoints promise no numbers: nothing may leave behind them.
                if case .save = request { #expect(first.lane.permit(of: 0).untilMilliseconds == .min) }
                return nil
            }
            return nil
        }
        first.member.stop(at: bench.moment)
        bench.pass(2_000)
        #expect(first.member.isStopped)
        #expect(first.member.counts.partitionsLost == 0)
        bench.remove(first)
        bench.join("b")
        bench.pass(1_000)
        bench.status("ride", "near")
        bench.pass(10_000)
        #expect(bench.statuses(of: "ride") == ["near"])
    }

    @Test("Where another has claimed a partition that was forgotten, it is that one's")
    func taken() {
        let bench = GroupBench()
        let first = bench.join("a")
        bench.pass(1_000)
        first.isHeard = false
        bench.store.partitions = [:]
        bench.store.members = [:]
        let second = bench.join("b")
        bench.pass(1_000)
        #expect(bench.owned(by: second) == [0])
        first.isHeard = true
        bench.pass(300)
        #expect(bench.owned(by: first).isEmpty || bench.owned(by: second).isEmpty)
        #expect(first.member.counts.partitionsLost == 1)
    }
}
