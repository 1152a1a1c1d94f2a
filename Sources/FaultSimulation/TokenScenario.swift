import Flow

/// What apps, their back ends and the registry of tokens do in a world in which activities are begun through the tokens of users.
struct TokenScenario {
    let budget: StartBudget
    /// How long the registry takes.
    let answerMilliseconds: ClosedRange<Int64>
    /// So many of its answers are that it is out of reach.
    let failurePercent: Int
    /// All users hold one phone: it gets its start token at this time of the recording, and others at these.
    let registrationMilliseconds: [Int64]

    init?(_ random: inout SplitMix, recordingMilliseconds: Int64) {
        guard random.chance(percent: 45) else { return nil }
        budget = StartBudget(
            starts: 1 + random.below(3), windowMilliseconds: random.pick([20_000, 60_000, 200_000] as [Int64]))
        answerMilliseconds = random.chance(percent: 30) ? 500...9_000 : 1...40
        failurePercent = random.pick([0, 10, 50])
        var times: [Int64] = []
        for _ in 0..<random.below(5) { times.append(random.between(0, recordingMilliseconds)) }
        registrationMilliseconds = times.sorted()
    }
}
