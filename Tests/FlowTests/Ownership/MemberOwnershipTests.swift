import LiveActivities
import Pacing
import Telemetry
import Testing

@testable import Flow

@Suite("Members of a group share its partitions")
struct MemberOwnershipTests {
    @Test("One alone takes all of them")
    func alone() {
        let bench = GroupBench(partitions: 5)
        let only = bench.join("a")
        bench.pass(300)
        #expect(bench.owned(by: only) == [0, 1, 2, 3, 4])
        #expect(only.member.counts.partitionsClaimed == 5)
    }

    @Test("A second one is handed its half, a third its share; when one leaves, the others take what it had")
    func quota() {
        let bench = GroupBench(partitions: 12)
        let first = bench.join("a")
        bench.pass(1_000)
        let second = bench.join("b")
        bench.pass(2_000)
        #expect([first, second].map { bench.owned(by: $0).count } == [6, 6])
        let third = bench.join("c")
        bench.pass(2_000)
        #expect([first, second, third].map { bench.owned(by: $0).count } == [4, 4, 4])
        second.member.stop(at: bench.moment)
        bench.pass(2_000)
        #expect(second.member.isStopped)
        #expect([first, third].map { bench.owned(by: $0).count } == [6, 6])
        #expect(Set(bench.owned(by: first) + bench.owned(by: third)).count == 12)
        #expect([first, second, third].allSatisfy { $0.member.counts.partitionsLost == 0 })
    }

    @Test("Where it does not come out even the first ones by name have one more")
    func uneven() {
        let bench = GroupBench(partitions: 5)
        let seats = ["c", "b", "a"].map { bench.join($0) }
        bench.pass(5_000)
        #expect(seats.map { bench.owned(by: $0).count } == [1, 2, 2])
    }

    @Test("What was read, told and remembered goes on after a hand-over, number for number")
    func handOver() {
        let bench = GroupBench()
        let first = bench.join("b")
        bench.pass(300)
        bench.begin("ride")
        bench.status("ride", "near")
        bench.pass(2_000)
        bench.join("a")
        bench.pass(2_000)
        #expect(!first.member.isReading(0))
        bench.status("ride", "near")
        bench.status("ride", "there")
        bench.pass(2_000)
        #expect(bench.statuses(of: "ride") == ["near", "there"])
        #expect(bench.sequences(of: "ride") == [1, 2])
        #expect(bench.pushes.map(\.member) == ["b", "a"])
        #expect(bench.store.partitions[0]?.positions == [SettledPosition(offset: 4, records: 4)])
    }

    @Test("An update under way is waited for before the partition goes")
    func drains() {
        let bench = GroupBench()
        let first = bench.join("b")
        bench.pass(300)
        bench.begin("ride")
        bench.answer = { _ in nil }
        bench.status("ride", "near")
        bench.join("a")
        bench.pass(2_000)
        #expect(!first.member.isReading(0))
        #expect(bench.store.partitions[0]?.owner == "b")
        bench.answerAll()
        bench.pass(500)
        #expect(bench.store.partitions[0]?.owner == "a")
        #expect(bench.sequences(of: "ride") == [1])
        #expect(first.member.counts.drainsCutShort == 0)
    }

    @Test("but not for ever: then the next owner tells it again, under the next number")
    func drainsCutShort() {
        let bench = GroupBench()
        let first = bench.join("b")
        bench.pass(300)
        bench.begin("ride")
        bench.answer = { _ in nil }
        bench.status("ride", "near")
        bench.join("a")
        bench.answer = { _ in ProviderAnswer(status: 200) }
        bench.pass(8_000)
        #expect(first.member.counts.drainsCutShort == 1)
        #expect(bench.statuses(of: "ride") == ["near", "near"])
        #expect(bench.sequences(of: "ride") == [1, 2])
        // The answer that comes at last is nobody's.
        bench.answerAll()
        bench.pass(1_000)
        #expect(bench.pushes.count == 2)
    }

    @Test("One free partition among very many is found within two seconds")
    func needle() {
        let bench = GroupBench(partitions: 400)
        let first = bench.join("a")
        bench.join("b")
        bench.pass(4_000)
        #expect(bench.owned(by: first).count == 200)
        // The store forgets whose this one is; its owner is told so when it renews.
        let lost = bench.owned(by: first)[100]
        bench.store.partitions[lost]?.owner = nil
        bench.store.partitions[lost]?.epoch += 1
        bench.pass(2_600 + 2_000)
        #expect(bench.owned(by: first).count == 200)
    }

    @Test("A member that stops lets go of what it is given too late")
    func claimedTooLate() {
        let bench = GroupBench()
        let seat = bench.join("a")
        seat.isHeard = false
        bench.turn()
        seat.isHeard = true
        // Its claim is answered after it was told to stop.
        var isFirst = true
        bench.store.fault = { request in
            if case .claim = request, isFirst {
                isFirst = false
                seat.member.stop(at: bench.moment)
            }
            return nil
        }
        bench.pass(1_000)
        #expect(seat.member.isStopped)
        #expect(bench.store.partitions[0]?.owner == nil)
        #expect(bench.store.members.isEmpty)
    }
}
