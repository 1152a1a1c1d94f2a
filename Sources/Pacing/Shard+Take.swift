import Telemetry

extension Shard {
    /// What should leave next from this pool: urgent before routine, inside a class the longest waiting; nil where nothing is ready.
    public func ready(pool: Int) -> Ready? {
        guard let index = firstReady(pool: pool) else { return nil }
        return Ready(
            isUrgent: state(index).pointee.flags.contains(.readyIsUrgent),
            sinceMilliseconds: record(index).readySinceMilliseconds, order: UInt64(state(index).pointee.startOrder))
    }

    /// Binds the newest truth of the activity that should leave next: judges once more, takes sequence, timestamp and a token of the
    /// bucket. Nil where that one had lost its reasons: call again while `ready` gives something.
    public func take(pool: Int, at instant: Instant) -> Update? {
        let moment = moment(instant)
        guard let index = firstReady(pool: pool) else { return nil }
        prefetchReady(after: index)
        let record = record(index)
        guard state(index).pointee.flags.contains(.waiting) else {
            leaveReady(index)
            guard let flight = record.flight, flight.phase == .lapsed else { return nil }
            return attemptAgain(index, flight, moment)
        }
        guard gates(index, moment).opening(isUrgent: record.waitingIsUrgent) == .open else {
            advanceGates(index, moment)
            return nil
        }
        let judgement = judgement(index, moment)
        let (reasons, ending) = lastingReasons(index, judgement)
        if let ending {
            endWaiting(index, ending, moment)
            return nil
        }
        if record.waitingIsUrgent, !reasons.isUrgent {
            record.waitingIsUrgent = false
            advanceGates(index, moment)
            return nil
        }
        if record.isStarting, mustBeCleared(index, moment) { return nil }
        if startMustBeNoted(index, reasons.contains(.started) || record.flight?.update.kind == .start, moment) {
            return nil
        }
        return bind(index, reasons, judgement, moment)
    }

    /// A start whose outcome nobody knows is not repeated, so the store has to know of it before it leaves. Asked only when a stream is free
    /// for it: then it leaves as soon as the store has answered.
    private func startMustBeNoted(_ index: UInt32, _ isStart: Bool, _ moment: Instant) -> Bool {
        let record = record(index)
        #if PLANTED_DEFECTS
            if settings.plantedDefect == .intentNotWritten { return false }
        #endif
        guard settings.keepsCheckpoints, isStart, record.target.map(\.isStart) ?? true, record.startNote != .noted
        else { return false }
        record.startNote = .wanted
        markUnsaved(index, isAwaited: true)
        advanceGates(index, moment)
        return true
    }

    /// A waiting retry whose time has come: the same content, sequence and id, stamped anew.
    /// Nil where it was superseded, has gone or cannot be stamped yet; what then has to be told comes by `ready` and `take`.
    public func retake(_ ticket: Ticket, at instant: Instant) -> Update? {
        let moment = moment(instant)
        guard let (index, flight) = flight(of: ticket), !flight.isInFlight else { return nil }
        #if PLANTED_DEFECTS
            if settings.plantedDefect == .supersededSent { return attemptAgain(index, flight, moment) }
        #endif
        guard !state(index).pointee.flags.contains(.waiting) else {
            flight.phase = .lapsed
            advanceGates(index, moment)
            return nil
        }
        return attemptAgain(index, flight, moment)
    }

    func flight(of ticket: Ticket) -> (index: UInt32, flight: Flight)? {
        guard slab.isInUse(ticket.slot), let flight = record(ticket.slot).flight, flight.update.ticket == ticket else {
            return nil
        }
        return (ticket.slot, flight)
    }

    /// When the app last reported the target that an update went to; nil where that is the activity's no more.
    public func targetRegisteredAtMilliseconds(of ticket: Ticket) -> Int64? {
        guard let (index, flight) = flight(of: ticket), flight.life == record(index).life else { return nil }
        if flight.update.kind == .start { return flight.update.targetRegisteredAtMilliseconds }
        let record = record(index)
        return record.target == flight.update.target ? record.targetRegisteredAtMilliseconds : nil
    }

    /// The provider knows the start token of an update no more, so the registry is to forget it, where it came from there.
    ///
    /// - Parameter goneAtMilliseconds: one that was registered later is alive.
    public func forgetStartToken(of ticket: Ticket, goneAtMilliseconds: Int64) {
        guard let (index, flight) = flight(of: ticket), let user = record(index).user,
            case .startToken(let token) = flight.update.target
        else { return }
        ask(
            index,
            .forgetStartToken(user: user, app: appName(index), token, goneAtMilliseconds: goneAtMilliseconds))
    }

    private func firstReady(pool: Int) -> UInt32? {
        let urgent = queues[2 * pool].first
        if urgent != ActivitySlab.noIndex { return urgent }
        let routine = queues[2 * pool + 1].first
        return routine == ActivitySlab.noIndex ? nil : routine
    }

    private func attemptAgain(_ index: UInt32, _ flight: Flight, _ moment: Instant) -> Update? {
        let record = record(index)
        flight.phase = .lapsed
        guard gates(index, moment).retryOpening == .open else {
            advanceGates(index, moment)
            return nil
        }
        if startMustBeNoted(index, flight.update.kind == .start, moment) { return nil }
        record.startNote = .none
        leaveReady(index)
        flight.phase = .inFlight
        flight.before = Snapshot(record, state(index), hadBeenSent: flight.before.hadBeenSent)
        flight.update.timestampSeconds = stamp(record, moment)
        if flight.update.staleDateSeconds != nil {
            flight.update.staleDateSeconds = staleDate(rules(index), moment)
        }
        // The card that it begins lives from now on.
        if flight.update.kind == .start { record.lifeStartMilliseconds = moment.nowMilliseconds }
        flight.update.takenAt = moment
        flight.update.attempt += 1
        // What the phone will have seen last was sent now.
        record.lastSentAtMilliseconds = moment.nowMilliseconds
        state(index).pointee.quietUntilMilliseconds = moment.nowMilliseconds + rules(index).quietMilliseconds
        advanceGates(index, moment)
        return flight.update
    }

    private func stamp(_ record: ActivityRecord, _ moment: Instant) -> Int64 {
        record.lastTimestampSeconds = max(floorSeconds(moment.wallMilliseconds), record.lastTimestampSeconds &+ 1)
        #if PLANTED_DEFECTS
            if settings.plantedDefect == .timestampTwice {
                record.lastTimestampSeconds = floorSeconds(moment.wallMilliseconds)
            }
        #endif
        return record.lastTimestampSeconds
    }

    private func staleDate(_ rules: PacingRules, _ moment: Instant) -> Int64 {
        floorSeconds(moment.wallMilliseconds + rules.settings.staleAfterMilliseconds)
    }

    private func floorSeconds(_ milliseconds: Int64) -> Int64 {
        (milliseconds - (milliseconds % 1000 + 1000) % 1000) / 1000
    }

    private func bind(_ index: UInt32, _ judged: Reasons, _ judgement: Judgement, _ moment: Instant) -> Update {
        let state = state(index)
        let record = judgement.record
        let rules = judgement.rules
        let superseded = record.flight
        let before = Snapshot(record, state)

        var reasons = judged
        if !record.quiet.isEmpty {
            record.waiting.prepend(record.quiet, &decisions)
            record.quiet = Contributions()
        }
        var setFields = record.setFields
        var alert = record.alert
        if let superseded {
            // It never arrived, so the newer update tells what it would have told.
            record.waiting.prepend(superseded.followers, &decisions)
            record.waiting.prepend(superseded.contributions, &decisions)
            setFields += superseded.setFields
            if alert == nil { alert = superseded.update.alert }
            if superseded.update.kind == .start, record.target == nil { reasons.insert(.started) }
            if alert != nil { reasons.insert(.alert) }
            if superseded.wasRetargeting { reasons.insert(.retarget) }
        }
        let kind: Update.Kind = reasons.contains(.ended) ? .end : reasons.contains(.started) ? .start : .update
        guard let target = record.target ?? superseded?.update.target else {
            preconditionFailure("an update leaves without a target: \(reasons.names)")
        }
        let priority = takeToken(record, kind, isUrgent: reasons.isUrgent, moment)
        record.sequence += 1
        if settings.keepsCheckpoints { record.stored.pointee.numbersLeft -= 1 }
        record.startNote = .none
        #if PLANTED_DEFECTS
            if settings.plantedDefect == .sequenceReused, superseded != nil { record.sequence -= 1 }
        #endif
        nextGeneration &+= 1
        let told = judgement.latestPosition
        writtenFields.removeAll()
        told.write(rules.settings.positionFields, into: &writtenFields)
        writtenFields.set(rules.settings.sequenceField) { $0.append(integer: record.sequence) }
        let contentState = record.latestContent.writing(writtenFields)
        let (name, identifier) = withIdentifier(ofIndex: index) {
            (String(decoding: $0, as: UTF8.self), APNsIdentifier(activity: $0, sequence: record.sequence))
        }
        let update = Update(
            ticket: Ticket(slot: index, generation: nextGeneration), pool: Int(state.pointee.pool),
            activityIdentifier: name, attributesType: record.attributesType,
            attributes: record.attributes, kind: kind, reasons: reasons,
            isUrgent: reasons.isUrgent, priority: priority, sequence: record.sequence, apnsIdentifier: identifier,
            timestampSeconds: stamp(record, moment),
            staleDateSeconds: kind == .end ? nil : staleDate(rules, moment),
            dismissal: kind == .end ? record.dismissal?.clamped(sentAtMilliseconds: moment.wallMilliseconds) : nil,
            contentState: contentState, alert: alert,
            relevanceScore: record.relevanceScore, target: target,
            targetRegisteredAtMilliseconds: record.targetRegisteredAtMilliseconds,
            position: told.fix.exists ? told.fix.coordinate : nil,
            positionTimestampMilliseconds: told.fix.exists ? told.timestampMilliseconds : nil, takenAt: moment,
            attempt: 1, newestEventAppliedAtMilliseconds: record.waiting.newestAppliedAtMilliseconds)
        let shownBefore =
            superseded?.shownBefore
            ?? Shown(
                position: judgement.shownPosition, contentState: record.shownContent, exists: record.hasShown)
        state.pointee.mayHaveFlight = true
        record.flight = Flight(
            update, life: record.life, contributions: record.waiting, shownBefore: shownBefore, setFields: setFields,
            wasRetargeting: reasons.contains(.retarget), before: before, bucketAfter: record.bucket)
        send(index, kind, judgement, moment)
        sendReasons.count(update)
        return update
    }

    /// - Returns: the priority.
    private func takeToken(_ record: ActivityRecord, _ kind: Update.Kind, isUrgent: Bool, _ moment: Instant) -> Int {
        record.bucket.refill(nowMilliseconds: moment.nowMilliseconds)
        let mayBorrow = isUrgent && kind != .end
        let priority = !isUrgent || (mayBorrow && record.bucket.isExhausted) ? 5 : 10
        let floor = mayBorrow ? -(record.bucket.limits?.burst ?? 0) : 0
        record.bucket.take(above: floor, nowMilliseconds: moment.nowMilliseconds)
        #if PLANTED_DEFECTS
            if settings.plantedDefect == .bucketFullAfterUrgent, isUrgent {
                record.bucket = CadenceBucket(record.bucket.limits)
            }
        #endif
        return priority
    }

    /// The phone counts as told, and nothing waits any more.
    private func send(_ index: UInt32, _ kind: Update.Kind, _ judgement: Judgement, _ moment: Instant) {
        let state = state(index)
        let record = judgement.record
        record.waiting = Contributions()
        record.shownContent = record.latestContent
        record.hasShown = true
        record.shownSpeed = record.latestSpeed
        record.shownHeading = record.latestHeading
        if judgement.rules.keepsShownTimestamp {
            record.shownTimestampMilliseconds = state.pointee.latestTimestampMilliseconds
        }
        state.pointee.shown = state.pointee.latest
        record.setFields = []
        record.difference = nil
        record.alert = nil
        record.isRetargeting = false
        record.isEnding = false
        record.hasBeenSent = true
        record.lastSentAtMilliseconds = moment.nowMilliseconds
        state.pointee.quietUntilMilliseconds =
            kind == .end ? .max : moment.nowMilliseconds + judgement.rules.quietMilliseconds
        state.pointee.flags.remove([.hasEventSinceSend, .mustJudge])
        record.stored.pointee.savesNextEvent = false
        if kind == .start {
            // Its update token is still to come.
            record.isStarting = false
            record.target = record.isTargetAssumed ? .assumed : nil
            record.lifeStartMilliseconds = moment.nowMilliseconds
        }
        stopWaiting(index)
        advanceGates(index, moment)
    }
}

extension Dismissal {
    /// The system removes the activity four hours after its end at the latest, whatever it is told (contract, section 8).
    static let longestMilliseconds: Int64 = 4 * 3_600_000

    /// At once where it lies in the past.
    func clamped(sentAtMilliseconds now: Int64) -> Dismissal {
        guard case .at(let milliseconds) = self else { return self }
        return milliseconds <= now
            ? .immediate : .at(milliseconds: min(milliseconds, now + Dismissal.longestMilliseconds))
    }
}
