import Flow
import LiveActivities
import Pacing
import Telemetry

/// All that a seed decides before its world begins: how many activities, which settings, which faults are possible.
struct Scenario {
    let activities: Int
    let subjects: Int
    let partitions: Int
    let apps: [String]
    let linksPerPool: Int
    let streamsPerLink: Int
    /// How long records keep coming, on pacing's clock.
    let recordingMilliseconds: Int64
    /// Pacing's clock is a recording's, and runs so many times as fast as the real one; nil: live.
    let speed: Int64?
    /// How far the wall clock may be stepped; 0 never.
    let longestStepMilliseconds: Int64
    /// After the last record timers go on for so long before the recording counts as over.
    let lingerMilliseconds: Int64
    let pacing: PacingSettings
    let reactions: ReactionTable
    /// How long the provider usually takes.
    let answerMilliseconds: ClosedRange<Int64>
    /// Of the requests, so many meet a fault that is theirs alone.
    let faultPercent: Int
    /// Few kinds at a time find more than all at once: a fault that hides another one is absent now and then.
    let faults: Set<Fault>
    /// Those that may strike a single request.
    let requestFaults: [Fault]
    /// Positions come in another order beside other records than they were published in: lives then have no end.
    let splitsKinds: Bool
    /// A new owner has forgotten what was suppressed: what only a memory of it would see through is left out.
    let isForGroup: Bool
    /// Nil where no activity is begun through a user, and none replaces another.
    let tokens: TokenScenario?

    /// - Parameter isForGroup: several members share the work, each with its own clock: what none of them could set right is left out.
    init(_ random: inout SplitMix, isForGroup: Bool = false) {
        self.isForGroup = isForGroup
        splitsKinds = isForGroup && random.chance(percent: 15)
        activities = 1 + random.below(isForGroup ? 4 : 3)
        subjects = !splitsKinds && random.chance(percent: 25) ? 1 : 0
        partitions = 1 + random.below(isForGroup ? 3 : 2)
        apps = !splitsKinds && random.chance(percent: 20) ? ["one", "two"] : ["one"]
        linksPerPool = 1 + random.below(2)
        streamsPerLink = random.pick([1, 2, 10])
        recordingMilliseconds = isForGroup ? random.between(30_000, 200_000) : random.between(60_000, 500_000)
        speed = !isForGroup && random.chance(percent: 25) ? random.pick([1, 5, 20]) : nil
        // What an owner stamped last is lost with it: clocks that differ by more than a lease would make phones drop what the next one says.
        let steps: [Int64] = isForGroup ? [1_500] : [1_500, 10_000, 45_000, 3_600_000]
        longestStepMilliseconds = speed == nil && random.chance(percent: 40) ? random.pick(steps) : 0
        lingerMilliseconds = random.chance(percent: 50) ? 0 : 1_200_000
        var pacing = Scenario.pacing(&random, longestStepMilliseconds: longestStepMilliseconds)
        if isForGroup { pacing.maxActivityLifeMilliseconds = nil }
        self.pacing = pacing
        reactions = Scenario.reactions(&random, isForGroup: isForGroup)
        answerMilliseconds = random.chance(percent: 30) ? 500...6_000 : 15...120
        faultPercent = random.pick([0, 20, 50, 80])
        var faults: Set<Fault> = []
        for fault in Fault.allCases where random.chance(percent: 50) { faults.insert(fault) }
        if splitsKinds { faults.remove(.restarted) }
        self.faults = faults
        requestFaults = Fault.ofPushes.filter { faults.contains($0) }
        // Drawn apart, so that all else of a world is what it was.
        var own = SplitMix(seed: UInt64(recordingMilliseconds) &* 0x9E37_79B9_7F4A_7C15)
        tokens = isForGroup ? nil : TokenScenario(&own, recordingMilliseconds: recordingMilliseconds)
    }

    private static func pacing(_ random: inout SplitMix, longestStepMilliseconds: Int64) -> PacingSettings {
        var pacing = PacingSettings.defaults
        pacing.accuracyAware = random.chance(percent: 30)
        pacing.minIntervalMilliseconds = random.pick([0, 2_000, 15_000, 15_000])
        pacing.profile = random.pick([.auto, .standard, .frequent, .unlimited])
        pacing.refresh = random.chance(percent: 70)
        if random.chance(percent: 40) {
            pacing.staleAfterMilliseconds = 60_000
            pacing.refreshLeadMilliseconds = 15_000
        }
        pacing.maxActivityLifeMilliseconds = random.chance(percent: 15) ? 240_000 : nil
        if random.chance(percent: 10) { pacing.positionFields = [] }
        if longestStepMilliseconds > 10_000 {
            // A wall clock that is wrong by so much would make honest positions look old or early.
            pacing.maxAgeMilliseconds = 100 * 86_400_000
            pacing.maxFutureMilliseconds = 100 * 86_400_000
        }
        return pacing
    }

    private static func reactions(_ random: inout SplitMix, isForGroup: Bool) -> ReactionTable {
        var reactions = ReactionTable()
        if isForGroup || random.chance(percent: 60) {
            reactions.serverErrorHoldMilliseconds = random.pick([5_000, 60_000])
            reactions.longestHoldMilliseconds = isForGroup ? 60_000 : 600_000
        }
        return reactions
    }
}
