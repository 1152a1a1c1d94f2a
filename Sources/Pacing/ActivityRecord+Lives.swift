import Telemetry

/// What an activity no longer needs it gives back.
extension ActivityRecord {
    /// Gives back the memory of what is as at the beginning again.
    ///
    /// - Precondition: no update waits.
    func shed() {
        guard let extras = stored.pointee.extras else { return }
        if extras.pending?.isEmpty == true { extras.pending = nil }
        if extras.renewal?.isEmpty == true { extras.renewal = nil }
        if extras.particulars?.isEmpty == true { extras.particulars = nil }
        if extras.isEmpty { stored.pointee.extras = nil }
    }

    /// Nobody is told anything more in this life.
    func forgetTruth() {
        latestContent = ContentState()
        shownContent = ContentState()
        difference = nil
        setFields = []
        attributes = nil
        relevanceScore = nil
        dismissal = nil
        goneTarget = nil
        renewalStartToken = nil
        renewalAlert = nil
        user = nil
        replacement = nil
        revocation = nil
        stored.pointee.extras?.motion = nil
    }

    /// Empties all that belongs to one life; sequence, timestamp, bucket, event ids and known targets go on.
    ///
    /// - Precondition: nothing waits.
    func beginNewLife() {
        target = nil
        let former = stored.pointee
        stored.pointee = StoredRecord(bucket: former.bucket)
        stored.pointee.sequence = former.sequence
        stored.pointee.lastTimestampSeconds = former.lastTimestampSeconds
        stored.pointee.subject = former.subject
        stored.pointee.numbersLeft = former.numbersLeft
        if former.flags.contains(.isUnsaved) { stored.pointee.flags.insert(.isUnsaved) }
        let extras = ActivityExtras()
        extras.life = (former.extras?.life ?? 0) + 1
        extras.otherOffsets = former.extras?.otherOffsets ?? []
        extras.knownTargets = former.extras?.knownTargets ?? KnownTargets()
        if let renewals = former.extras?.particulars?.renewals, renewals > 0 {
            let particulars = Particulars()
            particulars.renewals = renewals
            extras.particulars = particulars
        }
        // An answer for the former life may be on its way.
        if let flight = former.extras?.pending?.flight {
            let pending = PendingUpdate()
            pending.flight = flight
            extras.pending = pending
        }
        stored.pointee.extras = extras
    }
}
