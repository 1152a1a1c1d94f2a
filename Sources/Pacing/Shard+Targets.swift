import Telemetry

extension Shard {
    /// What a `token` event says.
    func takeOverToken(_ index: UInt32, _ event: Event, _ moment: Instant) {
        if let frequentUpdates = event.detail?.frequentUpdates { setFrequentUpdates(index, frequentUpdates, moment) }
        if let token = event.detail?.renewalStartToken { record(index).renewalStartToken = token }
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
        let target: PushTarget
        switch named {
        case .updateToken(let token): target = .updateToken(token)
        case .channel(let channel): target = .channel(channel)
        case .startToken, .user, .none: preconditionFailure("neither an update token nor a channel")
        }
        record.targetRegisteredAtMilliseconds = event.timestampMilliseconds
        if record.target == target { return }
        // What waits for a retry waits for the old target.
        if let flight = record.flight, !flight.isInFlight { putBack(index, flight, moment) }
        let old = record.target ?? record.goneTarget
        switch old {
        case .updateToken?, .channel?: if old != target, record.hasShown { record.isRetargeting = true }
        case .startToken?, .assumed?, nil: break
        }
        record.target = target
        record.goneTarget = nil
        record.hadTarget = true
        record.isStarting = false
        record.knownTargets.insert(knownHash(named))
    }

    /// By which a target is known to have been one.
    func knownHash(_ target: StartTarget) -> UInt64 {
        switch target {
        case .updateToken(let token): hash(kind: 1, token.bytes)
        case .startToken(let token): hash(kind: 2, token.bytes)
        case .channel(let channel): hash(kind: 3, Array(channel.utf8))
        case .user(let user): hash(kind: 4, Array(user.utf8))
        case .none: hash(kind: 0, [])
        }
    }

    private func hash(kind: UInt8, _ bytes: [UInt8]) -> UInt64 {
        ([kind] + bytes).withUnsafeBytes { activities.hash(of: $0) }
    }
}
