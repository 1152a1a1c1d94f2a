import Telemetry

extension Shard {
    /// What a `token` event says.
    ///
    /// - Returns: false where a later registration is on file: then nothing of it counts.
    func takeOverToken(_ index: UInt32, _ event: Event, _ moment: Instant) -> Bool {
        let time = event.timestampMilliseconds
        var token: PushToken?
        if case .updateToken(let named)? = event.detail?.target { token = named }
        if event.detail?.isRevoked == true {
            takeBack(index, token, atMilliseconds: time, moment)
        } else if let token, !setTarget(index, .updateToken(token), registeredAtMilliseconds: time, moment) {
            return false
        }
        if let frequentUpdates = event.detail?.frequentUpdates { setFrequentUpdates(index, frequentUpdates, moment) }
        if let token = event.detail?.renewalStartToken, rules(index).settings.renew {
            record(index).renewalStartToken = token
        }
        return true
    }

    func setFrequentUpdates(_ index: UInt32, _ frequentUpdates: Bool, _ moment: Instant) {
        let record = record(index)
        record.frequentUpdates = frequentUpdates
        record.bucket.switchTo(
            .of(rules(index).settings.profile, frequentUpdates: frequentUpdates),
            nowMilliseconds: moment.nowMilliseconds)
    }

    /// From now on pushes go to `target`, an update token or a channel, unless a later registration is on file.
    ///
    /// - Returns: whether it is the newest.
    @discardableResult
    func setTarget(
        _ index: UInt32, _ named: StartTarget, registeredAtMilliseconds time: Int64, _ moment: Instant
    ) -> Bool {
        let record = record(index)
        guard let target = named.asTarget else { preconditionFailure("neither an update token nor a channel") }
        guard isNewest(target, registeredAtMilliseconds: time, record) else { return false }
        record.targetRegisteredAtMilliseconds = time
        if record.revocation?.isOver(atMilliseconds: time) == true { record.revocation = nil }
        if record.target == target { return true }
        // What waits for a retry waits for the old target.
        if let flight = record.flight, !flight.isInFlight { putBack(index, flight, moment) }
        let old = record.target ?? record.goneTarget
        switch old {
        case .updateToken?, .channel?: if old != target, record.hasShown { record.isRetargeting = true }
        case .startToken?, .assumed?, nil: break
        }
        noteTarget(index, named.change(from: old), moment)
        record.target = target
        record.goneTarget = nil
        record.hadTarget = true
        record.isStarting = false
        record.awaitsStartToken = false
        record.startNote = .none
        setClearance(index, .none)
        record.noteKnown(named)
        return true
    }

    /// Whether nothing that was registered later is on file. What a start token says of time is of another kind.
    private func isNewest(
        _ target: PushTarget, registeredAtMilliseconds time: Int64, _ record: ActivityRecord
    ) -> Bool {
        #if PLANTED_DEFECTS
            if settings.plantedDefect == .olderTokenWins { return true }
        #endif
        if case .updateToken(let token) = target,
            record.revocation?.covers(token, registeredAtMilliseconds: time) == true
        {
            return false
        }
        switch record.target {
        case .updateToken?, .channel?: return time >= record.targetRegisteredAtMilliseconds
        case .startToken?, .assumed?: return true
        case nil: break
        }
        switch record.goneTarget {
        // The same report of a token that has died does not bring it back.
        case .updateToken?, .channel?:
            return time > record.targetRegisteredAtMilliseconds
                || (time == record.targetRegisteredAtMilliseconds && target != record.goneTarget)
        case .startToken?, .assumed?, nil: return true
        }
    }

    /// The app, or whoever speaks for it, says that the activity's update token is that no more: it waits for another, as after a 410.
    ///
    /// - Parameter token: nil for whatever was registered until then.
    private func takeBack(_ index: UInt32, _ token: PushToken?, atMilliseconds time: Int64, _ moment: Instant) {
        let record = record(index)
        var revocation = record.revocation ?? Revocation()
        revocation.takeBack(token, atMilliseconds: time)
        record.revocation = revocation
        guard case .updateToken(let current)? = record.target, token == nil || token == current,
            record.targetRegisteredAtMilliseconds <= time
        else { return }
        if let flight = record.flight, !flight.isInFlight { putBack(index, flight, moment) }
        record.goneTarget = record.target
        record.target = nil
    }

    /// An update token that was registered before its activity began, as the registry kept it: the same as a `token` event of that time.
    public func takeKeptToken(
        _ token: PushToken, registeredAtMilliseconds time: Int64, frequentUpdates: Bool?, of identifier: [UInt8],
        at instant: Instant
    ) {
        let moment = moment(instant)
        guard let index = identifier.withUnsafeBytes({ find($0) }) else { return }
        let record = record(index)
        if state(index).pointee.flags.contains(.ended), !record.isEnding { return }
        // It was that of an earlier card: the registry may not have heard of its end so far.
        let named = PushTarget.updateToken(token)
        if record.knows(.updateToken(token)), record.target != named, record.goneTarget != named { return }
        // Asked again it tells the same again.
        if record.target == .updateToken(token), record.targetRegisteredAtMilliseconds >= time { return }
        guard setTarget(index, .updateToken(token), registeredAtMilliseconds: time, moment) else { return }
        if let frequentUpdates { setFrequentUpdates(index, frequentUpdates, moment) }
        markUnsaved(index)
        if state(index).pointee.flags.contains(.ended) { advanceGates(index, moment) } else { evaluate(index, moment) }
    }
}
