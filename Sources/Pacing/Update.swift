import Telemetry

/// Names an update that was taken, until it is settled for good.
public struct Ticket: Hashable, Sendable {
    let slot: UInt32
    let generation: UInt32
}

/// Where an update goes.
public enum PushTarget: Hashable, Sendable {
    case updateToken(PushToken)
    case startToken(PushToken)
    /// Broadcast channel, base64.
    case channel(String)
    /// `plan` alone: an activity that nobody gave a target is taken to have one.
    case assumed

    /// Byte for byte, as all ids.
    public static func == (left: PushTarget, right: PushTarget) -> Bool {
        switch (left, right) {
        case (.updateToken(let left), .updateToken(let right)): left == right
        case (.startToken(let left), .startToken(let right)): left == right
        case (.channel(let left), .channel(let right)): left.hasSameBytes(as: right)
        case (.assumed, .assumed): true
        default: false
        }
    }
}

extension PushTarget {
    var isStart: Bool { if case .startToken = self { true } else { false } }

    /// As an event names it; nil for one that no event names.
    var asNamed: StartTarget? {
        switch self {
        case .updateToken(let token): .updateToken(token)
        case .startToken(let token): .startToken(token)
        case .channel(let channel): .channel(channel)
        case .assumed: nil
        }
    }
}

extension StartTarget {
    /// Nil where it names no place that a push can go to.
    var asTarget: PushTarget? {
        switch self {
        case .updateToken(let token): .updateToken(token)
        case .startToken(let token): .startToken(token)
        case .channel(let channel): .channel(channel)
        case .user, .none: nil
        }
    }
}

/// One push to be made: owned values throughout, so it outlives the events that it came from.
public struct Update: Sendable {
    public enum Kind: UInt8, Sendable { case start, update, end }

    public let ticket: Ticket
    public let pool: Int
    public let activityIdentifier: String
    public let attributesType: String?
    /// Written into a `start` alone; a phone holds them beside every content-state, so they count towards its limit.
    public let attributes: JSONObject?
    public let kind: Kind
    public let reasons: Reasons
    public let isUrgent: Bool
    /// `apns-priority`: 5 or 10.
    public let priority: Int
    /// Strictly increasing per activity; also written into the content-state.
    public let sequence: UInt64
    /// UUID version 5 of activity and sequence, the same for each retry.
    public let apnsIdentifier: APNsIdentifier
    /// `aps.timestamp` of this attempt, Unix seconds.
    public internal(set) var timestampSeconds: Int64
    /// Nil for an end.
    public internal(set) var staleDateSeconds: Int64?
    public let dismissal: Dismissal?
    /// Complete: merged, with position and sequence written.
    public let contentState: ContentState
    public let alert: Alert?
    public let relevanceScore: Double?
    public let target: PushTarget
    /// When the app registered the target, Unix milliseconds: an answer 410 that is older says nothing about it.
    public let targetRegisteredAtMilliseconds: Int64
    /// The position told, nil where none was ever known.
    public let position: Coordinate?
    public let positionTimestampMilliseconds: Int64?
    public internal(set) var takenAt: Instant
    /// 1 for the first attempt.
    public internal(set) var attempt: Int
    /// The clock's `now` at which the newest event that it tells was applied; nil where time alone caused it.
    public let newestEventAppliedAtMilliseconds: Int64?
}

/// What became of an update that was taken.
public enum Settlement: Equatable, Sendable {
    case accepted
    /// Refused for good: its content is lost, and `shown` is what it was before.
    case refused
    /// The same content may go again, when `retake` asks for it. `holdsNewer` says that newer content waits for that as well;
    /// else newer content goes as soon as its gates allow, and takes its place.
    case retry(holdsNewer: Bool)
    /// It never left: as if it had not been taken, except that its number is not used again.
    case unsent
    /// The target is dead: dropped if it is still the one that this update went to; the content waits for a new one.
    case targetGone
    /// A start whose outcome nobody knows. It is not repeated, for a second card might appear.
    case unknownStart
}

/// What leaves next from a pool.
public struct Ready: Equatable, Sendable {
    public let isUrgent: Bool
    /// `now` at which it began to wait for a credit.
    public let sinceMilliseconds: Int64
    /// Start order of its activity.
    public let order: UInt64
}

/// What the caller has to dead-letter: none as a rule, one for each activity that refused a subject's event.
public struct ApplyFaults: Sendable {
    /// Nil for none: as nearly always, and then nothing is counted by reference.
    private var some: [EventFault]?

    public init() {}

    public var faults: [EventFault] { some ?? [] }
    public var isEmpty: Bool { some == nil }

    mutating func add(_ fault: EventFault) {
        some = faults + [fault]
    }
}
