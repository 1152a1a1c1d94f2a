import Telemetry

/// The pacing of one partition: a state machine without a clock. Events, time and outcomes go in, updates come out.
///
/// Not Sendable: one owner calls it, one call at a time.
public final class Shard {
    public let settings: ShardSettings
    public private(set) var decisions = DecisionCounts()
    public private(set) var sendReasons = SendReasonCounts()

    public init(settings: ShardSettings) { self.settings = settings }

    /// Applies one record, in partition order.
    ///
    /// - Parameter offset: its place in the partition; −1 where it has none.
    /// - Returns: what the caller has to dead-letter.
    public func apply(_ event: Event, offset: Int64 = -1, at instant: Instant) -> ApplyFaults { preconditionFailure() }

    /// A record that the decoder refused: one activity event, one dead letter.
    public func countDeadLetter() { preconditionFailure() }

    /// When `fire` is to be called next; never later than the earliest timer. It may be a little early: then nothing happens.
    public var nextDueMilliseconds: Int64? { preconditionFailure() }

    /// Fires the timers due at or before `instant`, in order of due time, then of activity start.
    public func fire(at instant: Instant) { preconditionFailure() }

    /// What should leave next from this pool; nil where nothing is ready.
    public func ready(pool: Int) -> Ready? { preconditionFailure() }

    /// Binds the newest truth of the activity that should leave next: judges once more, takes sequence, timestamp and a token of the bucket.
    /// Nil where that one had lost its reasons (call again while `ready` gives something).
    public func take(pool: Int, at instant: Instant) -> Update? { preconditionFailure() }

    /// The answer for an update that was taken. A ticket that is no longer known is ignored.
    public func settle(_ ticket: Ticket, _ settlement: Settlement, at instant: Instant) { preconditionFailure() }

    /// A waiting retry whose time has come: the same content, sequence and id, stamped anew.
    /// Nil where it was superseded, has gone or cannot be stamped yet; what then has to be told comes by `ready` and `take`.
    public func retake(_ ticket: Ticket, at instant: Instant) -> Update? { preconditionFailure() }

    /// The end of a recording: what is held aside is dropped, and from now on only what releases a waiting update is due.
    public func finish(at instant: Instant) { preconditionFailure() }

    public var statistics: ShardStatistics { preconditionFailure() }
}

/// How many updates were taken for each reason, and of each kind. (Attempts of a retry are not counted again.)
public struct SendReasonCounts: Equatable, Sendable {
    private var counts = [UInt64](repeating: 0, count: Reasons.allNames.count)
    public internal(set) var starts: UInt64 = 0
    public internal(set) var updates: UInt64 = 0
    public internal(set) var ends: UInt64 = 0
    public internal(set) var urgent: UInt64 = 0
    public internal(set) var routine: UInt64 = 0

    public init() {}

    /// Updates that listed the reason; `reason` is a single one.
    public internal(set) subscript(reason: Reasons) -> UInt64 {
        get { counts[reason.rawValue.trailingZeroBitCount] }
        set { counts[reason.rawValue.trailingZeroBitCount] = newValue }
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
    /// Bytes of tables and states (side records not included).
    public var tableBytes = 0
}
