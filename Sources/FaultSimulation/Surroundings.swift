import Flow
import Pacing
import Telemetry

/// What is around the engine in every world: producers, a provider and phones, under one seeded order of things.
protocol Surroundings {
    var scenario: Scenario { get }
    var script: Script { get }
    var random: SplitMix { get set }
    var agenda: Agenda { get set }
    var provider: Provider { get set }
    var rides: [Ride] { get set }
    var subjectPositions: [Int: (position: Position, timestampMilliseconds: Int64)] { get set }
    var tokensReported: Int { get set }
    var faultsAreOver: Bool { get set }
    /// Pushes that have no answer so far.
    var requests: [UInt64: Request] { get set }
    /// By link: what the sender was told of its streams, and what is true.
    var toldStreams: [Int] { get set }
    var trueStreams: [Int] { get set }
    var coverage: Coverage { get set }
    var trace: Trace { get set }
    /// The activity that is being looked at, for the report of what breaks.
    var concerned: Int? { get set }
    var realMilliseconds: Int64 { get }
    var unixMilliseconds: Int64 { get }
    /// How long a life lasts at most, on pacing's clock; nil where time ends none.
    var lifeLimitMilliseconds: Int64? { get }
    /// False where a store has lost what numbers, stamps and starts rest on.
    var storeKeepsWrites: Bool { get }

    mutating func complete(_ request: UInt64, _ outcome: DispatchOutcome) throws(Broken)
    mutating func tell(streams: Int, link: Int)
    mutating func stepWall(byMilliseconds milliseconds: Int64)
}

/// A world that can be run to its end.
protocol JudgedWorld: Surroundings {
    var pushCount: Int { get }
    var crashes: CrashCoverage { get }

    mutating func run() throws(Broken)
    /// With everything settled: what is wrong, and with which activity.
    func verdict() -> (activity: Int?, broken: Broken)?
}

extension Surroundings {
    mutating func cover(_ fault: Fault, _ activity: Int) {
        coverage[fault, rides[activity].situation] += 1
    }

    mutating func note(_ activity: Int?, _ values: [Int64], _ text: @autoclosure () -> String) {
        trace.note(realMilliseconds, activity, values, text())
    }
}
