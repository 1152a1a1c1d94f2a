/// Many seeds: what they found, and how much of what can happen they met.
public struct Campaign: Sendable {
    public private(set) var seeds = 0
    public private(set) var pushes = 0
    public private(set) var coverage = Coverage()
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
        failureCount += other.failureCount
        failures = Array((failures + other.failures).sorted { $0.seed < $1.seed }.prefix(Campaign.mostFailuresKept))
    }

    /// What was found and met, for people; failures describe themselves.
    public var summary: [String] {
        ["\(seeds) seeds, \(pushes) pushes, \(failureCount) with a broken promise", ""] + coverage.lines
    }

    /// Runs `count` seeds from `first` on, on as many tasks as `concurrency` says; the result does not depend on it.
    ///
    /// - Parameter untilFailure: ends soon after the first failure.
    public static func run(
        from first: UInt64 = 1, count: Int, defect: String? = nil, concurrency: Int = 2, untilFailure: Bool = false
    ) async -> Campaign {
        await withTaskGroup(of: Campaign.self) { group in
            for task in 0..<max(1, concurrency) {
                group.addTask {
                    var part = Campaign()
                    for seed in stride(from: task, to: count, by: max(1, concurrency)) {
                        part.add(Simulation.run(seed: first + UInt64(seed), defect: defect))
                        if untilFailure, part.failureCount > 0 { break }
                    }
                    return part
                }
            }
            return await group.reduce(into: Campaign()) { $0.add($1) }
        }
    }
}
