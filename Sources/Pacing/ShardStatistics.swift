/// How many updates were taken for each reason, and of each kind. Attempts of a retry are not counted again.
public struct SendReasonCounts: Equatable, Sendable {
    private var counts = [UInt64](repeating: 0, count: Reasons.allNames.count)
    public internal(set) var starts: UInt64 = 0
    public internal(set) var updates: UInt64 = 0
    public internal(set) var ends: UInt64 = 0
    public internal(set) var urgent: UInt64 = 0
    public internal(set) var routine: UInt64 = 0

    public init() {}

    /// Updates that listed the reason; `reason` is a single one.
    public subscript(reason: Reasons) -> UInt64 { counts[reason.rawValue.trailingZeroBitCount] }

    mutating func count(_ update: Update) {
        for bit in counts.indices where update.reasons.rawValue & (1 << UInt16(bit)) != 0 { counts[bit] += 1 }
        switch update.kind {
        case .start: starts += 1
        case .update: updates += 1
        case .end: ends += 1
        }
        if update.isUrgent { urgent += 1 } else { routine += 1 }
    }
}

/// How full a shard is.
public struct ShardStatistics: Equatable, Sendable {
    /// Activities in memory, ended ones included.
    public var activities = 0
    public var endedActivities = 0
    /// Activities with an update that waits for a gate.
    public var waitingUpdates = 0
    public var readyUpdates = 0
    /// Updates taken and not settled for good, waiting retries included.
    public var unsettledUpdates = 0
    public var subjects = 0
    public var earlyTokens = 0
    /// Bytes of tables and states.
    public var tableBytes = 0
    /// Bytes of records; content-states and what few activities have are not included.
    public var recordBytes = 0
    /// Bytes for the hashes of event ids.
    public var eventIdentifierBytes = 0
}
