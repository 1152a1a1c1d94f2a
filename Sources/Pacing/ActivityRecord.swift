import Telemetry

/// The part of an activity that the position path inside the deadband does not touch.
final class ActivityRecord {
    // What it is.
    var attributesType: String?
    var attributes: JSONObject?
    var relevanceScore: Double?
    /// Index of the subject that it follows.
    var subject: UInt32?

    // This life.
    var life: UInt32 = 0
    /// Nil while an activity that is to be begun by push was not sent.
    var lifeStartMilliseconds: Int64?
    /// Its `activity.started` named a token or a channel: the phone shows that event's content-state.
    var beganOnPhone = false
    /// Begun by its first event, without an `activity.started` so far.
    var lacksStart = false
    var hasBeenSent = false
    var hadTarget = false
    /// `plan` alone: it began without a start, and so has a target throughout this life.
    var isTargetAssumed = false
    var endedAtMilliseconds = Int64.min
    var endSentAtMilliseconds = Int64.min
    var lastEventAtMilliseconds = Int64.min

    // The newest truth, and what the phone was told. (The positions are in the state.)
    var latestContent = ContentState()
    var shownContent = ContentState()
    var hasShown = false
    var latestSpeed = Double.nan
    var latestHeading = Double.nan
    var shownSpeed = Double.nan
    var shownHeading = Double.nan
    var shownTimestampMilliseconds = Int64.min
    /// Fields that a `status` or `activity.started` set since the last send.
    var setFields: [FieldPath] = []
    /// Of `latestContent` and `shownContent`, with the position parts for which it holds; nil where one of them has changed.
    var difference: (value: ContentDifference, written: PositionSources)?

    // Sending.
    var sequence: UInt64 = 0
    var lastTimestampSeconds = Int64.min
    var lastSentAtMilliseconds: Int64?
    var bucket: CadenceBucket
    var frequentUpdates = false
    var target: PushTarget?
    var targetRegisteredAtMilliseconds = Int64.min
    /// The target that the provider called dead, until another takes its place.
    var goneTarget: PushTarget?
    var renewalStartToken: PushToken?
    /// Kept for renewal, where settings ask for it.
    var renewalAlert: Alert?
    var knownTargets = KnownTargets()

    // What waits.
    var waiting = Contributions()
    var waitingIsUrgent = false
    /// The smallest that any position gave since the update waits.
    var waitingThresholdMeters = Double.infinity
    /// When the gates will open by time alone.
    var gateOpensAtMilliseconds: Int64?
    var readySinceMilliseconds: Int64 = 0
    /// The target is a start token, and the `start` is still to be sent.
    var isStarting = false
    var alert: Alert?
    /// The end is still to be sent.
    var isEnding = false
    var dismissal: Dismissal?
    /// The target was replaced after something had been shown.
    var isRetargeting = false
    var flight: Flight?

    // Rare.
    var held: HeldPosition?
    var eventIdentifiers = EventIdentifierRing()

    init(bucket: CadenceBucket) {
        self.bucket = bucket
    }
}

/// A position that was implausible and waits for another to bear it out.
struct HeldPosition {
    let position: Position
    let timestampMilliseconds: Int64
    let offset: Int64
    let detail: EventDetail?
}

/// The last sixteen event ids, as hashes.
struct EventIdentifierRing {
    static let limit = 16

    private var hashes: [UInt64] = []
    private var next = 0

    func contains(_ hash: UInt64) -> Bool { hashes.contains(hash) }

    mutating func insert(_ hash: UInt64) {
        if hashes.isEmpty { hashes.reserveCapacity(EventIdentifierRing.limit) }
        if hashes.count < EventIdentifierRing.limit {
            hashes.append(hash)
        } else {
            hashes[next] = hash
            next = (next + 1) % EventIdentifierRing.limit
        }
    }
}

/// Which targets any life of an activity has had, as hashes: a start that names one of them again is an echo, not a new life.
///
/// At the limit the oldest is forgotten: an echo of a start that lies more than `limit` targets back would then begin a life.
struct KnownTargets {
    static let limit = 64

    private var hashes: [UInt64] = []

    func contains(_ hash: UInt64) -> Bool { hashes.contains(hash) }

    mutating func insert(_ hash: UInt64) {
        guard !hashes.contains(hash) else { return }
        if hashes.count == KnownTargets.limit { hashes.removeFirst() }
        hashes.append(hash)
    }
}
