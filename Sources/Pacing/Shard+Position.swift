import Telemetry

extension Shard {
    func applyPosition(_ index: UInt32, _ event: Event, origin: Origin, _ moment: Instant) -> EventFault? {
        let rules = positionRules(index).pointee
        if event.timestampMilliseconds < newestTimestampMilliseconds(index) {
            count(.outOfOrder)
            noteDrop(index, .outOfOrder, event, moment)
            return nil
        }
        if let drop = drop(event, rules, moment) {
            count(drop)
            noteDrop(index, drop, event, moment)
            return nil
        }
        switch plausibility(index, event, rules) {
        case .notFinite:
            count(.implausible)
            noteDrop(index, .implausible, event, moment)
            return nil
        case .implausible:
            return applyImplausible(index, event, origin: origin, rules, moment)
        case .plausible:
            return takePosition(index, event, origin: origin, rules, moment)
        }
    }

    /// Of the newest position seen: what is held aside counts while it is held.
    func newestTimestampMilliseconds(_ index: UInt32) -> Int64 {
        let state = state(index)
        guard state.pointee.flags.contains(.hasHeld), let held = record(index).held else {
            return state.pointee.latestTimestampMilliseconds
        }
        return max(held.timestampMilliseconds, state.pointee.latestTimestampMilliseconds)
    }

    /// Why a position is not believable by itself; nil where it is.
    func drop(_ event: Event, _ rules: PositionRules, _ moment: Instant) -> Decision? {
        let drop = Sanity.drop(event, rules, moment)
        if drop == .future || drop == .tooOld, Sanity.isWeekRollover(event, rules, moment) {
            decisions.weekRollovers += 1
        }
        return drop
    }

    /// Whether `event` may follow the last position taken. After a long gap anything may: no filter locks an activity out for good.
    private func plausibility(_ index: UInt32, _ event: Event, _ rules: PositionRules) -> Sanity.Plausibility {
        let state = state(index)
        let fix = Fix(event.position)
        guard fix.latitude.isFinite, fix.longitude.isFinite else { return .notFinite }
        guard state.pointee.latest.exists else { return .plausible }
        if state.pointee.isAnchorForgotten { return .plausible }
        let gap = event.timestampMilliseconds - state.pointee.latestTimestampMilliseconds
        if gap > rules.reanchorAfterMilliseconds { return .plausible }
        return Sanity.plausibility(
            from: state.pointee.latest, atMilliseconds: state.pointee.latestTimestampMilliseconds,
            to: fix, atMilliseconds: event.timestampMilliseconds, rules)
    }

    private func takePosition(
        _ index: UInt32, _ event: Event, origin: Origin, _ rules: PositionRules, _ moment: Instant
    ) -> EventFault? {
        let state = state(index)
        if let detail = event.detail, detail.contentPatch != nil || state.pointee.flags.contains(.hasHeld) {
            return takePositionWithContent(index, event, origin: origin, moment)
        }
        if state.pointee.flags.contains(.hasHeld) { dropHeld(index) }
        remember(index, event, origin: origin)
        move(index, event.position, timestampMilliseconds: event.timestampMilliseconds, rules)
        // The path of most events: nothing waits, time gives no reason, and the move is inside the deadband.
        if state.pointee.flags.isDisjoint(with: [.waiting, .mustJudge]), state.pointee.shown.exists,
            moment.nowMilliseconds < state.pointee.quietUntilMilliseconds,
            isInsideDeadband(state, rules)
        {
            count(.deadband)
            noteInside(index, state, rules, moment)
            if settings.keepsCheckpoints, state.pointee.mayHaveFlight { followFlight(index, origin, moment) }
            return nil
        }
        let contribution = Contribution(
            origin: origin, appliedAtMilliseconds: moment.nowMilliseconds, ownsPosition: true)
        evaluate(index, joining: contribution, quiet: .deadband, moment)
        return nil
    }

    private func followFlight(_ index: UInt32, _ origin: Origin, _ moment: Instant) {
        guard let flight = record(index).flight else {
            state(index).pointee.mayHaveFlight = false
            return
        }
        let contribution = Contribution(
            origin: origin, appliedAtMilliseconds: moment.nowMilliseconds, ownsPosition: true)
        follow(index, flight, contribution)
    }

    private func isInsideDeadband(_ state: UnsafeMutablePointer<ActivityState>, _ rules: PositionRules) -> Bool {
        let threshold = rules.thresholdMeters(latest: state.pointee.latest, shown: state.pointee.shown)
        if state.pointee.shown.distanceBoundMeters(to: state.pointee.latest) <= threshold { return true }
        return state.pointee.shown.coordinate.distanceMeters(to: state.pointee.latest.coordinate) <= threshold
    }

    private func takePositionWithContent(
        _ index: UInt32, _ event: Event, origin: Origin, _ moment: Instant
    ) -> EventFault? {
        let record = record(index)
        switch merge(event.detail?.contentPatch, into: record) {
        case .failure(let fault):
            return deadLetter(fault)
        case .success(let merged):
            dropHeld(index)
            remember(index, event, origin: origin)
            let contribution = take(
                index, event.position, timestampMilliseconds: event.timestampMilliseconds, event.detail, merged,
                origin: origin, moment)
            evaluate(index, joining: contribution, quiet: .deadband, moment)
            return nil
        }
    }

    /// Holds it aside, or takes it together with the one that was held and that it bears out.
    private func applyImplausible(
        _ index: UInt32, _ event: Event, origin: Origin, _ rules: PositionRules, _ moment: Instant
    ) -> EventFault? {
        let record = record(index)
        if let held = record.held, event.timestampMilliseconds > held.timestampMilliseconds,
            Sanity.plausibility(
                from: Fix(held.position), atMilliseconds: held.timestampMilliseconds, to: Fix(event.position),
                atMilliseconds: event.timestampMilliseconds, rules) == .plausible
        {
            return takeBoth(index, held, event, origin: origin, rules, moment)
        }
        if case .failure(let fault) = merge(event.detail?.contentPatch, into: record) { return deadLetter(fault) }
        dropHeld(index)
        noteDrop(index, .implausible, event, isHeld: true, moment)
        see(index, event, origin: origin)
        record.held = HeldPosition(
            position: event.position, timestampMilliseconds: event.timestampMilliseconds, origin: origin,
            appliedAtMilliseconds: moment.nowMilliseconds, detail: event.detail)
        state(index).pointee.flags.insert(.hasHeld)
        hold(index, origin)
        decisions.pending += 1
        return nil
    }

    private func takeBoth(
        _ index: UInt32, _ held: HeldPosition, _ event: Event, origin: Origin, _ rules: PositionRules, _ moment: Instant
    ) -> EventFault? {
        let record = record(index)
        // It fitted when it came; where it no longer does (something else grew meanwhile), it goes without its content.
        var heldContent: ContentState?
        if case .success(let merged) = merge(held.detail?.contentPatch, into: record) { heldContent = merged }
        let before = record.latestContent
        if let heldContent { record.latestContent = heldContent }
        let merged: ContentState?
        switch merge(event.detail?.contentPatch, into: record) {
        case .failure(let fault):
            record.latestContent = before
            return deadLetter(fault)
        case .success(let state):
            merged = state
        }
        record.held = nil
        state(index).pointee.flags.remove(.hasHeld)
        decisions.pending -= 1
        let earlier = take(
            index, held.position, timestampMilliseconds: held.timestampMilliseconds,
            heldContent == nil ? nil : held.detail, heldContent, origin: held.origin, moment)
        if state(index).pointee.flags.contains(.waiting) {
            let threshold = judgement(index, moment).thresholdMeters
            record.waitingThresholdMeters = min(record.waitingThresholdMeters, threshold)
        }
        remember(index, event, origin: origin)
        let newest = take(
            index, event.position, timestampMilliseconds: event.timestampMilliseconds, event.detail, merged,
            origin: origin, moment)
        evaluate(index, joining: newest, after: earlier, quiet: .deadband, moment)
        return nil
    }

    /// Makes a position and its content the newest truth.
    private func take(
        _ index: UInt32, _ position: Position, timestampMilliseconds: Int64, _ detail: EventDetail?,
        _ merged: ContentState?, origin: Origin, _ moment: Instant
    ) -> Contribution {
        move(index, position, timestampMilliseconds: timestampMilliseconds, positionRules(index).pointee)
        var contribution = Contribution(
            origin: origin, appliedAtMilliseconds: moment.nowMilliseconds, ownsPosition: true)
        if let merged, let patch = detail?.contentPatch {
            contribution.fields = patch.leafPaths
            record(index).latestContent = merged
            record(index).difference = nil
        }
        return contribution
    }

    func move(_ index: UInt32, _ position: Position, timestampMilliseconds: Int64, _ rules: PositionRules) {
        let state = state(index)
        state.pointee.latest = Fix(position)
        state.pointee.latestTimestampMilliseconds = timestampMilliseconds
        state.pointee.isAnchorForgotten = false
        guard rules.keepsMotion else { return }
        let record = record(index)
        record.latestSpeed = position.speedMetersPerSecond
        record.latestHeading = position.headingDegrees
    }

    /// What is held aside was implausible after all.
    func dropHeld(_ index: UInt32) {
        guard state(index).pointee.flags.contains(.hasHeld) else { return }
        state(index).pointee.flags.remove(.hasHeld)
        record(index).held = nil
        decisions.decidePending(.implausible)
        noteHeldDropped(index)
    }
}
