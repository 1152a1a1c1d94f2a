import Telemetry

extension Shard {
    /// The answer for an update that was taken. A ticket that is no longer known is ignored.
    public func settle(_ ticket: Ticket, _ settlement: Settlement, at instant: Instant) {
        let moment = moment(instant)
        guard let (index, flight) = flight(of: ticket), flight.isInFlight else { return }
        let record = record(index)
        if flight.life != record.life {
            settleFormerLife(record, flight, settlement)
        } else {
            switch settlement {
            case .accepted: settleAccepted(index, flight, moment)
            case .refused: settleRefused(index, flight, moment)
            case .retry(let holdsNewer):
                if isStillWanted(record, flight) {
                    flight.phase = .waiting(holdsNewer: holdsNewer)
                } else {
                    putBack(index, flight, moment)
                }
            case .unsent:
                settleUnsent(index, flight, moment)
            case .targetGone: settleTargetGone(index, flight, moment)
            case .unknownStart: putBack(index, flight, moment)
            }
            endIfNeverBegun(index, flight, settlement)
        }
        switch settlement {
        case .accepted, .refused, .targetGone, .unknownStart:
            markUnsaved(index)
            if flight.update.kind == .start { setClearance(index, .none) }
        // The store was told that it leaves; it did not arrive.
        case .unsent: if flight.update.kind == .start { markUnsaved(index) }
        // And the next update may take the place of one that waits to be sent again: an owner that takes over has to count both.
        case .retry: if flight.update.kind == .start || flight.update.attempt == 1 { markUnsaved(index) }
        }
        // With `shown` taken back, what waits may have become urgent.
        if state(index).pointee.flags.contains(.waiting), judgement(index, moment).reasons.isUrgent {
            record.waitingIsUrgent = true
        }
        advanceGates(index, moment)
    }

    /// What it would have told waits again, under what came since.
    func putBack(_ index: UInt32, _ flight: Flight, _ moment: Instant) {
        let record = record(index)
        takeBackShown(index, flight)
        record.waiting.prepend(flight.followers, &decisions)
        record.waiting.prepend(flight.contributions, &decisions)
        if record.alert == nil { record.alert = flight.update.alert }
        if flight.wasRetargeting { record.isRetargeting = true }
        if flight.update.kind == .end { record.isEnding = true }
        record.flight = nil
        if !state(index).pointee.flags.contains(.waiting) { beginWaiting(index, judgement(index, moment)) }
        if flight.update.isUrgent { record.waitingIsUrgent = true }
    }

    /// `shown` is what it was before the update.
    private func takeBackShown(_ index: UInt32, _ flight: Flight) {
        #if PLANTED_DEFECTS
            if settings.plantedDefect == .shownBeforeAccepted { return }
        #endif
        let state = state(index)
        let record = record(index)
        let before = flight.shownBefore
        state.pointee.shown = before.position.fix
        record.shownSpeed = before.position.speedMetersPerSecond
        record.shownHeading = before.position.headingDegrees
        record.shownTimestampMilliseconds = before.position.timestampMilliseconds
        record.shownContent = before.contentState
        record.hasShown = before.exists
        record.noteSet(flight.setFields)
        saveNextEvent(index)
    }

    private func settleAccepted(_ index: UInt32, _ flight: Flight, _ moment: Instant) {
        let record = record(index)
        flight.contributions.resolve(.sent, &decisions)
        record.flight = nil
        switch flight.update.kind {
        case .start: break
        case .update: if record.target != flight.update.target { takeBackShown(index, flight) }
        case .end: record.noteEnd(atMilliseconds: moment.nowMilliseconds)
        }
    }

    private func settleRefused(_ index: UInt32, _ flight: Flight, _ moment: Instant) {
        let record = record(index)
        flight.contributions.resolve(.refused, &decisions)
        record.flight = nil
        record.hasBeenSent = flight.before.hadBeenSent
        if flight.update.kind == .end {
            record.noteEnd(atMilliseconds: moment.nowMilliseconds)
            return
        }
        takeBackShown(index, flight)
        if flight.wasRetargeting { record.isRetargeting = true }
        // A start that was refused is not tried again with the same token: it would be refused with each event.
        if flight.update.kind == .start { forgetStartToken(record, flight) }
    }

    private func settleTargetGone(_ index: UInt32, _ flight: Flight, _ moment: Instant) {
        let record = record(index)
        if record.target == flight.update.target {
            record.goneTarget = record.target
            record.target = nil
        }
        record.hasBeenSent = flight.before.hadBeenSent
        guard flight.update.kind == .start else {
            putBack(index, flight, moment)
            return
        }
        forgetStartToken(record, flight)
        // Never the same again.
        if record.target == nil { record.goneTarget = flight.update.target }
        putBack(index, flight, moment)
        if record.target == nil, let user = record.user, !state(index).pointee.flags.contains(.ended) {
            awaitStartToken(index, of: user)
        }
    }

    private func settleFormerLife(_ record: ActivityRecord, _ flight: Flight, _ settlement: Settlement) {
        switch settlement {
        case .accepted: flight.contributions.resolve(.sent, &decisions)
        case .refused: flight.contributions.resolve(.refused, &decisions)
        case .retry, .unsent, .targetGone, .unknownStart: flight.contributions.resolve(.unsendable, &decisions)
        }
        record.flight = nil
    }

    /// As if it had not been taken. Its number alone stays used.
    private func settleUnsent(_ index: UInt32, _ flight: Flight, _ moment: Instant) {
        let record = record(index)
        record.lastSentAtMilliseconds = flight.before.lastSentAtMilliseconds
        record.lastTimestampSeconds = flight.before.lastTimestampSeconds
        state(index).pointee.quietUntilMilliseconds = flight.before.quietUntilMilliseconds
        if flight.update.kind == .start { record.lifeStartMilliseconds = flight.before.lifeStartMilliseconds }
        guard flight.update.attempt > 1 else {
            putBack(index, flight, moment)
            undoSend(index, flight)
            return
        }
        // An earlier attempt did leave, and may have arrived: its number, its time and its token of the bucket stay used.
        flight.update.attempt -= 1
        if isStillWanted(record, flight) {
            flight.phase = .lapsed
        } else {
            putBack(index, flight, moment)
        }
    }

    private func undoSend(_ index: UInt32, _ flight: Flight) {
        let state = state(index)
        let record = record(index)
        if record.bucket == flight.bucketAfter { record.bucket = flight.before.bucket }
        record.hasBeenSent = flight.before.hadBeenSent
        if flight.before.hadEventSinceSend { state.pointee.flags.insert(.hasEventSinceSend) }
        if flight.update.kind == .start, record.target == nil {
            record.target = flight.update.target
            record.isStarting = true
        }
    }

    private func isStillWanted(_ record: ActivityRecord, _ flight: Flight) -> Bool {
        flight.update.kind == .start ? record.target == nil : record.target == flight.update.target
    }

    private func forgetStartToken(_ record: ActivityRecord, _ flight: Flight) {
        if case .startToken(let token) = flight.update.target, record.renewalStartToken == token {
            record.renewalStartToken = nil
        }
    }

    /// An activity that ended while its start was on its way, and that start did not arrive: there is no card to end.
    private func endIfNeverBegun(_ index: UInt32, _ flight: Flight, _ settlement: Settlement) {
        let record = record(index)
        guard flight.update.kind == .start, state(index).pointee.flags.contains(.ended), record.isEnding,
            record.target == nil || record.isStarting, !record.hasShown || record.flight != nil
        else { return }
        switch settlement {
        case .accepted, .unknownStart: break
        case .refused, .retry, .unsent, .targetGone: giveUp(index)
        }
    }
}
