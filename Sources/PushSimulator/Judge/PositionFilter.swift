import Telemetry

/// Which positions may be believed: the rules that a pacing promises, written once more and as plainly as can be.
public struct SanityRules: Sendable {
    public var maxAccuracyMeters = 200.0
    public var maxSpeedMetersPerSecond = 100.0
    public var reanchorAfterMilliseconds: Int64 = 120_000
    public var maxAgeMilliseconds: Int64 = 3_600_000
    public var maxFutureMilliseconds: Int64 = 60_000
    public var allowsNullIsland = false

    public init() {}
}

/// The positions of one activity, or of a subject.
struct PositionFilter: Sendable {
    struct Fix: Sendable {
        let coordinate: Coordinate
        let timestampMilliseconds: Int64
        let accuracyMeters: Double
        let contentState: JSONObject?
    }

    /// Nil believes everything that is not older.
    let rules: SanityRules?
    private(set) var taken: Fix?
    private var held: Fix?

    init(rules: SanityRules?, startingAt fix: Fix? = nil) {
        self.rules = rules
        taken = fix
    }

    /// - Returns: what may be believed now, in order: nothing, the fix, or the one held aside and the fix.
    mutating func take(_ fix: Fix, nowMilliseconds: Int64) -> [Fix] {
        let newest = max(taken?.timestampMilliseconds ?? .min, held?.timestampMilliseconds ?? .min)
        guard fix.timestampMilliseconds > newest else { return [] }
        guard let rules else { return accept([fix]) }
        guard PositionFilter.isUsable(fix, rules: rules, nowMilliseconds: nowMilliseconds) else { return [] }
        guard let taken, !isPlausible(fix, after: taken, rules: rules) else { return accept([fix]) }
        if fix.timestampMilliseconds - taken.timestampMilliseconds > rules.reanchorAfterMilliseconds {
            return accept([fix])
        }
        if let held, isPlausible(fix, after: held, rules: rules) { return accept([held, fix]) }
        held = fix
        return []
    }

    /// Whether a position is fit to be believed at all, whatever came before it.
    static func isUsable(_ fix: Fix, rules: SanityRules, nowMilliseconds: Int64) -> Bool {
        let isNullIsland = fix.coordinate.latitude == 0 && fix.coordinate.longitude == 0
        if isNullIsland, !rules.allowsNullIsland { return false }
        // An accuracy that is not given is NaN and passes.
        if fix.accuracyMeters > rules.maxAccuracyMeters { return false }
        let ageMilliseconds = nowMilliseconds - fix.timestampMilliseconds
        return ageMilliseconds >= -rules.maxFutureMilliseconds && ageMilliseconds <= rules.maxAgeMilliseconds
    }

    private mutating func accept(_ fixes: [Fix]) -> [Fix] {
        taken = fixes.last
        held = nil
        return fixes
    }

    private func isPlausible(_ fix: Fix, after last: Fix, rules: SanityRules) -> Bool {
        let seconds = max(1, Double(fix.timestampMilliseconds - last.timestampMilliseconds) / 1_000)
        return fix.coordinate.distanceMeters(to: last.coordinate) / seconds <= rules.maxSpeedMetersPerSecond
    }
}
