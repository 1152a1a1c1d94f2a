import Telemetry

extension Shard {
    /// Judges an activity after something changed, and lets its update wait, go on or end.
    ///
    /// - Parameters:
    ///   - newest: what the event that was applied gives; nil where no event or no content came.
    ///   - earlier: what a position gives that was held aside until the newest one bore it out.
    ///   - quiet: how events end that give no reason while no update waits.
    func evaluate(
        _ index: UInt32, joining newest: Contribution? = nil, after earlier: Contribution? = nil,
        quiet: Decision = .applied, _ moment: Instant
    ) {
        let state = state(index)
        let judgement = judgement(index, moment)
        let record = judgement.record
        if state.pointee.flags.contains(.waiting) { lowerThreshold(judgement, newest) }
        var reasons = judgement.reasons
        var isUnchanged = judgement.isUnchanged(reasons)
        if isUnchanged, tellsAgain(index, record) {
            reasons = judgement.reasons
            isUnchanged = judgement.isUnchanged(reasons)
        }
        if isUnchanged {
            join(index, earlier)
            join(index, newest)
            endWaiting(index, .unchanged, moment)
            return
        }
        if !state.pointee.flags.contains(.waiting) {
            guard !reasons.isEmpty else {
                if let earlier, !earlier.isDecided { count(quiet) }
                if let newest, !newest.isDecided { count(quiet) }
                holdQuiet(index, earlier, judgement)
                holdQuiet(index, newest, judgement)
                if settings.keepsCheckpoints, let flight = record.flight {
                    follow(index, flight, earlier)
                    follow(index, flight, newest)
                }
                if earlier != nil || newest != nil, record.stored.pointee.savesNextEvent {
                    record.stored.pointee.savesNextEvent = false
                    markUnsaved(index)
                }
                if !record.stored.pointee.savesNextEvent { state.pointee.flags.remove(.mustJudge) }
                advanceGates(index, moment)
                return
            }
            beginWaiting(index, judgement)
        }
        join(index, earlier)
        join(index, newest)
        if reasons.isUrgent { record.waitingIsUrgent = true }
        advanceGates(index, moment)
    }

    /// Looks whether the gates of what waits are open, and queues it, judges it away or sets its timer.
    func advanceGates(_ index: UInt32, _ moment: Instant) {
        let record = record(index)
        record.gateOpensAtMilliseconds = nil
        if state(index).pointee.flags.contains(.waiting) {
            if record.stored.pointee.numbersLeft == 0,
                !gates(index, moment).awaitsTurn(isUrgent: record.waitingIsUrgent)
            {
                markUnsaved(index, isAwaited: true)
            }
            advanceWaiting(index, record, moment)
        } else {
            advanceRetry(index, record, moment)
            giveBack(index, record)
        }
        rearm(index, moment)
    }

    /// Judges the next event in full, and has the store hear of it.
    func saveNextEvent(_ index: UInt32) {
        state(index).pointee.flags.insert(.mustJudge)
        if settings.keepsCheckpoints { record(index).stored.pointee.savesNextEvent = true }
    }

    func judgement(_ index: UInt32, _ moment: Instant) -> Judgement {
        Judgement(
            state: state(index), record: record(index), rules: rules(index),
            nowMilliseconds: moment.nowMilliseconds)
    }

    func gates(_ index: UInt32, _ moment: Instant) -> Gates {
        #if PLANTED_DEFECTS
            var gates = Gates(
                record: record(index), rules: rules(index), moment: moment,
                turnMilliseconds: turnMilliseconds(index, moment))
            gates.endOvertakes = settings.plantedDefect == .endOvertakes
            return gates
        #else
            Gates(
                record: record(index), rules: rules(index), moment: moment,
                turnMilliseconds: turnMilliseconds(index, moment))
        #endif
    }

    func beginWaiting(_ index: UInt32, _ judgement: Judgement) {
        state(index).pointee.flags.insert(.waiting)
        judgement.record.waitingIsUrgent = false
        judgement.record.waitingThresholdMeters =
            judgement.state.pointee.latest.exists ? judgement.thresholdMeters : .infinity
    }

    /// The reasons of what waits, and how it ends where none lasts. Whether the phone would see a change is asked once: it costs as much as
    /// the reasons.
    func lastingReasons(_ index: UInt32, _ judgement: Judgement) -> (reasons: Reasons, ending: Decision?) {
        let reasons = judgement.reasons
        guard let ending = ending(judgement, reasons) else { return (reasons, nil) }
        guard tellsAgain(index, judgement.record) else { return (reasons, ending) }
        let again = judgement.reasons
        return (again, self.ending(judgement, again))
    }

    private func ending(_ judgement: Judgement, _ reasons: Reasons) -> Decision? {
        if reasons.isEmpty { return .returned }
        return judgement.isUnchanged(reasons) ? .unchanged : nil
    }

    /// What waits has lost its reasons. But the owner before may have told it, and have ended before it could save that: then the phone shows
    /// what holds no more, and is told what does.
    ///
    /// - Returns: whether it is.
    private func tellsAgain(_ index: UInt32, _ record: ActivityRecord) -> Bool {
        guard takeOver.mayLackNewest, state(index).pointee.flags.contains(.waiting), record.hasShown,
            isAsTakenOver(index)
        else { return false }
        record.isRetargeting = true
        return true
    }

    /// The waiting update ends without a send: it had lost its reasons, or the phone would see no change.
    func endWaiting(_ index: UInt32, _ decision: Decision, _ moment: Instant) {
        let record = record(index)
        if decision == .unchanged { moveAnchor(index, record) }
        // A checkpoint may say that it waits. And what it would have told besides is told by the next update; nothing holds that until then.
        markUnsaved(index)
        record.waiting.resolve(decision, &decisions)
        stopWaiting(index)
        // The distance had stood before a refresh that is due.
        if decision == .unchanged {
            evaluate(index, moment)
        } else {
            advanceGates(index, moment)
        }
    }

    /// Gives back memory that holds nothing any more.
    ///
    /// - Precondition: no update waits.
    func giveBack(_ index: UInt32, _ record: ActivityRecord) {
        let flags = state(index).pointee.flags
        if flags.contains(.ready) { return }
        // What has ended is remembered for hours, but by its name, its targets and its numbers alone.
        if flags.contains(.ended), !record.isEnding, record.flight == nil { record.forgetTruth() }
        record.shed()
    }

    func stopWaiting(_ index: UInt32) {
        leaveReady(index)
        state(index).pointee.flags.remove(.waiting)
        record(index).waitingIsUrgent = false
        record(index).gateOpensAtMilliseconds = nil
    }

    func leaveReady(_ index: UInt32) {
        let state = state(index)
        guard state.pointee.flags.contains(.ready) else { return }
        queues[queue(index)].remove(index, slab.states)
        state.pointee.flags.remove(.ready)
    }

    private func advanceWaiting(_ index: UInt32, _ record: ActivityRecord, _ moment: Instant) {
        let state = state(index)
        var opening = gates(index, moment).opening(isUrgent: record.waitingIsUrgent)
        if record.isStarting, opening == .open { opening = startOpening(index, record, moment) }
        switch opening {
        case .shut:
            leaveReady(index)
        case .at(let milliseconds):
            leaveReady(index)
            record.gateOpensAtMilliseconds = milliseconds
        case .open:
            // Once queued it is judged again when the last gate opens, by `take`.
            if state.pointee.flags.contains(.ready),
                state.pointee.flags.contains(.readyIsUrgent) == record.waitingIsUrgent
            {
                return
            }
            guard keepsReasons(index, record, moment) else { return }
            enqueue(index, isUrgent: record.waitingIsUrgent, moment)
        }
    }

    /// Judges an update whose gates have opened. False where it is no longer to be queued: it ended, or waits for the routine gates.
    private func keepsReasons(_ index: UInt32, _ record: ActivityRecord, _ moment: Instant) -> Bool {
        let judgement = judgement(index, moment)
        let (reasons, ending) = lastingReasons(index, judgement)
        if let ending {
            endWaiting(index, ending, moment)
            return false
        }
        if record.waitingIsUrgent, !reasons.isUrgent {
            record.waitingIsUrgent = false
            advanceWaiting(index, record, moment)
            return false
        }
        return true
    }

    private func advanceRetry(_ index: UInt32, _ record: ActivityRecord, _ moment: Instant) {
        guard let flight = record.flight, flight.phase == .lapsed else {
            leaveReady(index)
            return
        }
        switch gates(index, moment).retryOpening {
        case .open: enqueue(index, isUrgent: flight.update.isUrgent, moment)
        case .at(let milliseconds):
            leaveReady(index)
            record.gateOpensAtMilliseconds = milliseconds
        case .shut: leaveReady(index)
        }
    }

    private func enqueue(_ index: UInt32, isUrgent: Bool, _ moment: Instant) {
        let state = state(index)
        if state.pointee.flags.contains(.ready) {
            guard state.pointee.flags.contains(.readyIsUrgent) != isUrgent else { return }
            leaveReady(index)
        }
        state.pointee.flags.insert(.ready)
        if isUrgent {
            state.pointee.flags.insert(.readyIsUrgent)
        } else {
            state.pointee.flags.remove(.readyIsUrgent)
        }
        record(index).readySinceMilliseconds = moment.nowMilliseconds
        queues[queue(index)].append(index, slab.states)
        newlyReady.insert(isUrgent ? .urgent : .routine)
    }

    private func queue(_ index: UInt32) -> Int {
        let state = state(index)
        // Classes compete for credits alone.
        if settings.keepsOrderOfRelease { return 2 * Int(state.pointee.pool) }
        return 2 * Int(state.pointee.pool) + (state.pointee.flags.contains(.readyIsUrgent) ? 0 : 1)
    }

    private func join(_ index: UInt32, _ contribution: Contribution?) {
        guard let contribution else { return }
        record(index).waiting.add(contribution, &decisions)
        hold(index, contribution.origin)
    }

    /// While an update waits its threshold never rises: a worse fix must not talk the phone's error away.
    private func lowerThreshold(_ judgement: Judgement, _ newest: Contribution?) {
        guard newest?.ownsPosition == true, judgement.state.pointee.shown.exists else { return }
        judgement.record.waitingThresholdMeters = min(
            judgement.record.waitingThresholdMeters, judgement.thresholdMeters)
    }

    private func moveAnchor(_ index: UInt32, _ record: ActivityRecord) {
        let state = state(index)
        state.pointee.shown = state.pointee.latest
        record.shownSpeed = record.latestSpeed
        record.shownHeading = record.latestHeading
        if rules(index).keepsShownTimestamp {
            record.shownTimestampMilliseconds = state.pointee.latestTimestampMilliseconds
        }
        record.difference = nil
    }
}
