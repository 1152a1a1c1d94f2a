import Flow
import Pacing

/// What a seed decides about the members of a group and what befalls them.
struct GroupScenario {
    enum Upheaval: CaseIterable {
        case crash, pause, stop, join, crashAll
        case connectionLost, outage, refusal, slowness, failOver
        /// The coordinator cannot be reached, by one member or by all, though the store may be.
        case cutOff, coordinatorOutage

        static let ofCoordinator: [Upheaval] = [.cutOff, .coordinatorOutage]
    }

    let partitions: Int
    let sources: Int
    /// How many members there are at first, and at most.
    let members: Int
    let mostMembers: Int
    /// Positions have a source of their own, so that their order beside other records is nobody's promise.
    let splitsKinds: Bool
    let fetchCount: Int
    let storeMilliseconds: ClosedRange<Int64>
    let handOverMilliseconds: ClosedRange<Int64>
    let leaseMilliseconds: Int64
    let beatMilliseconds: Int64
    let drainTimeoutMilliseconds: Int64
    let maxUncommittedAgeMilliseconds: Int64
    let maxUncommittedRecords: Int64
    let maxActivities: Int
    /// How far a member's wall clock may be off when it begins.
    let wallErrorMilliseconds: Int64
    /// Few kinds at a time find more than all at once.
    let upheavals: [Upheaval]
    let upheavalCount: Int
    /// Of a hundred records, so many are bytes that no decoder takes.
    let poisonPercent: Int
    /// Fails over to a store that lacks the newest writes: what rests on them alone is not promised then.
    let losesWrites: Bool
    /// Whether a coordinator spreads partitions over the members; in each round all of them, or what moves.
    let isAssigned: Bool
    let isEager: Bool
    let sessionMilliseconds: Int64
    /// So long the group waits for what it wants back.
    let releaseMilliseconds: Int64
    let commitMilliseconds: Int64
    let coordinatorMilliseconds: ClosedRange<Int64>

    init(_ scenario: Scenario, _ random: inout SplitMix) {
        partitions = scenario.partitions
        splitsKinds = scenario.splitsKinds
        sources = splitsKinds || random.chance(percent: 30) ? 2 : 1
        members = 1 + random.below(3)
        mostMembers = 3
        fetchCount = random.pick([1, 3, 50])
        storeMilliseconds = random.pick([1...4, 1...40, 20...600])
        handOverMilliseconds = random.pick([0...0, 0...20, 0...300])
        leaseMilliseconds = 10_000
        beatMilliseconds = random.pick([500, 1_000])
        drainTimeoutMilliseconds = random.pick([300, 5_000])
        maxUncommittedAgeMilliseconds = random.pick([5_000, 30_000, 120_000])
        maxUncommittedRecords = random.pick([3, 20, 1_000_000])
        maxActivities = random.pick([1, 2, 1_000])
        wallErrorMilliseconds = scenario.longestStepMilliseconds > 0 ? 1_000 : 0
        losesWrites = random.chance(percent: 6)
        isAssigned = random.chance(percent: 50)
        isEager = random.chance(percent: 40)
        // Shorter and longer than a lease.
        sessionMilliseconds = random.pick([6_000, 10_000, 25_000])
        releaseMilliseconds = random.pick([4_000, 20_000, 60_000])
        commitMilliseconds = random.pick([1_000, 5_000])
        coordinatorMilliseconds = random.pick([1...20, 20...400, 100...3_000])
        let isAssigned = self.isAssigned
        var kinds = Upheaval.allCases.filter {
            $0 != .failOver && random.chance(percent: 45) && (isAssigned || !Upheaval.ofCoordinator.contains($0))
        }
        // Most of what can go wrong needs somebody who ends without a word, or who comes back when he is not expected.
        if random.chance(percent: 60) { kinds += [.crash, .pause] }
        if losesWrites { kinds.append(.failOver) }
        upheavals = kinds
        upheavalCount = kinds.isEmpty ? 0 : random.below(14)
        poisonPercent = random.pick([0, 0, 5])
    }

    /// How far the clocks of two members may differ: where they began, and two steps of each.
    var clockSpreadMilliseconds: Int64 { wallErrorMilliseconds == 0 ? 0 : 5_000 }
}
