import Pacing

/// What a plan came to.
public struct PlanReport: Sendable {
    public var records = 0
    public var pushes = 0
    public var decisions = DecisionTotals()
    /// By reason, its field included.
    public var deadLetters: [String: Int] = [:]
    /// Updates that APNs or a phone would not take, by name.
    public var unpushable: [String: Int] = [:]
    /// In the order of the reasons' table. A push with two reasons counts for both.
    public private(set) var sends: [(reason: String, count: UInt64)] = Reasons.allNames.map { ($0, 0) }
    public var activityHours = ActivityHours()

    public var pushesPerActivityHour: Double? {
        activityHours.hours > 0 ? Double(pushes) / activityHours.hours : nil
    }

    /// What was refused before it became a push is none.
    mutating func add(_ push: Update) {
        pushes += 1
        for place in sends.indices where push.reasons.contains(Reasons(rawValue: 1 << UInt16(place))) {
            sends[place].count += 1
        }
    }

    mutating func add(_ shard: Shard) {
        decisions.add(shard.decisions)
    }
}

/// The accounting of all shards: activity events = sum of decisions + pending, at every moment.
public struct DecisionTotals: Sendable, Equatable {
    public private(set) var counts = [UInt64](repeating: 0, count: Decision.allCases.count)
    public private(set) var pending: UInt64 = 0
    public private(set) var activityEvents: UInt64 = 0
    public private(set) var weekRollovers: UInt64 = 0

    public init() {}

    public mutating func add(_ shard: DecisionCounts) {
        for decision in Decision.allCases { counts[Int(decision.rawValue)] += shard[decision] }
        pending += shard.pending
        activityEvents += shard.activityEvents
        weekRollovers += shard.weekRollovers
    }

    public subscript(decision: Decision) -> UInt64 { counts[Int(decision.rawValue)] }
    /// What stands on the other side of the accounting.
    public var sum: UInt64 { counts.reduce(0, +) + pending }
}
