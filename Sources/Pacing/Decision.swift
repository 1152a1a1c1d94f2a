/// How an activity event ended. Each ends in exactly one of these; until then it is pending.
public enum Decision: UInt8, CaseIterable, Sendable {
    case afterEnd, noFollower, unknownActivity, duplicate, outOfOrder
    case nullIsland, inaccurate, future, tooOld, implausible
    case repeatedStart, deadband, applied, unchanged, conflated, returned
    case sent, refused, unsendable, deadLetter

    /// As metrics and reports write it.
    public var name: String {
        switch self {
        case .afterEnd: "after_end"
        case .noFollower: "no_follower"
        case .unknownActivity: "unknown_activity"
        case .duplicate: "duplicate"
        case .outOfOrder: "out_of_order"
        case .nullIsland: "null_island"
        case .inaccurate: "inaccurate"
        case .future: "future"
        case .tooOld: "too_old"
        case .implausible: "implausible"
        case .repeatedStart: "repeated_start"
        case .deadband: "deadband"
        case .applied: "applied"
        case .unchanged: "unchanged"
        case .conflated: "conflated"
        case .returned: "returned"
        case .sent: "sent"
        case .refused: "refused"
        case .unsendable: "unsendable"
        case .deadLetter: "dead_letter"
        }
    }
}

/// The accounting of a shard: at every moment `activityEvents` = sum of all decisions + `pending`.
public struct DecisionCounts: Equatable, Sendable {
    private var counts = [UInt64](repeating: 0, count: Decision.allCases.count)
    public internal(set) var pending: UInt64 = 0
    /// Activity events read: a subject's event counts once a follower, and once where it has none.
    public internal(set) var activityEvents: UInt64 = 0
    /// How many of `future` and `too_old` were off by a multiple of 1,024 weeks: a GPS receiver that lost its epoch.
    public internal(set) var weekRollovers: UInt64 = 0

    public init() {}

    public internal(set) subscript(decision: Decision) -> UInt64 {
        get { counts[Int(decision.rawValue)] }
        set { counts[Int(decision.rawValue)] = newValue }
    }

    public var decided: UInt64 { counts.reduce(0, +) }

    /// Those of a shard that is no more. What was pending there is for others to decide, and no longer counted here.
    public mutating func add(former: DecisionCounts) {
        for place in counts.indices { counts[place] += former.counts[place] }
        activityEvents += former.activityEvents - former.pending
        weekRollovers += former.weekRollovers
    }
}
