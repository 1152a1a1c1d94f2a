import LiveActivities
import Pacing
import Telemetry
import Testing

@testable import Flow

@Suite("A member that loses a partition")
struct MemberLossTests {
    private func begun() -> (GroupBench, GroupBench.Seat) {
        let bench = GroupBench()
        let seat = bench.join("a")
        bench.pass(300)
        bench.begin("ride")
        bench.pass(300)
        return (bench, seat)
    }

    @Test("because it stood still: another has it within the lease, and tells what was not told, above the bound")
    func frozen() {
        let (bench, first) = begun()
        bench.status("ride", "near")
        first.isFrozen = true
        let second = bench.join("b")
        bench.pass(9_000)
        #expect(bench.owned(by: second).isEmpty)
        bench.pass(1_500)
        #expect(bench.owned(by: second) == [0])
        bench.status("ride", "there")
        bench.pass(1_000)
        #expect(bench.statuses(of: "ride") == ["near", "there"])
        #expect((bench.sequences(of: "ride").last ?? 0) > 64)
        // It comes back: nothing of what it still has leaves, or is written.
        let kept = bench.store.partitions[0]?.checkpoints
        first.isFrozen = false
        bench.status("ride", "gone")
        bench.pass(1_000)
        #expect(bench.pushes.map(\.member) == ["a", "b", "b"])
        #expect(kept?.count == bench.store.partitions[0]?.checkpoints.count)
        #expect(first.member.counts.partitionsLost == 1)
    }

    @Test("sends nothing after two thirds of the lease, and forgets it at the end of it")
    func selfFencing() {
        let (bench, first) = begun()
        bench.pass(2_000)
        first.isHeard = false
        let last = bench.now
        bench.pass(4_000)
        bench.status("ride", "near")
        #expect(bench.pushes.count == 1)
        #expect(first.member.isReading(0))
        bench.pass(2_700)
        bench.status("ride", "there")
        bench.pass(100)
        #expect(bench.pushes.count == 1)
        bench.pass(3_300)
        #expect(!first.member.isReading(0))
        #expect(first.member.notices.contains(.lapsed(partition: 0)))
        #expect(bench.now - last > 10_000)
        #expect(bench.store.partitions[0]?.owner == "a")
    }

    @Test("that comes back in time sends what waited")
    func comesBack() {
        let (bench, first) = begun()
        first.isHeard = false
        bench.pass(7_500)
        bench.status("ride", "near")
        #expect(bench.pushes.isEmpty)
        first.isHeard = true
        bench.pass(200)
        #expect(bench.statuses(of: "ride") == ["near"])
        #expect(first.member.counts.partitionsLost == 0)
    }

    @Test(
        "is told so wherever it asks, and takes it anew with what the store keeps",
        arguments: ["renew", "save", "load", "loadDue"])
    func lostAt(stage: String) throws {
        let (bench, first) = begun()
        // As if somebody had taken it and let go of it.
        bench.store.partitions[0]?.epoch += 1
        bench.store.fault = { ScriptedStore.name($0) == stage ? nil : $0.isAboutOwned ? .unavailable : nil }
        bench.status(stage == "load" ? "other" : "ride", "near")
        bench.pass(5_000)
        #expect(
            first.member.notices.contains {
                if case .lost(0, FencedStage(rawValue: stage) ?? .load) = $0 { true } else { false }
            })
        bench.store.fault = { _ in nil }
        bench.pass(1_000)
        #expect(first.member.counts.partitionsLost == 1)
        #expect(bench.owned(by: first) == [0])
        bench.status("ride", "there")
        bench.pass(100)
        #expect(bench.statuses(of: "ride").last == "there")
        #expect((bench.sequences(of: "ride").last ?? 0) > 64)
    }

    @Test("does not apply batches that were prepared before: their activities would begin at number 1")
    func preparedBefore() {
        let (bench, first) = begun()
        let identifier = Array("ride".utf8)
        let ticket = identifier.withUnsafeBytes { bytes in
            first.member.prepare(1, partition: 0, at: bench.moment) { _ in (bytes, false) }
        }
        #expect(first.member.isPrepared(ticket))
        bench.store.partitions[0]?.epoch += 1
        bench.pass(3_000)
        #expect(first.member.counts.partitionsLost == 1)
        #expect(bench.owned(by: first) == [0])
        #expect(!first.member.isPrepared(ticket))
        first.member.finish(ticket)
    }

    @Test("ignores records of a partition that it does not read")
    func notRead() {
        let bench = GroupBench()
        let seat = bench.join("a")
        seat.isHeard = false
        bench.turn()
        let identifier = Array("ride".utf8)
        identifier.withUnsafeBytes { bytes in
            let event = Event(
                kind: .status, isForSubject: false, identifier: bytes, timestampMilliseconds: bench.now,
                eventIdentifierHash: 0, position: .none, detail: nil)
            #expect(seat.member.apply(event, partition: 0, offset: 7, at: bench.moment).isEmpty)
        }
        seat.member.countDeadLetter(partition: 0, offset: 8, at: bench.moment)
        #expect(seat.member.readAfter(partition: 0, source: 0) == nil)
        #expect(seat.lane.eachShard.allSatisfy { $0.activityCount == 0 && $0.decisions.activityEvents == 0 })
    }

    @Test("Answers of a former ownership, or that come twice, change nothing")
    func lateAnswers() {
        let (bench, first) = begun()
        first.isHeard = false
        bench.status("ride", "near")
        bench.pass(3_000)
        let late = first.underWay
        #expect(late.contains { ScriptedStore.name($0.request) == "renew" })
        first.underWay = []
        bench.pass(8_000)
        #expect(!first.member.isReading(0))
        for (identifier, request) in late + late {
            let answer: StoreAnswer =
                switch request {
                case .renew: .renewed
                case .save: .saved
                case .beat: .alive(members: ["a"])
                default: .lost
                }
            first.member.answer(identifier, answer, at: bench.moment)
        }
        first.isHeard = true
        bench.pass(1_000)
        #expect(bench.owned(by: first) == [0])
        #expect(bench.statuses(of: "ride").last == "near")
    }
}

extension StoreRequest {
    /// Whether it is about a partition that its member owns.
    var isAboutOwned: Bool {
        switch self {
        case .beat, .leave, .claim: false
        case .renew, .release, .load, .loadDue, .save: true
        }
    }
}
