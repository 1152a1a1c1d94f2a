import Flow
import Pacing

/// The deterministic fault simulation: the real lane with its pacing and its reactions, in worlds that seeds invent.
public enum Simulation {
    /// What one seed gave.
    public struct Run: Sendable {
        public let seed: UInt64
        /// Over all that happened: two runs of a seed give the same.
        public let traceHash: UInt64
        public let coverage: Coverage
        public let crashes: CrashCoverage
        public let pushes: Int
        public let failure: Failure?
    }

    /// Names of the defects that can be planted; none in a release build, which contains none of them.
    public static var defects: [String] {
        #if PLANTED_DEFECTS
            PlantedDefect.allCases.map(\.rawValue) + SharedStore.Defect.allCases.map(\.rawValue)
                + [GroupCoordinator.defect]
        #else
            []
        #endif
    }

    /// Runs the world of a seed to its end.
    ///
    /// - Parameter defect: one of `defects`, planted into the engine; nil for the engine as it is.
    public static func run(seed: UInt64, defect: String? = nil) -> Run {
        let run = run(seed: seed, defect: defect, keepsTrace: false)
        // Only who reads it pays for it: the same world once more, with its trace.
        return run.failure == nil ? run : self.run(seed: seed, defect: defect, keepsTrace: true)
    }

    /// Half of the seeds make a world of one lane, the others one of several members.
    static func isForGroup(_ seed: UInt64) -> Bool {
        var random = SplitMix(seed: ~seed)
        return random.chance(percent: 50)
    }

    private static func run(seed: UInt64, defect: String?, keepsTrace: Bool) -> Run {
        if isForGroup(seed) {
            var world = GroupWorld(seed: seed, defect: defect, keepsTrace: keepsTrace)
            return run(&world, seed: seed, defect: defect)
        }
        var world = World(seed: seed, defect: defect, keepsTrace: keepsTrace)
        return run(&world, seed: seed, defect: defect)
    }

    private static func run(_ world: inout some JudgedWorld, seed: UInt64, defect: String?) -> Run {
        var found: (activity: Int?, broken: Broken)?
        do throws(Broken) {
            try world.run()
            found = world.verdict()
        } catch {
            found = (world.concerned, error)
        }
        let failure = found.map { found in
            Failure(
                seed: seed, defect: defect, promise: found.broken.promise, explanation: found.broken.explanation,
                activity: found.activity.map { world.script.names.texts[$0] },
                trace: world.trace.lines(of: found.activity))
        }
        return Run(
            seed: seed, traceHash: world.trace.hash, coverage: world.coverage, crashes: world.crashes,
            pushes: world.pushCount, failure: failure)
    }

    static func plant(_ defect: String?, in settings: inout ShardSettings) {
        guard let defect else { return }
        #if PLANTED_DEFECTS
            settings.plantedDefect = PlantedDefect(rawValue: defect)
            precondition(defects.contains(defect), "no defect is called \(defect): \(defects)")
        #else
            preconditionFailure("a release build contains no defects to plant: \(defect)")
        #endif
    }
}

/// A promise that a seed saw broken, with all that is needed to look into it.
public struct Failure: Sendable, CustomStringConvertible {
    public let seed: UInt64
    public let defect: String?
    public let promise: Promise
    public let explanation: String
    /// Nil where it concerns all of them.
    public let activity: String?
    /// What happened to that activity, in order.
    public let trace: [String]

    public var description: String {
        let planted = defect.map { " with \($0) planted" } ?? ""
        return """
            seed \(seed)\(planted): broken: \(promise.text)
            \(activity.map { $0 + ": " } ?? "")\(explanation)
            \(trace.map { "  " + $0 }.joined(separator: "\n"))
            replay: waypulse simulate faults --seeds 1 --from \(seed)\(defect.map { " --defect \($0)" } ?? "")
            """
    }
}
