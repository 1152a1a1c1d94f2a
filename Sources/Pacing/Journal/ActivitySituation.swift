import Telemetry

/// How an activity stands at a moment: what its phone shows, what is true, and what stands between.
public struct ActivitySituation: Sendable {
    public enum Stage: Equatable, Sendable {
        /// Its `start` is still to be sent.
        case starting
        case active
        /// The end is still to be told.
        case ending
        case ended(atMilliseconds: Int64)
    }

    public struct Place: Equatable, Sendable {
        public var coordinate: Coordinate
        /// NaN where the position gave none.
        public var accuracyMeters: Double
    }

    /// Which rule gave the threshold.
    public enum ThresholdRule: Equatable, Sendable {
        case deadband
        /// The newer position is so much surer that uncertainty does not count.
        case surer
        /// The sum of both accuracies.
        case accuracies
        case ceiling
        /// The smallest since an update waits.
        case smallestWhileWaiting
    }

    public struct Bucket: Equatable, Sendable {
        public var level: Int
        public var burst: Int
        public var intervalMilliseconds: Int64
        /// Nil while it is full.
        public var nextTokenAtMilliseconds: Int64?
    }

    public struct UnderWay: Equatable, Sendable {
        public enum Phase: Equatable, Sendable {
            case inFlight
            /// Waits to be sent again.
            case waiting(holdsNewer: Bool)
            /// Its time has come, and a gate is shut.
            case lapsed
        }
        public var phase: Phase
        public var kind: Update.Kind
        public var sequence: UInt64
        public var attempt: Int
        public var sentAtMilliseconds: Int64
        public var ticket: Ticket
    }

    public var stage: Stage
    public var attributesType: String?
    public var pool: Int
    /// The rules of its attributes type.
    public var settings: PacingSettings
    public var beganOnPhone: Bool
    public var lifeEndsAtMilliseconds: Int64?

    /// The newest position, and the event time it bears.
    public var latest: Place?
    public var latestTimestampMilliseconds: Int64?
    /// Last told, accepted or under way.
    public var shown: Place?
    public var hasShown: Bool
    public var distanceMeters: Double?
    public var thresholdMeters: Double?
    public var thresholdRule: ThresholdRule?
    /// An implausible position waits to be borne out.
    public var holdsPosition: Bool

    public var sequence: UInt64
    public var lastSentAtMilliseconds: Int64?
    public var hasEventSinceSend: Bool
    /// When time alone may give a reason: the refresh, or the stale rule.
    public var quietUntilMilliseconds: Int64?

    /// All that speak for telling the phone.
    public var reasons: Reasons
    /// The content-state would be the same as the one shown, so `distance` alone sends nothing.
    public var isUnchanged: Bool
    /// An update waits.
    public var isWaiting: Bool
    public var isUrgent: Bool
    /// The shut ones; of an update that waits, or would.
    public var gates: [ExplainedGate]
    /// Since when nothing but a stream, the breaker or the partition's owner is missing.
    public var readySinceMilliseconds: Int64?
    /// Nil where the profile is `unlimited`.
    public var bucket: Bucket?
    public var frequentUpdates: Bool
    public var target: PushTarget?
    public var targetRegisteredAtMilliseconds: Int64?
    /// The provider called it dead, and no other has come.
    public var goneTarget: PushTarget?
    public var underWay: UnderWay?
}

extension PositionRules {
    func thresholdRule(latest: Fix, shown: Fix) -> ActivitySituation.ThresholdRule {
        guard accuracyAware else { return .deadband }
        if latest.accuracyMeters < shown.accuracyMeters / 2 { return .surer }
        let threshold = thresholdMeters(latest: latest, shown: shown)
        if threshold == deadbandMeters { return .deadband }
        return threshold == deadbandCeilingMeters ? .ceiling : .accuracies
    }
}
