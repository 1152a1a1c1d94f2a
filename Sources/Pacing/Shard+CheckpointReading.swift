import Telemetry

extension Shard {
    /// Whether something may be kept of this id that has to be restored before an event for it is applied.
    public func needsLoad(_ identifier: UnsafeRawBufferPointer, isSubject: Bool) -> Bool {
        if isSubject { return !subjects.isComplete(identifier) }
        var place = place(of: identifier)
        return needsLoad(identifier, at: &place)
    }

    /// The same for an activity. Where it is known, its place then says where it lies.
    public func needsLoad(_ identifier: UnsafeRawBufferPointer, at place: inout Place) -> Bool {
        guard let index = find(identifier, at: place) else { return true }
        place.index = index
        // An event is on its way: the activity stays.
        if !leaving.isEmpty { leaving.remove(index) }
        return false
    }

    /// All that is kept of followers of this subject has been restored.
    public func noteLoaded(subject identifier: UnsafeRawBufferPointer) {
        subjects.noteComplete(identifier)
    }

    /// Takes over what the store kept of an activity. What is in memory is newer, and stays.
    ///
    /// - Returns: whether it was taken.
    /// - Throws: where the bytes are no checkpoint, or one of a newer program.
    @discardableResult
    public func restore(
        _ identifier: UnsafeRawBufferPointer, from bytes: UnsafeRawBufferPointer, at instant: Instant
    ) throws(CheckpointFault) -> Bool {
        let moment = moment(instant)
        guard find(identifier) == nil else { return false }
        var reader = try CheckpointReader(sealed: bytes)
        let version = try reader.byte()
        guard CheckpointFormat.oldestVersion...CheckpointFormat.version ~= version else {
            throw CheckpointFault(
                explanation:
                    "it has format \(version), and this program reads formats \(CheckpointFormat.oldestVersion) to \(CheckpointFormat.version): run the newer program"
            )
        }
        if try reader.byte() == CheckpointFormat.earlyToken {
            try restoreEarlyToken(identifier, from: &reader, version: version)
            return true
        }
        let index = slab.allocate(StoredIdentifier(identifier), StoredRecord(bucket: CadenceBucket(nil)))
        let hash = activities.hash(of: identifier)
        activities.insert(hash, index: index)
        do throws(CheckpointFault) {
            let flags = try read(index, from: &reader, version: version, moment)
            try reader.finish()
            resume(index, flags, moment)
            return true
        } catch {
            dropHeld(index)
            unfollow(index)
            forget(index)
            throw error
        }
    }

    private func read(
        _ index: UInt32, from reader: inout CheckpointReader, version: UInt8, _ moment: Instant
    ) throws(CheckpointFault) -> CheckpointFormat.Flags {
        let state = state(index)
        let record = record(index)
        let stored = record.stored
        let now = Int48(moment.nowMilliseconds)
        // A stored time ahead of now counts as now.
        func past(_ time: Int48) -> Int48 { time == .min || time.value <= now.value ? time : now }

        let flags = CheckpointFormat.Flags(rawValue: try reader.number())
        if version >= 2 { _ = try reader.int48() }
        stored.pointee.flags = StoredRecord.Flags(rawValue: try reader.number())
            .intersection(CheckpointFormat.keptRecordFlags)
        state.pointee.startOrder = try reader.number()
        state.pointee.lastOffset = ceiling(try reader.number(), source: 0)
        let others = try reader.list { reader throws(CheckpointFault) -> Int64 in try reader.number() }
        if !others.isEmpty {
            record.extras.otherOffsets = others.enumerated().map { ceiling($0.element, source: $0.offset + 1) }
        }
        state.pointee.latest = try reader.fix()
        state.pointee.latestTimestampMilliseconds = try reader.number()
        state.pointee.shown = try reader.fix()
        record.latestContent = ContentState(try reader.packed())
        record.shownContent =
            flags.contains(.shownIsLatest) ? record.latestContent : ContentState(try reader.packed())
        if try reader.flag() {
            record.latestSpeed = try reader.double()
            record.latestHeading = try reader.double()
            record.shownSpeed = try reader.double()
            record.shownHeading = try reader.double()
            record.shownTimestampMilliseconds = try reader.number()
        }

        stored.pointee.sequence = try reader.number()
        let lastTimestamp: Int64 = try reader.number()
        let mayLackNewest = takeOver.mayLackNewest && !flags.contains(.exact) && lastTimestamp > .min
        record.lastTimestampSeconds =
            mayLackNewest
            ? max(lastTimestamp + TakeOver.unsavedStamps, takeOver.timestampFloorSeconds) : lastTimestamp
        stored.pointee.lastSentAt = past(try reader.int48())
        stored.pointee.bucket = try CadenceBucket(&reader, nowMilliseconds: moment.nowMilliseconds)
        stored.pointee.life = past(try reader.int48())
        let life: UInt32 = try reader.number()
        if life > 0 { record.life = life }

        stored.pointee.target = try reader.target()
        stored.pointee.targetRegisteredAt = try reader.int48()
        record.goneTarget = try reader.target()
        let known = try reader.list { reader throws(CheckpointFault) -> UInt64 in try reader.number() }
        for hash in known { record.extras.knownTargets.insert(hash) }
        record.attributesType = try reader.optional { reader throws(CheckpointFault) in try reader.text() }
        record.attributes = try reader.optional { reader throws(CheckpointFault) in try reader.packed() }?.object
        let app = try reader.optional { reader throws(CheckpointFault) in try reader.text() }
        state.pointee.pool = poolIndex(forApp: app)
        state.pointee.rules = rulesIndex(forType: record.attributesType)
        if try reader.flag() {
            record.subject = subjects.followAgain(try reader.sized(), by: index) { self.state($0).pointee.startOrder }
        }

        record.setFields = try reader.fields()
        record.alert = try reader.optional { reader throws(CheckpointFault) in try reader.alert() }
        record.dismissal = try reader.optional { reader throws(CheckpointFault) in try reader.dismissal() }
        record.relevanceScore = try reader.optional { reader throws(CheckpointFault) in try reader.double() }
        record.renewalStartToken = try reader.optional { reader throws(CheckpointFault) in try reader.token() }
        record.renewalAlert = try reader.optional { reader throws(CheckpointFault) in try reader.alert() }
        if version >= 2 {
            record.renewals = try reader.number()
            record.user = try reader.optional { reader throws(CheckpointFault) in try reader.text() }
            record.replacement = try reader.optional { reader throws(CheckpointFault) in try reader.replacement() }
            record.revocation = try reader.optional { reader throws(CheckpointFault) in try reader.revocation() }
        }
        let threshold = try reader.double()
        if threshold.isFinite { record.waitingThresholdMeters = threshold }
        if try reader.flag() { try readHeld(index, record, from: &reader, moment) }
        for _ in 0..<(try reader.count()) {
            EventIdentifierRing.insert(try reader.number(), into: slab.ring(index) ?? slab.makeRing(index))
        }
        return flags
    }

    private func readHeld(
        _ index: UInt32, _ record: ActivityRecord, from reader: inout CheckpointReader, _ moment: Instant
    ) throws(CheckpointFault) {
        let position = try reader.position()
        let timestamp: Int64 = try reader.number()
        let patch = try reader.optional { reader throws(CheckpointFault) in try reader.packed() }
        record.held = HeldPosition(
            // The checkpoint covers it: it holds no offset.
            position: position, timestampMilliseconds: timestamp, origin: .none,
            appliedAtMilliseconds: moment.nowMilliseconds,
            detail: patch.map { EventDetail(contentPatch: $0) })
        state(index).pointee.flags.insert(.hasHeld)
        decisions.activityEvents += 1
        decisions.pending += 1
    }

    /// What was restored goes on: it is judged, and waits or is timed as it was.
    private func resume(_ index: UInt32, _ flags: CheckpointFormat.Flags, _ moment: Instant) {
        let state = state(index)
        let record = record(index)
        let settings = rules(index).settings
        state.pointee.flags.insert(.mustJudge)
        if flags.contains(.exact) { saveNextEvent(index) }
        if flags.contains(.hasEventSinceSend) { state.pointee.flags.insert(.hasEventSinceSend) }
        if flags.contains(.ended) { state.pointee.flags.insert(.ended) }
        let threshold = record.waitingThresholdMeters
        nextStartOrder = max(nextStartOrder, state.pointee.startOrder)
        // The settings may have changed since.
        record.bucket.switchTo(
            .of(settings.profile, frequentUpdates: record.frequentUpdates), nowMilliseconds: moment.nowMilliseconds)
        if flags.contains(.startAttempted) {
            // Nobody knows whether there is a card: its content waits for the token that the card would report.
            record.isStarting = false
            // One that the card has reported already is good, whatever became of the answer.
            if case .startToken = record.target { record.target = nil }
            record.hasBeenSent = true
            if record.lifeStartMilliseconds == nil { record.lifeStartMilliseconds = moment.nowMilliseconds }
        }
        if let lastSent = record.lastSentAtMilliseconds {
            state.pointee.quietUntilMilliseconds = lastSent + rules(index).quietMilliseconds
        } else if record.beganOnPhone, settings.refresh, let start = record.lifeStartMilliseconds {
            state.pointee.quietUntilMilliseconds = start + rules(index).refreshAfterMilliseconds
        }
        if takeOver.mayLackNewest, !flags.contains(.exact) { forgetSuppressedPosition(index, record) }
        if !flags.contains(.ended) { resumeStart(index, record, moment) }
        if flags.contains(.ended), !record.isEnding {
            giveBack(index, record)
            rearm(index, moment)
            return
        }
        if flags.contains(.waiting) {
            beginWaiting(index, judgement(index, moment))
            record.waitingThresholdMeters = min(record.waitingThresholdMeters, threshold)
        } else if !hasBecomeDue(index, moment) {
            // As it was left: what a provider refused, say, waits for the next event. That one may give no reason, and whoever is next would
            // take what was refused for the newest there is.
            if !judgement(index, moment).reasons.isEmpty { saveNextEvent(index) }
            advanceGates(index, moment)
            return
        }
        evaluate(index, moment)
    }

    /// What an owner before had asked, or was about to ask, is asked again.
    private func resumeStart(_ index: UInt32, _ record: ActivityRecord, _ moment: Instant) {
        if record.replacement != nil { replace(index, isLoaded: false, moment) }
        if record.target == nil { askToBegin(index) }
        guard let user = record.user, record.awaitsStartToken || (record.isStarting && settings.asksRegistry) else {
            return
        }
        record.awaitsStartToken = false
        awaitStartToken(index, of: user)
    }

    /// Whether time has given a reason that nobody may have looked for.
    private func hasBecomeDue(_ index: UInt32, _ moment: Instant) -> Bool {
        let lastSent = record(index).lastSentAtMilliseconds
        let stale = lastSent.map { $0 + rules(index).settings.staleAfterMilliseconds } ?? .max
        return moment.nowMilliseconds >= min(state(index).pointee.quietUntilMilliseconds, stale)
    }

    /// Positions inside the deadband may have come after this one, which nobody kept: it may be further from the newest than the one that the
    /// phone shows, and must not take its place.
    private func forgetSuppressedPosition(_ index: UInt32, _ record: ActivityRecord) {
        let state = state(index)
        guard state.pointee.latest.exists, state.pointee.shown.exists, !state.pointee.flags.contains(.ended) else {
            return
        }
        let threshold = min(
            record.waitingThresholdMeters,
            positionRules(index).pointee.thresholdMeters(
                latest: state.pointee.latest, shown: state.pointee.shown))
        guard
            state.pointee.shown.coordinate.distanceMeters(to: state.pointee.latest.coordinate) <= threshold
        else { return }
        state.pointee.latest = state.pointee.shown
        state.pointee.isAnchorForgotten = true
        record.latestSpeed = record.shownSpeed
        record.latestHeading = record.shownHeading
    }

    private func ceiling(_ offset: Int64, source: Int) -> Int64 {
        source < takeOver.offsetCeilings.count ? min(offset, takeOver.offsetCeilings[source]) : offset
    }
}
