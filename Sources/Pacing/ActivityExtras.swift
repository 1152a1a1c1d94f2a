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
    @exclusivity(unchecked) var pending: PendingUpdate?

    var isEmpty: Bool {
        life == 0 && relevanceScore == nil && attributes == nil && attributesType == nil && setFields.isEmpty
            && knownTargets.isEmpty && renewal == nil && motion == nil && pending == nil
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

    /// Of an activity without an update that waits, the threshold and the time of readiness mean nothing.
    var isEmpty: Bool {
        waiting.isEmpty && gateOpensAtMilliseconds == nil && alert == nil && dismissal == nil && flight == nil
            && held == nil && goneTarget == nil
    }
}

/// A position that was implausible and waits for another to bear it out.
struct HeldPosition {
    let position: Position
    let timestampMilliseconds: Int64
    let offset: Int64
    let detail: EventDetail?
}
