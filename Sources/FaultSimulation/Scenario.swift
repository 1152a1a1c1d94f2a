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

    init(_ random: inout SplitMix) {
        activities = 1 + random.below(3)
        subjects = random.chance(percent: 25) ? 1 : 0
        partitions = 1 + random.below(2)
        apps = random.chance(percent: 20) ? ["one", "two"] : ["one"]
        linksPerPool = 1 + random.below(2)
        streamsPerLink = random.pick([1, 2, 10])
        recordingMilliseconds = random.between(60_000, 500_000)
        speed = random.chance(percent: 25) ? random.pick([1, 5, 20]) : nil
        longestStepMilliseconds =
            speed == nil && random.chance(percent: 40) ? random.pick([1_500, 10_000, 45_000, 3_600_000]) : 0
        lingerMilliseconds = random.chance(percent: 50) ? 0 : 1_200_000
        pacing = Scenario.pacing(&random, longestStepMilliseconds: longestStepMilliseconds)
        reactions = Scenario.reactions(&random)
        answerMilliseconds = random.chance(percent: 30) ? 500...6_000 : 15...120
        faultPercent = random.pick([0, 20, 50, 80])
        var faults: Set<Fault> = []
        for fault in Fault.allCases where random.chance(percent: 50) { faults.insert(fault) }
        self.faults = faults
        requestFaults = Fault.ofPushes.filter { faults.contains($0) }
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

    private static func reactions(_ random: inout SplitMix) -> ReactionTable {
        var reactions = ReactionTable()
        if random.chance(percent: 60) {
            reactions.serverErrorHoldMilliseconds = random.pick([5_000, 60_000])
            reactions.longestHoldMilliseconds = 600_000
        }
        return reactions
    }
}
