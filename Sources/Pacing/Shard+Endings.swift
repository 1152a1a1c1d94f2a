import Telemetry

extension Shard {
    /// The activity ends: its final content-state is still to be told, if there is anybody to tell.
    ///
    /// - Parameter contribution: of the event that ends it; nil at the end of its life.
    func end(_ index: UInt32, joining contribution: Contribution?, dismissal: Dismissal?, _ moment: Instant) {
        let record = record(index)
        dropHeld(index)
        noteEnding(index, contribution == nil ? .lifeLimit : .event, moment)
        unfollow(index)
        state(index).pointee.flags.insert(.ended)
        record.noteEnd(atMilliseconds: moment.nowMilliseconds)
        record.isEnding = true
        record.dismissal = dismissal
        if contribution == nil { markUnsaved(index) }
        if record.hadTarget, !isBegunByNothing(record) {
            evaluate(index, joining: contribution, moment)
        } else {
            if let contribution { record.waiting.add(contribution, &decisions) }
            markUnsaved(index)
            noteEnding(index, .unsendable, moment)
            giveUp(index)
            rearm(index, moment)
        }
    }

    /// At the end of its life: a final frame, or a new card through the start token.
    func endLife(_ index: UInt32, _ moment: Instant) {
        let record = record(index)
        guard rules(index).settings.renew, let token = record.renewalStartToken,
            let alert = record.alert ?? record.renewalAlert
        else {
            end(index, joining: nil, dismissal: nil, moment)
            return
        }
        if let flight = record.flight, !flight.isInFlight { putBack(index, flight, moment) }
        record.target = .startToken(token)
        record.isStarting = true
        record.isRetargeting = false
        record.alert = alert
        record.lifeStartMilliseconds = nil
        markUnsaved(index)
        evaluate(index, moment)
    }

    /// A start by push that has not been accepted: there is no card to end.
    func isBegunByNothing(_ record: ActivityRecord) -> Bool {
        if record.isStarting { return !record.hasShown }
        guard let flight = record.flight, flight.update.kind == .start, record.target == nil else { return false }
        return !flight.isInFlight && !flight.shownBefore.exists
    }

    /// Whatever waits can never be sent.
    func giveUp(_ index: UInt32) {
        let record = record(index)
        noteUntoldEnd(index, record)
        record.waiting.resolve(.unsendable, &decisions)
        if let flight = record.flight, !flight.isInFlight {
            flight.contributions.resolve(.unsendable, &decisions)
            record.flight = nil
        }
        record.isEnding = false
        record.isStarting = false
        record.isRetargeting = false
        record.alert = nil
        record.quiet = Contributions()
        record.startNote = .none
        stopWaiting(index)
        giveBack(index, record)
    }

    /// The activity leaves memory. Its id, if it ever comes back, is that of a new one.
    func remove(_ index: UInt32) {
        dropHeld(index)
        giveUp(index)
        unfollow(index)
        wheel.disarm(index, slab.states)
        forget(index)
    }

    /// Nothing of it is in memory any more.
    func forget(_ index: UInt32) {
        journal?.forget(index, door)
        activities.remove(withIdentifier(ofIndex: index) { activities.hash(of: $0) }, index: index)
        if !formerSubjects.isEmpty { formerSubjects[index] = nil }
        slab.release(index)
    }
}
