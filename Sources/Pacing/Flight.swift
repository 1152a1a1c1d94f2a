import Telemetry

/// An update that was taken and is not settled for good, with what has to be put back if it does not arrive. Not checked for overlapping
/// access, as in `Shard`.
final class Flight {
    enum Phase: Equatable {
        case inFlight
        /// Waits until `retake` asks for it. `holdsNewer`: so does newer content.
        case waiting(holdsNewer: Bool)
        /// Its time has come, but something newer or the timestamp stood in the way: it leaves by `take`, if nothing newer does.
        case lapsed
    }

    @exclusivity(unchecked) var phase = Phase.inFlight
    var update: Update
    /// Which life of the activity it belongs to.
    let life: UInt32
    @exclusivity(unchecked) var contributions: Contributions
    /// Events that gave no reason beside what this update tells. Until it has arrived the phone may show what was before, so that they count.
    @exclusivity(unchecked) var followers = Contributions()
    /// What the phone was told before.
    let shownBefore: Shown
    /// Fields that a `status` or `activity.started` had set, of which it tells.
    let setFields: [FieldPath]
    let wasRetargeting: Bool
    /// As of the newest attempt.
    var before: Snapshot
    /// To tell whether the bucket was switched meanwhile.
    let bucketAfter: CadenceBucket

    init(
        _ update: Update, life: UInt32, contributions: Contributions, shownBefore: Shown, setFields: [FieldPath],
        wasRetargeting: Bool, before: Snapshot, bucketAfter: CadenceBucket
    ) {
        self.update = update
        self.life = life
        self.contributions = contributions
        self.shownBefore = shownBefore
        self.setFields = setFields
        self.wasRetargeting = wasRetargeting
        self.before = before
        self.bucketAfter = bucketAfter
    }

    var isInFlight: Bool { phase == .inFlight }
}

/// What the phone was last told.
struct Shown {
    var position = ToldPosition()
    var contentState = ContentState()
    /// False where it was never told anything in this life: then nothing is equal to it.
    var exists = false
}

/// What taking an update uses up, as it was before.
struct Snapshot {
    let bucket: CadenceBucket
    let lastSentAtMilliseconds: Int64?
    let quietUntilMilliseconds: Int64
    let hadEventSinceSend: Bool
    let lastTimestampSeconds: Int64
    let lifeStartMilliseconds: Int64?
    /// As of the first attempt.
    let hadBeenSent: Bool

    init(_ record: ActivityRecord, _ state: UnsafeMutablePointer<ActivityState>, hadBeenSent: Bool? = nil) {
        bucket = record.bucket
        lastSentAtMilliseconds = record.lastSentAtMilliseconds
        quietUntilMilliseconds = state.pointee.quietUntilMilliseconds
        hadEventSinceSend = state.pointee.flags.contains(.hasEventSinceSend)
        lastTimestampSeconds = record.lastTimestampSeconds
        lifeStartMilliseconds = record.lifeStartMilliseconds
        self.hadBeenSent = hadBeenSent ?? record.hasBeenSent
    }
}
