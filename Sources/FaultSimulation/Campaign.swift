/// Many seeds: what they found, and how much of what can happen they met.
public struct Campaign: Sendable {
    public private(set) var seeds = 0
    public private(set) var pushes = 0
    public private(set) var coverage = Coverage()
    public private(set) var crashes = CrashCoverage()
    /// In the order of seeds.
    public private(set) var failures: [Failure] = []
    /// Failures beyond are counted only.
    public static let mostFailuresKept = 20
    public private(set) var failureCount = 0

    public init() {}

    public mutating func add(_ run: Simulation.Run) {
        seeds += 1
        pushes += run.pushes
        coverage.add(run.coverage)
        crashes.add(run.crashes)
        guard let failure = run.failure else { return }
        failureCount += 1
        failures.append(failure)
        failures.sort { $0.seed < $1.seed }
        if failures.count > Campaign.mostFailuresKept { failures.removeLast() }
    }

    public mutating func add(_ other: Campaign) {
        seeds += other.seeds
        pushes += other.pushes
        coverage.add(other.coverage)
        crashes.add(other.crashes)
        failureCount += other.failureCount
        failures = Array((failures + other.failures).sorted { $0.seed < $1.seed }.prefix(Campaign.mostFailuresKept))
    }

    /// What was found and met, for people; failures describe themselves.
    public var summary: [String] {
        ["\(seeds) seeds, \(pushes) pushes, \(failureCount) with a broken promise", ""] + coverage.lines + [""]
            + crashes.lines
    }

    /// Runs seeds one after another. Parts that ran beside one another add up to the same as one run.
    ///
    /// - Parameter untilFailure: ends after the first failure.
    public static func run(
        _ seeds: some Sequence<UInt64>, defect: String? = nil, untilFailure: Bool = false
    ) -> Campaign {
        var campaign = Campaign()
        for seed in seeds {
            campaign.add(Simulation.run(seed: seed, defect: defect))
            if untilFailure, campaign.failureCount > 0 { break }
        }
        return campaign
    }
}
