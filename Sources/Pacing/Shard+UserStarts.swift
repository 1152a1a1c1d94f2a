import Telemetry

/// Starts by push whose token the registry knows, and what it allows of them.
extension Shard {
    /// The activity is to be begun through the newest start token of a user.
    func awaitStartToken(_ index: UInt32, of user: String) {
        let record = record(index)
        if record.awaitsStartToken, record.user?.hasSameBytes(as: user) == true { return }
        record.user = user
        record.awaitsStartToken = true
        record.isStarting = false
        setClearance(index, .none)
        if case .startToken? = record.target { record.target = nil }
        ask(index, .startToken(user: user, app: appName(index)))
    }

    /// The registry's answer: as if the `activity.started` had named the token.
    ///
    /// - Returns: whether the question is answered; false for none, or one that is known to be dead.
    public func takeStartToken(
        _ token: PushToken, registeredAtMilliseconds: Int64, for errand: Errand, at instant: Instant
    ) -> Bool {
        guard wants(errand), let index = index(of: errand), record(index).goneTarget != .startToken(token) else {
            return false
        }
        let moment = moment(instant)
        setStartTarget(index, token, registeredAtMilliseconds: registeredAtMilliseconds, moment)
        markUnsaved(index)
        evaluate(index, moment)
        return true
    }

    /// The start may leave: it is counted.
    public func grantStart(_ errand: Errand, at instant: Instant) {
        guard wants(errand), let index = index(of: errand) else { return }
        setClearance(index, .granted)
        advanceGates(index, moment(instant))
    }

    /// The phone would drop it: it waits until then, and what is newest by that time is what it tells.
    ///
    /// - Parameter untilMilliseconds: by the wall clock.
    public func deferStart(_ errand: Errand, untilMilliseconds: Int64, at instant: Instant) {
        guard wants(errand), let index = index(of: errand) else { return }
        let moment = moment(instant)
        startDeferrals += 1
        let wait = max(1, untilMilliseconds - moment.wallMilliseconds)
        setClearance(index, .deferred(untilMilliseconds: moment.nowMilliseconds + wait))
        advanceGates(index, moment)
    }

    /// A start that is to leave now asks the registry first: one that the phone's budget does not hold would be dropped there, and the
    /// provider would say 200 all the same (contract, section 15).
    ///
    /// - Returns: whether it has to wait.
    func mustBeCleared(_ index: UInt32, _ moment: Instant) -> Bool {
        let record = record(index)
        #if PLANTED_DEFECTS
            if settings.plantedDefect == .startUncounted { return false }
        #endif
        guard settings.asksRegistry, record.clearance != .granted, case .startToken(let token)? = record.target else {
            return false
        }
        if case .deferred = record.clearance, let user = record.user {
            // So long a time, and the phone may have another token by now.
            awaitStartToken(index, of: user)
            markUnsaved(index)
        } else {
            setClearance(index, .asked)
            ask(index, .takeStart(token, app: appName(index), start: record.startNumber))
        }
        advanceGates(index, moment)
        return true
    }

    func setClearance(_ index: UInt32, _ clearance: StartClearance) {
        let record = record(index)
        if record.clearance == clearance { return }
        record.clearance = clearance
        if case .deferred = clearance { deferredStarts.insert(index) } else { deferredStarts.remove(index) }
    }

    /// What a start by push waits for besides its gates.
    func startOpening(_ index: UInt32, _ record: ActivityRecord, _ moment: Instant) -> Opening {
        if record.replacement != nil {
            let opening = replacementOpening(record, moment)
            guard opening == .open else { return opening }
        }
        switch record.clearance {
        case .none, .granted: return .open
        case .asked: return .shut
        case .deferred(let until): return until <= moment.nowMilliseconds ? .open : .at(milliseconds: until)
        }
    }
}
