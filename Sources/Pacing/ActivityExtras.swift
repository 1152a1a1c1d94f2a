import Telemetry

/// What few activities have, or have for a short time: the object exists while anything in it is not as at the beginning.
///
/// What each push touches is not checked for overlapping access, as in `Shard`.
final class ActivityExtras {
    /// How many lives came before.
    var life: UInt32 = 0
    var relevanceScore: Double?
    var attributes: JSONObject?
    /// Where the vocabulary has no place.
    var attributesType: String?
    @exclusivity(unchecked) var setFields: [FieldPath] = []
    var knownTargets = KnownTargets()
    var renewal: Renewal?
    var motion: Motion?
    var particulars: Particulars?
    /// The largest offsets applied of all sources but the first.
    var otherOffsets: [Int64] = []
    @exclusivity(unchecked) var pending: PendingUpdate?

    var isEmpty: Bool {
        life == 0 && relevanceScore == nil && attributes == nil && attributesType == nil && setFields.isEmpty
            && knownTargets.isEmpty && renewal == nil && motion == nil && pending == nil && otherOffsets.isEmpty
            && particulars == nil
    }
}

/// With what the end of its life begins another card, where settings ask for it.
final class Renewal {
    var startToken: PushToken?
    @exclusivity(unchecked) var alert: Alert?

    var isEmpty: Bool { startToken == nil && alert == nil }
}

/// Parts of positions that rules write: of the newest, and as shown.
final class Motion {
    var latestSpeed = Double.nan
    var latestHeading = Double.nan
    var shownSpeed = Double.nan
    var shownHeading = Double.nan
    var shownTimestampMilliseconds = Int64.min
}

/// What is to be told, and what stands in its way. Not checked either.
final class PendingUpdate {
    @exclusivity(unchecked) var waiting = Contributions()
    /// The smallest that any position gave since the update waits.
    var thresholdMeters = Double.infinity
    /// When the gates will open by time alone.
    var gateOpensAtMilliseconds: Int64?
    var readySinceMilliseconds: Int64?
    var alert: Alert?
    @exclusivity(unchecked) var dismissal: Dismissal?
    @exclusivity(unchecked) var flight: Flight?
    var held: HeldPosition?
    /// The target that the provider called dead, until another takes its place.
    @exclusivity(unchecked) var goneTarget: PushTarget?
    /// Fields of positions that ride along with the next update, whatever its reason.
    var quiet = Contributions()
    /// A bit for each source in whose queue of holds the activity stands.
    var queuedHolds: UInt8 = 0
    /// Events of the first source up to this offset, and those of the others, are covered by a checkpoint.
    private var savedThroughFirst: Int64 = -1
    private var savedThroughOthers: [Int64] = []
    var startNote = StartNote.none

    /// Of an activity without an update that waits, the threshold and the time of readiness mean nothing.
    var isEmpty: Bool {
        waiting.isEmpty && gateOpensAtMilliseconds == nil && alert == nil && dismissal == nil && flight == nil
            && held == nil && goneTarget == nil && quiet.isEmpty && startNote == .none
    }

    func savedThrough(_ source: UInt8) -> Int64 {
        if source == 0 { return savedThroughFirst }
        return savedThroughOthers.count >= Int(source) ? savedThroughOthers[Int(source) - 1] : -1
    }

    func lowerSaved(to offset: Int64, source: UInt8) {
        if source == 0 {
            savedThroughFirst = min(savedThroughFirst, offset)
        } else if savedThroughOthers.count >= Int(source) {
            savedThroughOthers[Int(source) - 1] = min(savedThroughOthers[Int(source) - 1], offset)
        }
    }

    func noteSaved(through first: Int64, others: [Int64]) {
        savedThroughFirst = first
        savedThroughOthers = others
    }
}

/// Whether the store knows that a start is about to leave: it must, since one whose outcome nobody knows is not repeated.
enum StartNote {
    case none
    /// A stream was free for it: it leaves as soon as the store has said that it knows.
    case wanted
    case noted
}

/// A position that was implausible and waits for another to bear it out.
struct HeldPosition {
    let position: Position
    let timestampMilliseconds: Int64
    let origin: Origin
    let appliedAtMilliseconds: Int64
    let detail: EventDetail?
}
