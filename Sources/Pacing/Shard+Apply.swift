import Telemetry

extension Shard {
    func applyToActivity(_ event: Event, at place: Place, origin: Origin, _ moment: Instant) -> EventFault? {
        decisions.activityEvents += 1
        guard let index = find(event.identifier, at: place) else {
            return applyToUnknown(event, origin: origin, moment)
        }
        return applyToKnown(index, event, origin: origin, moment)
    }

    func applyToKnown(_ index: UInt32, _ event: Event, origin: Origin, _ moment: Instant) -> EventFault? {
        if state(index).pointee.flags.contains(.ended) {
            return applyAfterEnd(index, event, origin: origin, moment)
        }
        if isDuplicate(index, event, origin: origin) {
            count(.duplicate)
            return nil
        }
        return switch event.kind {
        case .position: applyPosition(index, event, origin: origin, moment)
        case .status: applyStatus(index, event, origin: origin, moment)
        case .token: applyToken(index, event, origin: origin, moment)
        case .activityStarted: applyRepeatedStart(index, event, origin: origin, moment)
        case .activityEnded: applyEnd(index, event, origin: origin, moment)
        }
    }

    private func applyToUnknown(_ event: Event, origin: Origin, _ moment: Instant) -> EventFault? {
        switch event.kind {
        case .activityStarted:
            return applyStart(event, origin: origin, moment)
        case .token:
            keepEarly(event, moment)
            return nil
        case .activityEnded:
            count(.unknownActivity)
            return nil
        case .position, .status:
            guard settings.default.autoStart else {
                count(.unknownActivity)
                return nil
            }
            return applyFirst(event, origin: origin, moment)
        }
    }

    /// A position or status that begins its activity, unless it is dropped.
    private func applyFirst(_ event: Event, origin: Origin, _ moment: Instant) -> EventFault? {
        if event.kind == .position, let drop = drop(event, rules[0].position, moment) {
            count(drop)
            return nil
        }
        if let patch = event.detail?.contentPatch,
            let fault = fault(in: ContentState().applying(patch), ofType: nil, isBroadcast: false)
        {
            count(.deadLetter)
            return fault
        }
        let index = begin(event, attributesType: nil, moment)
        askToBegin(index)
        record(index).lacksStart = true
        record(index).lifeStartMilliseconds = moment.nowMilliseconds
        if settings.planTargets, record(index).target == nil {
            record(index).target = .assumed
            record(index).isTargetAssumed = true
            record(index).hadTarget = true
        }
        return applyToKnown(index, event, origin: origin, moment)
    }

    private func keepEarly(_ event: Event, _ moment: Instant) {
        guard earlyTokens.keep(event, nowMilliseconds: moment.nowMilliseconds) else {
            count(.outOfOrder)
            return
        }
        if settings.keepsCheckpoints { unsavedEarlyTokens.insert(Array(event.identifier)) }
        count(.applied)
    }

    private func applyStatus(_ index: UInt32, _ event: Event, origin: Origin, _ moment: Instant) -> EventFault? {
        let record = record(index)
        let merged: ContentState?
        switch merge(event.detail?.contentPatch, into: record) {
        case .failure(let fault): return deadLetter(fault)
        case .success(let state): merged = state
        }
        remember(index, event, origin: origin)
        if let score = event.detail?.relevanceScore {
            record.relevanceScore = score
            markUnsaved(index)
        }
        // A producer that gives ids may repeat this one long after: the next owner has to know it.
        if event.eventIdentifierHash != 0 { markUnsaved(index) }
        let contribution = takeOver(event, merged, alert: event.detail?.alert, record, origin: origin, moment)
        finishApplying(index, contribution, moment)
        return nil
    }

    private func applyToken(_ index: UInt32, _ event: Event, origin: Origin, _ moment: Instant) -> EventFault? {
        guard takeOverToken(index, event, moment) else {
            count(.outOfOrder)
            return nil
        }
        remember(index, event, origin: origin)
        markUnsaved(index)
        count(.applied)
        evaluate(index, moment)
        return nil
    }

    private func applyEnd(_ index: UInt32, _ event: Event, origin: Origin, _ moment: Instant) -> EventFault? {
        let record = record(index)
        let merged: ContentState?
        switch merge(event.detail?.contentPatch, into: record) {
        case .failure(let fault): return deadLetter(fault)
        case .success(let state): merged = state
        }
        remember(index, event, origin: origin)
        var contribution = takeOver(event, merged, alert: event.detail?.alert, record, origin: origin, moment)
        if contribution.isEmpty {
            count(.applied)
            contribution.isDecided = true
        }
        contribution.ownsEnd = true
        end(index, joining: contribution, dismissal: event.detail?.dismissal, moment)
        return nil
    }

    private func applyAfterEnd(_ index: UInt32, _ event: Event, origin: Origin, _ moment: Instant) -> EventFault? {
        let record = record(index)
        let isNewLife = event.kind == .activityStarted && hasNewTarget(event, record)
        // Only an end that has no target waits for a token.
        let isAwaitedToken =
            event.kind == .token && record.isEnding && (record.target == nil || event.detail?.isRevoked == true)
        guard isNewLife || isAwaitedToken else {
            count(.afterEnd)
            return nil
        }
        if isDuplicate(index, event, origin: origin) {
            count(.duplicate)
            return nil
        }
        if isNewLife { return applyNewLife(index, event, origin: origin, moment) }
        guard takeOverToken(index, event, moment) else {
            count(.outOfOrder)
            return nil
        }
        remember(index, event, origin: origin)
        record.noteEnd(atMilliseconds: moment.nowMilliseconds)
        markUnsaved(index)
        count(.applied)
        advanceGates(index, moment)
        return nil
    }

    func isDuplicate(_ index: UInt32, _ event: Event, origin: Origin) -> Bool {
        if origin.isKnown, origin.offset <= lastOffset(index, source: origin.source) { return true }
        if event.kind == .position, event.timestampMilliseconds == newestTimestampMilliseconds(index) { return true }
        guard event.eventIdentifierHash != 0, let ring = slab.ring(index) else { return false }
        return EventIdentifierRing.contains(ring, event.eventIdentifierHash)
    }

    /// The event is applied, or held aside: its id and offset count as seen.
    func see(_ index: UInt32, _ event: Event, origin: Origin) {
        noteOffset(index, origin)
        guard event.eventIdentifierHash != 0 else { return }
        EventIdentifierRing.insert(event.eventIdentifierHash, into: slab.ring(index) ?? slab.makeRing(index))
    }

    func remember(_ index: UInt32, _ event: Event, origin: Origin) {
        see(index, event, origin: origin)
        state(index).pointee.flags.insert(.hasEventSinceSend)
    }

    func deadLetter(_ fault: EventFault) -> EventFault {
        count(.deadLetter)
        return fault
    }

    /// The activity's content-state with the patch, nil where there is none; or why it cannot be used.
    func merge(_ patch: PackedObject?, into record: ActivityRecord) -> Result<ContentState?, EventFault> {
        guard let patch else { return .success(nil) }
        let merged = record.latestContent.applying(patch)
        var isBroadcast = false
        if case .channel? = record.target { isBroadcast = true }
        if let fault = fault(in: merged, ofType: record.attributesType, isBroadcast: isBroadcast) {
            return .failure(fault)
        }
        return .success(merged)
    }

    /// Makes content and alert of an event that is not a position the newest truth.
    func takeOver(
        _ event: Event, _ merged: ContentState?, alert: Alert?, _ record: ActivityRecord, origin: Origin,
        _ moment: Instant
    ) -> Contribution {
        var contribution = Contribution(origin: origin, appliedAtMilliseconds: moment.nowMilliseconds)
        if let merged, let patch = event.detail?.contentPatch {
            contribution.fields = patch.leafPaths
            record.latestContent = merged
            record.difference = nil
            // What an ending sets goes with the end, whatever its reason.
            if event.kind != .activityEnded { record.noteSet(contribution.fields) }
        }
        if let alert {
            record.alert = alert
            contribution.ownsAlert = true
        }
        return contribution
    }

    /// Judges after an event that is no position.
    func finishApplying(_ index: UInt32, _ contribution: Contribution, _ moment: Instant) {
        if contribution.isEmpty {
            // It set no field, position or alert.
            if !contribution.isDecided { count(.applied) }
            evaluate(index, moment)
        } else {
            evaluate(index, joining: contribution, moment)
        }
    }

    func fault(in contentState: ContentState, ofType attributesType: String?, isBroadcast: Bool) -> EventFault? {
        let limit = isBroadcast ? 5120 : 4096
        let size = contentState.byteCount
        if size > limit {
            return EventFault(
                .contentStateTooLarge,
                "the merged content-state has \(size) bytes, \(limit) are allowed: shorten or remove fields")
        }
        return settings.check(attributesType, contentState)
    }
}

extension ActivityRecord {
    /// Beyond so many it forgets those of fields that exist no more.
    private static let setFieldsBeforeSweep = 256

    /// Notes fields that a `status` or `activity.started` set.
    func noteSet(_ fields: [FieldPath]) {
        var setFields = self.setFields
        for field in fields {
            // A patch may remove thousands of fields that nobody has: they cannot differ, and must not cost.
            let isFull = setFields.count >= ActivityRecord.setFieldsBeforeSweep
            if isFull && latestContent[field] == nil && shownContent[field] == nil { continue }
            if !setFields.contains(field) { setFields.append(field) }
        }
        if setFields.count > ActivityRecord.setFieldsBeforeSweep {
            setFields.removeAll { latestContent[$0] == nil && shownContent[$0] == nil }
        }
        self.setFields = setFields
        difference = nil
    }
}
