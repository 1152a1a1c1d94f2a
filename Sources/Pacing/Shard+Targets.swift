import Telemetry

extension Shard {
    /// What a `token` event says.
    func takeOverToken(_ index: UInt32, _ event: Event, _ moment: Instant) {
        if let frequentUpdates = event.detail?.frequentUpdates { setFrequentUpdates(index, frequentUpdates, moment) }
        if let token = event.detail?.renewalStartToken, rules(index).settings.renew {
            record(index).renewalStartToken = token
        }
        if case .updateToken(let token)? = event.detail?.target { setTarget(index, .updateToken(token), event, moment) }
    }

    func setFrequentUpdates(_ index: UInt32, _ frequentUpdates: Bool, _ moment: Instant) {
        let record = record(index)
        record.frequentUpdates = frequentUpdates
        record.bucket.switchTo(
            .of(rules(index).settings.profile, frequentUpdates: frequentUpdates),
            nowMilliseconds: moment.nowMilliseconds)
    }

    /// From now on pushes go to `target`, an update token or a channel.
    func setTarget(_ index: UInt32, _ named: StartTarget, _ event: Event, _ moment: Instant) {
        let record = record(index)
        guard let target = named.asTarget else { preconditionFailure("neither an update token nor a channel") }
        record.targetRegisteredAtMilliseconds = event.timestampMilliseconds
        if record.target == target { return }
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
        record.startNote = .none
        record.noteKnown(named)
    }
}
