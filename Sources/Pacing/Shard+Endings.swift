import Telemetry

extension Shard {
    /// The activity ends: its final content-state is still to be told, if there is anybody to tell.
    ///
    /// - Parameter contribution: of the event that ends it; nil at the end of its life.
    func end(_ index: UInt32, joining contribution: Contribution?, dismissal: Dismissal?, _ moment: Instant) {
        let record = record(index)
        let awaitedStartToken = record.awaitsStartToken
        dropHeld(index)
        unfollow(index)
        state(index).pointee.flags.insert(.ended)
        record.noteEnd(atMilliseconds: moment.nowMilliseconds)
        record.isEnding = true
        record.dismissal = dismissal
        record.awaitsStartToken = false
        replacing.remove(index)
        ask(index, .end(keptMilliseconds: rules(index).settings.removeAfterMilliseconds))
        if contribution == nil { markUnsaved(index) }
        if record.hadTarget, !awaitedStartToken, !isBegunByNothing(record) {
            evaluate(index, joining: contribution, moment)
        } else {
            if let contribution { record.waiting.add(contribution, &decisions) }
            markUnsaved(index)
            giveUp(index)
            rearm(index, moment)
        }
    }

    /// At the end of its life: a final frame, or a new card through the start token.
    func endLife(_ index: UInt32, _ moment: Instant) {
        let record = record(index)
        let user = settings.asksRegistry && record.hasBeenSent ? record.user : nil
        guard rules(index).settings.renew, user != nil || record.renewalStartToken != nil,
            let alert = record.alert ?? record.renewalAlert
        else {
            end(index, joining: nil, dismissal: nil, moment)
            return
        }
        if let flight = record.flight, !flight.isInFlight { putBack(index, flight, moment) }
        record.renewals += 1
        record.goneTarget = nil
        record.isRetargeting = false
        record.alert = alert
        record.lifeStartMilliseconds = nil
        setClearance(index, .none)
        if let user {
            // Hours have gone by, and the phone may have another token by now.
            record.target = nil
            record.lifeStartMilliseconds = moment.nowMilliseconds
            awaitStartToken(index, of: user)
        } else {
            record.target = record.renewalStartToken.map { .startToken($0) }
            record.isStarting = true
        }
        markUnsaved(index)
        evaluate(index, moment)
    }

    /// A start by push that has not been accepted: there is no card to end.
    func isBegunByNothing(_ record: ActivityRecord) -> Bool {
        // Where one is to be begun anew, the system has ended the card before.
        if record.isStarting { return true }
        guard let flight = record.flight, flight.update.kind == .start, record.target == nil else { return false }
        return !flight.isInFlight && !flight.shownBefore.exists
    }

    /// Whatever waits can never be sent.
    func giveUp(_ index: UInt32) {
        let record = record(index)
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
        setClearance(index, .none)
        stopWaiting(index)
        giveBack(index, record)
    }

    /// The activity leaves memory. Its id, if it ever comes back, is that of a new one.
    func remove(_ index: UInt32) {
        dropHeld(index)
        giveUp(index)
        unfollow(index)
        ask(index, .end(keptMilliseconds: 0))
        wheel.disarm(index, slab.states)
        forget(index)
    }

    /// Nothing of it is in memory any more.
    func forget(_ index: UInt32) {
        activities.remove(withIdentifier(ofIndex: index) { activities.hash(of: $0) }, index: index)
        if !formerSubjects.isEmpty { formerSubjects[index] = nil }
        if !deferredStarts.isEmpty { deferredStarts.remove(index) }
        if !replacing.isEmpty { replacing.remove(index) }
        slab.release(index)
    }
}
