import Telemetry

/// Why an activity was told what it was told: its last decisions with their numbers, and how it stands.
public struct ActivityExplanation: Sendable {
    public var activityIdentifier: String
    /// Pacing's clock when it was asked, Unix milliseconds.
    public var atMilliseconds: Int64
    /// Oldest first. One that spans time stands where it began.
    public var decisions: [ExplainedDecision]
    public var memory: Memory
    public var situation: ActivitySituation

    /// How far back it reaches.
    public enum Memory: Equatable, Sendable {
        /// Nothing is written down: `explain.memoryMiB` is 0.
        case off
        /// From its beginning on, or from when this process took it over.
        case whole(sinceMilliseconds: Int64)
        /// What was before gave way to other activities or to newer decisions.
        case since(milliseconds: Int64)
        /// All of it gave way, and nothing has happened since.
        case none
    }
}

/// One decision, or several alike in a row.
public struct ExplainedDecision: Equatable, Sendable {
    public var firstMilliseconds: Int64
    public var lastMilliseconds: Int64
    /// Of events as a rule; 1 for what happens by itself.
    public var count: Int
    public var what: What

    public enum What: Equatable, Sendable {
        case began(Beginning)
        /// Positions that the phone need not hear of; the farthest of them.
        case insideDeadband(Distance)
        case dropped(Drop)
        /// An implausible position that waits for another to bear it out.
        case heldAside(Drop)
        /// Events after which the phone is as right as before.
        case applied
        case waits(Wait)
        /// What waited is told no more.
        case decided(Decision, Distance?)
        case sent(Send)
        case answered(JournalAnswer)
        case target(TargetChange)
        case ended(Ending)
    }

    public struct Distance: Equatable, Sendable {
        public var meters: Double
        public var thresholdMeters: Double
    }

    public struct Drop: Equatable, Sendable {
        public var decision: Decision
        /// The worst of them: metres of `inaccurate`, metres a second of `implausible`, milliseconds of `future`, `tooOld` and `outOfOrder`.
        public var value: Double?
        public var limit: Double?
    }

    public struct Wait: Equatable, Sendable {
        public var reasons: Reasons
        public var isUrgent: Bool
        public var distance: Distance?
        public var gates: [ExplainedGate]
        public var level: Int
    }

    public struct Send: Equatable, Sendable {
        public var kind: Update.Kind
        public var reasons: Reasons
        public var sequence: UInt64
        public var priority: Int
        public var attempt: Int
        /// Nil where the phone had been told no position before.
        public var distance: Distance?
        /// Of the bucket, after it.
        public var level: Int
        /// How long nothing but a stream, the breaker or the partition's owner was missing.
        public var creditMilliseconds: Int64
        /// Nil while nobody has answered, or what they answered is forgotten.
        public var answer: JournalAnswer?
    }
}

/// A gate that is shut.
public struct ExplainedGate: Equatable, Sendable {
    public enum Kind: UInt8, CaseIterable, Sendable {
        case inFlight, retry, turn, numbers, startNote, target, timestamp, minInterval, bucket, urgentMinInterval
        case userToken, startCount, startBudget, replaced
    }

    public var kind: Kind
    /// Nil where no time opens it.
    public var opensAtMilliseconds: Int64?
}

public enum Beginning: UInt8, Sendable { case start, firstEvent, newLife, takenOver }

public enum TargetChange: UInt8, Sendable { case updateToken, newUpdateToken, startToken, channel }

public enum Ending: UInt8, Sendable { case event, lifeLimit, unsendable }

/// What a provider, or the way to it, said of a push, and what followed.
public struct JournalAnswer: Equatable, Sendable {
    public enum Fate: UInt8, Sendable {
        case accepted, refused, targetGone, held, sendAgain, startUnknown, unsent, unpushable
    }

    public var fate: Fate
    public var sequence: UInt64
    public var attempt: Int
    /// HTTP status; 0 where there was no answer.
    public var status: Int
    /// Number of a name in a table that the caller has; 0 for none.
    public var reason: Int
    public var tookMilliseconds: Int64
    /// Of `held`.
    public var holdMilliseconds: Int64

    public init(
        fate: Fate, sequence: UInt64, attempt: Int, status: Int = 0, reason: Int = 0, tookMilliseconds: Int64,
        holdMilliseconds: Int64 = 0
    ) {
        self.fate = fate
        self.sequence = sequence
        self.attempt = attempt
        self.status = status
        self.reason = reason
        self.tookMilliseconds = tookMilliseconds
        self.holdMilliseconds = holdMilliseconds
    }
}
