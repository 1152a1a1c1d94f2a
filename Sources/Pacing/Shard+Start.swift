import Telemetry

extension Shard {
    /// The `activity.started` of an unknown activity.
    func applyStart(_ event: Event, origin: Origin, _ moment: Instant) -> EventFault? {
        let hasEarlyToken = earlyTokens.hasToken(event.identifier, nowMilliseconds: moment.nowMilliseconds)
        if let fault = startFault(event, needsAlert: !hasEarlyToken) { return deadLetter(fault) }
        let merged: ContentState?
        switch firstContent(event) {
        case .failure(let fault): return deadLetter(fault)
        case .success(let state): merged = state
        }
        let index = begin(event, attributesType: event.detail?.attributesType, moment)
        takeOverStart(index, event, merged, origin: origin, moment)
        return nil
    }

    /// The `activity.started` of an activity that has ended, with a target that no life of it has had.
    func applyNewLife(_ index: UInt32, _ event: Event, origin: Origin, _ moment: Instant) -> EventFault? {
        if let fault = startFault(event, needsAlert: true) { return deadLetter(fault) }
        let merged: ContentState?
        switch firstContent(event) {
        case .failure(let fault): return deadLetter(fault)
        case .success(let state): merged = state
        }
        let record = record(index)
        giveUp(index)
        record.beginNewLife()
        markUnsaved(index)
        let state = state(index)
        state.pointee.flags.remove([.ended, .mustJudge, .hasEventSinceSend])
        state.pointee.latest = .none
        state.pointee.isAnchorForgotten = false
        state.pointee.shown = .none
        state.pointee.latestTimestampMilliseconds = .min
        state.pointee.quietUntilMilliseconds = .max
        state.pointee.startOrder = takeStartOrder()
        state.pointee.rules = rulesIndex(forType: event.detail?.attributesType)
        state.pointee.pool = poolIndex(forApp: event.detail?.app)
        takeOverStart(index, event, merged, origin: origin, moment)
        return nil
    }

    /// The `activity.started` of a living activity: an echo as a rule, but the start itself where none came so far and nothing was sent.
    func applyRepeatedStart(_ index: UInt32, _ event: Event, origin: Origin, _ moment: Instant) -> EventFault? {
        let record = record(index)
        let isTheStart = record.lacksStart && !record.hasBeenSent
        if let fault = startFault(event, needsAlert: takesStartToken(record)) { return deadLetter(fault) }
        let merged: ContentState?
        switch merge(event.detail?.contentPatch, into: record) {
        case .failure(let fault): return deadLetter(fault)
        case .success(let state): merged = state
        }
        if isTheStart {
            leaveReady(index)
            state(index).pointee.startOrder = takeStartOrder()
            state(index).pointee.rules = rulesIndex(forType: event.detail?.attributesType)
            if let app = event.detail?.app { state(index).pointee.pool = poolIndex(forApp: app) }
            takeOverStart(index, event, merged, origin: origin, moment)
            return nil
        }
        remember(index, event, origin: origin)
        markUnsaved(index)
        count(.repeatedStart)
        if let frequentUpdates = event.detail?.frequentUpdates { setFrequentUpdates(index, frequentUpdates, moment) }
        var alert: Alert?
        switch event.detail?.target ?? .none {
        case .updateToken(let token):
            setTarget(index, .updateToken(token), registeredAtMilliseconds: event.timestampMilliseconds, moment)
        case .channel(let channel):
            setTarget(index, .channel(channel), registeredAtMilliseconds: event.timestampMilliseconds, moment)
        case .startToken, .user: if takeStartByPush(index, event) { alert = event.detail?.alert }
        case .none: break
        }
        if let token = event.detail?.renewalStartToken { keepForRenewal(index, token) }
        var contribution = takeOver(event, merged, alert: alert, record, origin: origin, moment)
        contribution.isDecided = true
        finishApplying(index, contribution, moment)
        return nil
    }

    /// A new activity with nothing but its name, its rules and what was reported of it early.
    func begin(_ event: Event, attributesType: String?, _ moment: Instant) -> UInt32 {
        let early = earlyTokens.claim(event.identifier, nowMilliseconds: moment.nowMilliseconds)
        let rulesIndex = rulesIndex(forType: attributesType)
        let frequentUpdates = event.detail?.frequentUpdates ?? early?.frequentUpdates ?? false
        let index = slab.allocate(
            StoredIdentifier(event.identifier),
            StoredRecord(
                bucket: CadenceBucket(
                    .of(rules[Int(rulesIndex)].settings.profile, frequentUpdates: frequentUpdates))))
        activities.insert(activities.hash(of: event.identifier), index: index)
        let state = state(index)
        let record = record(index)
        record.frequentUpdates = frequentUpdates
        if settings.keepsCheckpoints {
            markUnsaved(index)
        } else {
            record.stored.pointee.numbersLeft = .max
        }
        state.pointee.startOrder = takeStartOrder()
        state.pointee.rules = rulesIndex
        state.pointee.pool = poolIndex(forApp: event.detail?.app)
        if let token = early?.token {
            record.target = .updateToken(token)
            record.targetRegisteredAtMilliseconds = early?.registeredAtMilliseconds ?? .min
            record.hadTarget = true
            record.noteKnown(.updateToken(token))
        }
        record.revocation = early?.revocation
        return index
    }

    /// Everything that the `activity.started` of a life says.
    private func takeOverStart(
        _ index: UInt32, _ event: Event, _ merged: ContentState?, origin: Origin, _ moment: Instant
    ) {
        let state = state(index)
        let record = record(index)
        let rules = rules(index)
        let detail = event.detail
        remember(index, event, origin: origin)
        markUnsaved(index)
        record.lacksStart = false
        record.attributesType = detail?.attributesType
        record.attributes = detail?.attributes
        record.renewalStartToken = nil
        if let token = detail?.renewalStartToken { keepForRenewal(index, token) }
        record.difference = nil
        setFrequentUpdates(index, detail?.frequentUpdates ?? record.frequentUpdates, moment)
        record.lifeStartMilliseconds = min(event.timestampMilliseconds, moment.nowMilliseconds)
        if rules.settings.renew { record.renewalAlert = detail?.alert }
        // Before anything of this one is judged: the end is to be ready first.
        if let replaced = detail?.replaces {
            record.replacement = Replacement(identifier: Array(replaced.utf8), life: nil)
            replace(index, isLoaded: false, moment)
        }
        takeStartTarget(index, event, moment)
        if let subject = detail?.follows { follow(index, subject, rules, moment) }
        if event.isForSubject { takePosition(index, of: event, rules, moment) }
        askToBegin(index)
        if record.beganOnPhone {
            // Where nothing was known before, what the phone shows is the newest truth: both share one.
            record.shownContent =
                record.latestContent.isEmpty
                ? merged ?? ContentState() : ContentState().applying(detail?.contentPatch ?? PackedObject())
            record.hasShown = true
            state.pointee.flags.remove(.hasEventSinceSend)
            if rules.settings.refresh, let start = record.lifeStartMilliseconds {
                state.pointee.quietUntilMilliseconds = start + rules.refreshAfterMilliseconds
            }
        }
        let contribution = takeOver(
            event, merged, alert: record.beganOnPhone ? nil : detail?.alert, record, origin: origin, moment)
        finishApplying(index, contribution, moment)
    }

    private func takeStartTarget(_ index: UInt32, _ event: Event, _ moment: Instant) {
        let record = record(index)
        switch event.detail?.target ?? .none {
        case .updateToken(let token):
            setTarget(index, .updateToken(token), registeredAtMilliseconds: event.timestampMilliseconds, moment)
            record.beganOnPhone = true
        case .channel(let channel):
            setTarget(index, .channel(channel), registeredAtMilliseconds: event.timestampMilliseconds, moment)
            record.beganOnPhone = true
        case .startToken, .user: _ = takeStartByPush(index, event)
        case .none: break
        }
    }

    /// A start names a start token, or whose it is.
    ///
    /// - Returns: whether it is to be begun by that; else the token is kept for renewal.
    private func takeStartByPush(_ index: UInt32, _ event: Event) -> Bool {
        let record = record(index)
        let takes = takesStartToken(record)
        switch event.detail?.target ?? .none {
        case .startToken(let token):
            guard takes else {
                keepForRenewal(index, token)
                return false
            }
            let time = event.timestampMilliseconds
            // One that was registered later is on file.
            if record.isStarting, time < record.targetRegisteredAtMilliseconds { return false }
            setStartTarget(index, token, registeredAtMilliseconds: time)
        case .user(let user):
            record.noteKnown(.user(user))
            guard takes else { return false }
            // A plan asks nobody.
            if !record.isTargetAssumed { awaitStartToken(index, of: user) }
        case .updateToken, .channel, .none: return false
        }
        return true
    }

    /// It sends nothing now. Named again after the end it is an echo nevertheless.
    private func keepForRenewal(_ index: UInt32, _ token: PushToken) {
        let record = record(index)
        if rules(index).settings.renew { record.renewalStartToken = token }
        record.noteKnown(.startToken(token))
    }

    func setStartTarget(_ index: UInt32, _ token: PushToken, registeredAtMilliseconds: Int64) {
        let record = record(index)
        // Each phone has a budget of its own.
        if record.target != .startToken(token) { setClearance(index, .none) }
        record.target = .startToken(token)
        record.targetRegisteredAtMilliseconds = registeredAtMilliseconds
        record.awaitsStartToken = false
        if rules(index).settings.renew { record.renewalStartToken = record.renewalStartToken ?? token }
        record.noteKnown(.startToken(token))
        record.hadTarget = true
        record.isStarting = true
        // Its life begins with the send. One that waited for its user's token does not wait for longer than a life.
        if record.user == nil { record.lifeStartMilliseconds = nil }
    }

    /// Whether a start token would become the target: no update token or channel is known, and nothing was sent in this life.
    private func takesStartToken(_ record: ActivityRecord) -> Bool {
        if record.hasBeenSent { return false }
        return switch record.target {
        case nil, .startToken?, .assumed?: true
        case .updateToken?, .channel?: false
        }
    }

    func hasNewTarget(_ event: Event, _ record: ActivityRecord) -> Bool {
        let target = event.detail?.target ?? .none
        return target != .none && !record.knows(target)
    }

    /// Why this start cannot be used.
    ///
    /// - Parameter needsAlert: a start token, if it names one, becomes the target.
    private func startFault(_ event: Event, needsAlert: Bool) -> EventFault? {
        var isByPush = false
        switch event.detail?.target ?? .none {
        case .startToken, .user: isByPush = true
        case .updateToken, .channel, .none: break
        }
        if isByPush, needsAlert {
            guard let alert = event.detail?.alert else {
                return EventFault(
                    .missingField("alert"),
                    "a start by push without an alert shows nothing on the phone: publish alert.title and alert.body")
            }
            guard alert.hasText else {
                return EventFault(
                    .missingField("alert.title"),
                    "a start by push whose alert has neither title nor body shows nothing on the phone: publish alert.title and alert.body"
                )
            }
        }
        guard event.detail?.attributes != nil || isByPush else { return nil }
        return settings.checkAttributes(event.detail?.attributesType, event.detail?.attributes ?? JSONObject())
    }

    private func firstContent(_ event: Event) -> Result<ContentState?, EventFault> {
        guard let patch = event.detail?.contentPatch else { return .success(nil) }
        let merged = ContentState().applying(patch)
        var isBroadcast = false
        if case .channel? = event.detail?.target { isBroadcast = true }
        if let fault = fault(in: merged, ofType: event.detail?.attributesType, isBroadcast: isBroadcast) {
            return .failure(fault)
        }
        return .success(merged)
    }
}

extension Alert {
    /// Whether there is anything to read: the provider takes a start without, and the phone drops it.
    var hasText: Bool { Alert.hasText(title) || Alert.hasText(body) }

    private static func hasText(_ value: JSONValue?) -> Bool {
        switch value {
        case .string(let text)?: !text.isEmpty
        // A key of the app's own texts.
        case .object(let object)?: !object.members.isEmpty
        default: false
        }
    }
}
