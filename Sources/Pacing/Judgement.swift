import Telemetry

/// Is the phone wrong enough? All reasons that hold for an activity now.
struct Judgement {
    let state: UnsafeMutablePointer<ActivityState>
    let record: ActivityRecord
    /// Live as long as the shard, and so longer than any judgement.
    unowned(unsafe) let rules: PacingRules
    let nowMilliseconds: Int64

    var latestPosition: ToldPosition {
        ToldPosition(
            fix: state.pointee.latest, speedMetersPerSecond: record.latestSpeed, headingDegrees: record.latestHeading,
            timestampMilliseconds: state.pointee.latestTimestampMilliseconds)
    }

    var shownPosition: ToldPosition {
        ToldPosition(
            fix: state.pointee.shown, speedMetersPerSecond: record.shownSpeed, headingDegrees: record.shownHeading,
            timestampMilliseconds: record.shownTimestampMilliseconds)
    }

    var reasons: Reasons {
        var reasons: Reasons = []
        if record.isStarting { reasons.insert(.started) }
        if record.alert != nil { reasons.insert(.alert) }
        if isFarOff { reasons.insert(.distance) }
        let difference = self.difference
        if difference.contains(.discrete) { reasons.insert(.status) }
        if difference.contains(.drift) { reasons.insert(.drift) }
        if difference.contains(.set) || (difference.contains(.other) && isStale) { reasons.insert(.content) }
        if record.isRetargeting { reasons.insert(.retarget) }
        if record.isEnding { reasons.insert(.ended) }
        if reasons.isEmpty, isRefreshDue { reasons.insert(.refresh) }
        return reasons
    }

    /// A move that the phone would not see: nothing but the distance speaks for a send, and the content-state would be the same.
    func isUnchanged(_ reasons: Reasons) -> Bool {
        reasons == .distance && record.hasShown && difference.isEmpty
            && latestPosition.writesSame(as: shownPosition, rules.settings.positionFields)
    }

    var thresholdMeters: Double {
        rules.position.thresholdMeters(latest: state.pointee.latest, shown: state.pointee.shown)
    }

    private var isFarOff: Bool {
        guard state.pointee.latest.exists else { return false }
        guard state.pointee.shown.exists else { return true }
        let isWaiting = state.pointee.flags.contains(.waiting)
        let threshold = isWaiting ? min(record.waitingThresholdMeters, thresholdMeters) : thresholdMeters
        if state.pointee.shown.distanceBoundMeters(to: state.pointee.latest) <= threshold { return false }
        return state.pointee.shown.coordinate.distanceMeters(to: state.pointee.latest.coordinate) > threshold
    }

    private var difference: ContentDifference {
        let written = latestPosition.sources.union(shownPosition.sources)
        if let known = record.difference, known.written == written { return known.value }
        let value = ContentDifference.between(
            record.latestContent, record.shownContent, rules: rules, set: record.setFields, written: written)
        record.difference = (value, written)
        return value
    }

    /// Fields differ that are neither discrete nor within a tolerance, and that no `status` set.
    var hasOtherDifference: Bool { difference.contains(.other) }

    private var isStale: Bool {
        record.lastSentAtMilliseconds.map { nowMilliseconds >= $0 + rules.settings.staleAfterMilliseconds } ?? false
    }

    private var isRefreshDue: Bool {
        guard rules.settings.refresh, !state.pointee.flags.contains(.ended),
            state.pointee.flags.contains(.hasEventSinceSend),
            let reference = record.lastSentAtMilliseconds ?? (record.beganOnPhone ? record.lifeStartMilliseconds : nil)
        else { return false }
        return nowMilliseconds >= reference + rules.refreshAfterMilliseconds
    }
}
