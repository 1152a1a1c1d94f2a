import Telemetry

/// What a shard writes down. Nothing is written, and nothing costs, where it has no journal.
extension Shard {
    /// A position inside the deadband: counted in place, in the one cache line that this touches.
    @inline(__always)
    func noteInside(
        _ index: UInt32, _ state: UnsafeMutablePointer<ActivityState>, _ rules: PositionRules, _ moment: Instant
    ) {
        guard let line = door.line(index) else { return }
        var head = line
        if head.pointee.index != index || head.pointee.shard != door.shard {
            head = line + 1
            guard head.pointee.index == index, head.pointee.shard == door.shard else {
                if line.pointee.shard == 0 || line[1].shard == 0 { noteInsideOfNew(index, state, rules, moment) }
                return
            }
        }
        guard 1..<UInt16.max ~= head.pointee.runCount else {
            beginRun(head, state, rules, moment)
            return
        }
        head.pointee.runCount &+= 1
        head.pointee.runLast = UInt32(truncatingIfNeeded: moment.nowMilliseconds)
        let north = Float(state.pointee.latest.latitude - state.pointee.shown.latitude)
        let east = Float(state.pointee.latest.longitude - state.pointee.shown.longitude) * head.pointee.cosine
        let squared = (north * north + east * east) * (JournalHead.metersPerDegree * JournalHead.metersPerDegree)
        if squared > head.pointee.farthestSquared {
            head.pointee.farthestSquared = squared
            head.pointee.thresholdMeters = Float(
                rules.thresholdMeters(latest: state.pointee.latest, shown: state.pointee.shown))
        }
    }

    /// Positions alone take nobody's place.
    @inline(never)
    private func noteInsideOfNew(
        _ index: UInt32, _ state: UnsafeMutablePointer<ActivityState>, _ rules: PositionRules, _ moment: Instant
    ) {
        guard let head = journal?.claim(index, door, evicts: false, nowMilliseconds: moment.nowMilliseconds) else {
            return
        }
        beginRun(head, state, rules, moment)
    }

    @inline(never)
    private func beginRun(
        _ head: UnsafeMutablePointer<JournalHead>, _ state: UnsafeMutablePointer<ActivityState>,
        _ rules: PositionRules, _ moment: Instant
    ) {
        // A full count goes on in the entry.
        journal?.endRun(head, moment.nowMilliseconds)
        let (latest, shown) = (state.pointee.latest, state.pointee.shown)
        head.pointee.runCount = 1
        head.pointee.runFirst = UInt32(truncatingIfNeeded: moment.nowMilliseconds)
        head.pointee.runLast = head.pointee.runFirst
        head.pointee.cosine = shown.coordinate.longitudeScale
        let meters = Float(shown.coordinate.distanceMeters(to: latest.coordinate))
        head.pointee.farthestSquared = meters * meters
        head.pointee.thresholdMeters = Float(rules.thresholdMeters(latest: latest, shown: shown))
    }

    // MARK: What is rarer

    private func write(
        _ entry: JournalEntry, _ index: UInt32, endsPhase: Bool = false, isBeginning: Bool = false, _ moment: Instant
    ) {
        guard let journal,
            let head = journal.claim(index, door, evicts: true, nowMilliseconds: moment.nowMilliseconds)
        else { return }
        if isBeginning { head.pointee.marks |= JournalHead.isWhole }
        journal.write(entry, to: head, endsPhase: endsPhase, nowMilliseconds: moment.nowMilliseconds)
    }

    private func entry(_ kind: JournalEntry.Kind, detail: UInt8 = 0, _ moment: Instant) -> JournalEntry {
        JournalEntry(kind, detail: detail, atMilliseconds: moment.nowMilliseconds)
    }

    func noteBeginning(_ index: UInt32, _ beginning: Beginning, _ moment: Instant) {
        guard journal != nil else { return }
        write(
            entry(.began, detail: beginning.rawValue, moment), index, endsPhase: true,
            isBeginning: beginning != .newLife, moment)
    }

    func noteDrop(_ index: UInt32, _ decision: Decision, _ event: Event, isHeld: Bool = false, _ moment: Instant) {
        guard journal != nil else { return }
        var entry = entry(isHeld ? .heldAside : .dropped, detail: decision.rawValue, moment)
        let rules = positionRules(index).pointee
        switch decision {
        case .inaccurate:
            (entry.a, entry.b) = (Float(event.position.accuracyMeters), Float(rules.maxAccuracyMeters))
        case .implausible:
            let state = state(index)
            let seconds = max(
                1, Double(event.timestampMilliseconds - state.pointee.latestTimestampMilliseconds) / 1000)
            let meters = state.pointee.latest.coordinate.distanceMeters(to: event.position.coordinate)
            (entry.a, entry.b) = (Float(meters / seconds), Float(rules.maxSpeedMetersPerSecond))
        case .future:
            entry.c = event.timestampMilliseconds - moment.wallMilliseconds
            entry.d = rules.maxFutureMilliseconds
        case .tooOld:
            entry.c = moment.wallMilliseconds - event.timestampMilliseconds
            entry.d = rules.maxAgeMilliseconds
        case .outOfOrder: entry.c = newestTimestampMilliseconds(index) - event.timestampMilliseconds
        default: break
        }
        write(entry, index, moment)
    }

    /// A position that was held aside was implausible after all.
    func noteHeldDropped(_ index: UInt32) {
        guard let journal, let head = door.head(index), let now = newestNowMilliseconds else { return }
        let entry = JournalEntry(.dropped, detail: Decision.implausible.rawValue, atMilliseconds: now)
        journal.write(entry, to: head, endsPhase: false, nowMilliseconds: now)
    }

    /// Events that gave no reason while nothing waits.
    func noteQuiet(_ index: UInt32, _ decision: Decision, events: Int, _ moment: Instant) {
        guard journal != nil, events > 0 else { return }
        if decision == .deadband, state(index).pointee.shown.exists {
            for _ in 0..<events { noteInside(index, state(index), positionRules(index).pointee, moment) }
            return
        }
        var entry = entry(.applied, moment)
        entry.count = UInt32(events)
        write(entry, index, moment)
    }

    func noteJoined(_ index: UInt32, _ moment: Instant) {
        guard let journal, let head = door.head(index) else { return }
        journal.countJoined(head, nowMilliseconds: moment.nowMilliseconds)
    }

    /// What waits, and for which gates.
    func noteWait(_ index: UInt32, _ record: ActivityRecord, _ moment: Instant) {
        guard journal != nil else { return }
        let gates = gates(index, moment).shut(isUrgent: record.waitingIsUrgent)
        guard !gates.isEmpty else { return }
        var entry = entry(.waits, moment)
        let judgement = judgement(index, moment)
        entry.reasons = judgement.reasons
        (entry.a, entry.b) = judgement.explainedDistance
        for gate in gates {
            entry.e |= 1 << UInt32(gate.kind.rawValue)
            let opens = gate.opensAtMilliseconds ?? 0
            switch gate.kind {
            case .minInterval, .urgentMinInterval: entry.c = opens
            case .bucket: entry.d = opens
            default: entry.g = max(entry.g, opens)
            }
        }
        entry.f = UInt32(UInt8(bitPattern: Int8(record.bucket.level))) | (record.waitingIsUrgent ? 0x100 : 0)
        // What became of the events is told by `noteJoined`.
        entry.count = 0
        write(entry, index, moment)
    }

    /// What waited is told no more.
    func noteWaitEnded(_ index: UInt32, _ decision: Decision, _ moment: Instant) {
        guard journal != nil else { return }
        var entry = entry(.decided, detail: decision.rawValue, moment)
        (entry.a, entry.b) = judgement(index, moment).explainedDistance
        write(entry, index, endsPhase: true, moment)
    }

    /// - Precondition: `shown` is still what it was before.
    func noteSend(_ update: Update, _ judgement: Judgement, _ moment: Instant) {
        guard journal != nil else { return }
        let index = update.ticket.slot
        var entry = sendEntry(update, judgement.record, moment)
        (entry.a, entry.b) = judgement.explainedDistance
        entry.c = max(0, moment.nowMilliseconds - judgement.record.readySinceMilliseconds)
        write(entry, index, endsPhase: true, moment)
    }

    func noteAttempt(_ update: Update, _ moment: Instant) {
        guard journal != nil else { return }
        write(sendEntry(update, record(update.ticket.slot), moment), update.ticket.slot, endsPhase: true, moment)
    }

    private func sendEntry(_ update: Update, _ record: ActivityRecord, _ moment: Instant) -> JournalEntry {
        var entry = entry(.sent, moment)
        entry.reasons = update.reasons
        entry.e = UInt32(truncatingIfNeeded: update.sequence)
        entry.f =
            UInt32(UInt8(bitPattern: Int8(record.bucket.level))) | UInt32(update.kind.rawValue) << 8
            | UInt32(update.priority) << 16
        entry.g = Int64(update.attempt)
        return entry
    }

    func noteTarget(_ index: UInt32, _ change: TargetChange, _ moment: Instant) {
        guard journal != nil else { return }
        write(entry(.target, detail: change.rawValue, moment), index, endsPhase: true, moment)
    }

    func noteEnding(_ index: UInt32, _ ending: Ending, _ moment: Instant) {
        guard journal != nil else { return }
        write(entry(.ended, detail: ending.rawValue, moment), index, endsPhase: true, moment)
    }
}

extension Judgement {
    /// Of what is true to what is shown; NaN where one of them is not known.
    var explainedDistance: (Float, Float) {
        guard state.pointee.latest.exists, state.pointee.shown.exists else { return (.nan, .nan) }
        let isWaiting = state.pointee.flags.contains(.waiting)
        return (
            Float(state.pointee.shown.coordinate.distanceMeters(to: state.pointee.latest.coordinate)),
            Float(isWaiting ? min(record.waitingThresholdMeters, thresholdMeters) : thresholdMeters)
        )
    }
}

extension Coordinate {
    /// Metres of a degree of longitude here, by those of a degree of latitude.
    fileprivate var longitudeScale: Float {
        let step = 0.01
        let meters = distanceMeters(to: Coordinate(latitude: latitude, longitude: longitude + step))
        return Float(meters / step) / JournalHead.metersPerDegree
    }
}

extension StartTarget {
    func change(from old: PushTarget?) -> TargetChange {
        switch self {
        case .channel: return .channel
        case .startToken: return .startToken
        case .updateToken, .user, .none:
            if case .updateToken = old { return .newUpdateToken }
            return .updateToken
        }
    }
}
