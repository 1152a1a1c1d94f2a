import LiveActivities
import Pacing
import Testing

@testable import Flow

@Suite("A member whose partitions are assigned to it")
struct MemberAssignmentTests {
    private func join(_ bench: GroupBench, _ name: String) -> GroupBench.Seat {
        bench.join(name) { $0.isAssigned = true }
    }

    @Test("takes those and no others, and spreads nothing")
    func assigned() {
        let bench = GroupBench(partitions: 4)
        let seats = ["a", "b"].map { join(bench, $0) }
        bench.pass(5_000)
        #expect(seats.allSatisfy { bench.owned(by: $0).isEmpty })
        for number: Int32 in [0, 1, 2] { seats[0].member.assign(number) }
        seats[1].member.assign(3)
        bench.pass(5_000)
        #expect(seats.map { bench.owned(by: $0) } == [[0, 1, 2], [3]])
        #expect(bench.store.members.isEmpty)
    }

    @Test("What is revoked is saved and given back, and the others go on")
    func revoked() {
        let bench = GroupBench(partitions: 2)
        let seats = ["a", "b"].map { join(bench, $0) }
        seats[0].member.assign(0)
        seats[0].member.assign(1)
        bench.pass(300)
        bench.begin("ride")
        bench.status("ride", "near")
        bench.begin("other", partition: 1)
        bench.pass(1_000)
        seats[0].member.revoke(0, at: bench.moment)
        #expect(!seats[0].member.isFree(0))
        bench.status("other", "near", partition: 1)
        bench.pass(1_000)
        #expect(seats[0].member.isFree(0))
        #expect(bench.statuses(of: "other") == ["near"])
        seats[1].member.assign(0)
        bench.pass(300)
        #expect(bench.owned(by: seats[1]) == [0])
        bench.status("ride", "near")
        bench.status("ride", "there")
        bench.pass(10_000)
        #expect(bench.statuses(of: "ride") == ["near", "there"])
        #expect(seats.allSatisfy { $0.member.counts.partitionsLost == 0 })
    }

    @Test("A revoked partition waits for what is under way, and is not free before")
    func drains() {
        let bench = GroupBench()
        let seat = join(bench, "a")
        seat.member.assign(0)
        bench.pass(300)
        bench.begin("ride")
        bench.answer = { _ in nil }
        bench.status("ride", "near")
        bench.pass(300)
        seat.member.revoke(0, at: bench.moment)
        bench.pass(1_000)
        #expect(!seat.member.isFree(0))
        bench.answerAll()
        bench.pass(300)
        #expect(seat.member.isFree(0))
        #expect(seat.member.counts.drainsCutShort == 0)
    }

    @Test(
        "Of what is lost nothing leaves any more, nothing is waited for, and what is known is saved before its lease is given back"
    )
    func lost() {
        let bench = GroupBench()
        let seats = ["a", "b"].map { join(bench, $0) }
        seats[0].member.assign(0)
        bench.pass(300)
        bench.begin("ride")
        bench.answer = { _ in nil }
        bench.status("ride", "near")
        bench.pass(300)
        let saves = seats[0].member.counts.savesAcknowledged
        bench.status("ride", "here")
        let pushes = bench.pushes.count
        seats[0].member.lose(0, at: bench.moment)
        bench.pass(300)
        #expect(seats[0].member.isFree(0))
        #expect(seats[0].member.counts.savesAcknowledged > saves)
        #expect(bench.pushes.count == pushes)
        #expect(seats[0].member.counts.partitionsLost == 1)
        bench.answer = { _ in ProviderAnswer(status: 200) }
        seats[1].member.assign(0)
        bench.pass(300)
        #expect(bench.owned(by: seats[1]) == [0])
        bench.pass(10_000)
        #expect(bench.statuses(of: "ride").last == "here")
        let numbers = bench.pushes.map(\.update.sequence)
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
        let stamps = bench.pushes.map(\.update.timestampSeconds)
        #expect(stamps == stamps.sorted() && Set(stamps).count == stamps.count)
    }

    @Test("A lease that another member still holds is waited for: two never send for one partition")
    func held() {
        let bench = GroupBench()
        let frozen = join(bench, "a")
        frozen.member.assign(0)
        bench.pass(300)
        frozen.isFrozen = true
        let next = join(bench, "b")
        next.member.assign(0)
        bench.pass(5_000)
        #expect(bench.owned(by: next).isEmpty)
        bench.pass(6_000)
        #expect(bench.owned(by: next) == [0])
        frozen.isFrozen = false
        bench.pass(5_000)
        #expect(bench.owned(by: frozen).isEmpty)
        #expect(bench.owned(by: next) == [0])
    }

    @Test("One that is revoked while it is being claimed is given back at once")
    func revokedEarly() {
        let bench = GroupBench()
        let seat = join(bench, "a")
        seat.isHeard = false
        seat.member.assign(0)
        bench.pass(300)
        #expect(!seat.member.isFree(0))
        seat.member.revoke(0, at: bench.moment)
        seat.isHeard = true
        bench.pass(300)
        #expect(seat.member.isFree(0))
        #expect(bench.store.partitions[0]?.owner == nil)
    }

    @Test("A store that does not answer is asked again, as long as the partition is assigned")
    func storeFails() {
        let bench = GroupBench()
        bench.store.fault = { _ in .unavailable }
        let seat = join(bench, "a")
        seat.member.assign(0)
        bench.pass(5_000)
        #expect(bench.owned(by: seat).isEmpty)
        bench.store.fault = { _ in nil }
        bench.pass(2_000)
        #expect(bench.owned(by: seat) == [0])
    }

    @Test(
        "A lease that ends because the store takes no writes is asked for again, as long as the partition is assigned")
    func lapses() {
        let bench = GroupBench()
        let seat = join(bench, "a")
        seat.member.assign(0)
        bench.pass(1_000)
        bench.store.fault = { _ in .refusesWrites }
        bench.pass(15_000)
        #expect(bench.owned(by: seat).isEmpty)
        bench.store.fault = { _ in nil }
        bench.pass(2_000)
        #expect(bench.owned(by: seat) == [0])
    }

    @Test("What a store forgets that owners before had written is read once more")
    func forgottenOfOthers() {
        let bench = GroupBench()
        let seats = ["a", "b"].map { join(bench, $0) }
        seats[0].member.assign(0)
        bench.pass(300)
        bench.begin("ride")
        bench.status("ride", "near")
        bench.pass(1_000)
        let former = bench.store.partitions
        bench.status("ride", "there")
        bench.pass(1_000)
        seats[0].member.revoke(0, at: bench.moment)
        bench.pass(1_000)
        seats[1].member.assign(0)
        bench.pass(1_000)
        #expect(bench.owned(by: seats[1]) == [0])
        bench.store.partitions = former
        bench.store.partitions[0]?.owner = nil
        bench.pass(15_000)
        #expect(bench.owned(by: seats[1]) == [0])
        // The store says that the phone shows the one before.
        #expect(bench.statuses(of: "ride") == ["near", "there", "there"])
        #expect(bench.store.partitions[0]?.positions.first??.offset == 3)
    }

    @Test("Memory outlives a store that was emptied, where reading would go on behind what is in it")
    func emptiedStore() {
        let bench = GroupBench()
        let seats = ["a", "b"].map { name in
            bench.join(name) { ($0.isAssigned, $0.keepsMemoryOfEmptiedStore) = (true, true) }
        }
        seats[0].member.assign(0)
        bench.pass(300)
        bench.begin("ride")
        bench.status("ride", "near")
        bench.pass(1_000)
        seats[0].member.revoke(0, at: bench.moment)
        bench.pass(1_000)
        seats[1].member.assign(0)
        bench.pass(1_000)
        bench.status("ride", "there")
        bench.pass(1_000)
        bench.store.partitions = [:]
        bench.pass(15_000)
        #expect(bench.owned(by: seats[1]) == [0])
        #expect(seats[1].member.counts.partitionsClaimed == 1)
        #expect(bench.store.partitions[0]?.positions.first??.offset == 3)
        bench.status("ride", "done")
        bench.pass(1_000)
        #expect(bench.statuses(of: "ride") == ["near", "there", "done"])
    }

    @Test("Who stops hands all over, and takes nothing that is still assigned")
    func stops() {
        let bench = GroupBench(partitions: 2)
        let seat = join(bench, "a")
        seat.member.assign(0)
        seat.member.assign(1)
        bench.pass(300)
        seat.member.stop(at: bench.moment)
        bench.pass(1_000)
        #expect(seat.member.isStopped)
        #expect(bench.store.partitions.values.allSatisfy { $0.owner == nil })
    }

    @Test("What is lost is written to a store that has forgotten it, and given back")
    func lostAndForgotten() {
        let bench = GroupBench()
        let seat = join(bench, "a")
        seat.member.assign(0)
        bench.pass(300)
        bench.begin("ride")
        bench.pass(1_000)
        bench.store.partitions = [:]
        seat.member.lose(0, at: bench.moment)
        bench.pass(5_000)
        #expect(seat.member.isFree(0))
        #expect(bench.owned(by: seat).isEmpty)
        #expect(bench.store.partitions[0]?.owner == nil)
        #expect(bench.store.partitions[0]?.checkpoints.count == 1)
    }
}
