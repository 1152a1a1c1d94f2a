import Telemetry

extension Shard {
    /// Why the activity was told what it was told; nil where it is not in memory. It changes nothing.
    public func explanation(of identifier: String, at instant: Instant) -> ActivityExplanation? {
        var identifier = identifier
        return identifier.withUTF8 { find(UnsafeRawBufferPointer($0)) }.map { index in
            // A clock that steps back stands still here.
            let moment = Instant(
                nowMilliseconds: max(newestNowMilliseconds ?? .min, instant.nowMilliseconds),
                wallMilliseconds: instant.wallMilliseconds)
            let kept = journal.map { $0.read(index, door, nowMilliseconds: moment.nowMilliseconds) }
            return ActivityExplanation(
                activityIdentifier: withIdentifier(ofIndex: index) { String(decoding: $0, as: UTF8.self) },
                atMilliseconds: moment.nowMilliseconds,
                decisions: (kept ?? nil).map { ExplainedDecision.list($0.entries) } ?? [],
                memory: memory(kept), situation: situation(index, moment))
        }
    }

    /// What a provider answered. To be called when the update has been settled.
    public func noteAnswer(_ update: Update, _ answer: JournalAnswer, at instant: Instant) {
        guard let journal, let head = door.head(update.ticket.slot) else { return }
        var entry = JournalEntry(.answered, detail: answer.fate.rawValue, atMilliseconds: instant.nowMilliseconds)
        entry.c = answer.tookMilliseconds
        entry.d = answer.holdMilliseconds
        entry.e = UInt32(truncatingIfNeeded: answer.sequence)
        entry.f = UInt32(clamping: answer.status) << 16 | UInt32(truncatingIfNeeded: answer.reason) & 0xffff
        entry.g = Int64(answer.attempt)
        journal.write(entry, to: head, endsPhase: false, nowMilliseconds: instant.nowMilliseconds)
    }

    private func memory(_ kept: (began: Int64, isWhole: Bool, entries: [JournalEntry])??) -> ActivityExplanation.Memory
    {
        guard let kept else { return .off }
        guard let kept else { return .none }
        if kept.isWhole { return .whole(sinceMilliseconds: kept.began) }
        return .since(milliseconds: kept.entries.first?.first.value ?? kept.began)
    }

    private func situation(_ index: UInt32, _ moment: Instant) -> ActivitySituation {
        let state = state(index)
        let record = record(index)
        let rules = rules(index)
        let flags = state.pointee.flags
        let judgement = judgement(index, moment)
        let reasons = judgement.reasons
        let isWaiting = flags.contains(.waiting)
        let isUrgent = isWaiting ? record.waitingIsUrgent : reasons.isUrgent
        let (latest, shown) = (state.pointee.latest, state.pointee.shown)
        let isMeasured = latest.exists && shown.exists
        let isLower = isWaiting && record.waitingThresholdMeters < judgement.thresholdMeters
        let isReady = flags.contains(.ready)
        return ActivitySituation(
            stage: stage(index, record), attributesType: record.attributesType, pool: Int(state.pointee.pool),
            settings: rules.settings, beganOnPhone: record.beganOnPhone,
            lifeEndsAtMilliseconds: lifeEnds(index),
            latest: place(latest),
            latestTimestampMilliseconds: latest.exists ? state.pointee.latestTimestampMilliseconds : nil,
            shown: place(shown), hasShown: record.hasShown,
            distanceMeters: isMeasured ? shown.coordinate.distanceMeters(to: latest.coordinate) : nil,
            thresholdMeters: isMeasured
                ? isLower ? record.waitingThresholdMeters : judgement.thresholdMeters : nil,
            thresholdRule: isMeasured
                ? isLower ? .smallestWhileWaiting : rules.position.thresholdRule(latest: latest, shown: shown) : nil,
            holdsPosition: flags.contains(.hasHeld),
            sequence: record.sequence, lastSentAtMilliseconds: record.lastSentAtMilliseconds,
            hasEventSinceSend: flags.contains(.hasEventSinceSend),
            quietUntilMilliseconds: state.pointee.quietUntilMilliseconds == .max
                ? nil : state.pointee.quietUntilMilliseconds,
            reasons: reasons, isUnchanged: judgement.isUnchanged(reasons), isWaiting: isWaiting, isUrgent: isUrgent,
            gates: flags.contains(.ended) && !record.isEnding ? [] : openingsNow(index, isUrgent, moment),
            readySinceMilliseconds: isReady ? record.readySinceMilliseconds : nil,
            bucket: bucket(record, moment), frequentUpdates: record.frequentUpdates, target: record.target,
            targetRegisteredAtMilliseconds: record.targetRegisteredAtMilliseconds == .min
                ? nil : record.targetRegisteredAtMilliseconds,
            goneTarget: record.goneTarget, underWay: record.flight.map { underWay($0) })
    }

    private func stage(_ index: UInt32, _ record: ActivityRecord) -> ActivitySituation.Stage {
        if state(index).pointee.flags.contains(.ended) {
            return record.isEnding ? .ending : .ended(atMilliseconds: record.lastOfEndMilliseconds)
        }
        return record.isStarting ? .starting : .active
    }

    private func place(_ fix: Fix) -> ActivitySituation.Place? {
        fix.exists ? ActivitySituation.Place(coordinate: fix.coordinate, accuracyMeters: fix.accuracyMeters) : nil
    }

    private func lifeEnds(_ index: UInt32) -> Int64? {
        guard !state(index).pointee.flags.contains(.ended),
            let life = rules(index).settings.maxActivityLifeMilliseconds
        else { return nil }
        return record(index).lifeStartMilliseconds.map { $0 + life }
    }

    private func openingsNow(_ index: UInt32, _ isUrgent: Bool, _ moment: Instant) -> [ExplainedGate] {
        gates(index, moment).shut(isUrgent: isUrgent)
    }

    private func bucket(_ record: ActivityRecord, _ moment: Instant) -> ActivitySituation.Bucket? {
        var bucket = record.bucket
        guard let limits = bucket.limits else { return nil }
        bucket.refill(nowMilliseconds: moment.nowMilliseconds)
        return ActivitySituation.Bucket(
            level: Int(bucket.level), burst: Int(limits.burst), intervalMilliseconds: limits.intervalMilliseconds,
            nextTokenAtMilliseconds: bucket.level < limits.burst
                ? bucket.reaches(bucket.level + 1, nowMilliseconds: moment.nowMilliseconds) : nil)
    }

    private func underWay(_ flight: Flight) -> ActivitySituation.UnderWay {
        let phase: ActivitySituation.UnderWay.Phase =
            switch flight.phase {
            case .inFlight: .inFlight
            case .waiting(let holdsNewer): .waiting(holdsNewer: holdsNewer)
            case .lapsed: .lapsed
            }
        return ActivitySituation.UnderWay(
            phase: phase, kind: flight.update.kind, sequence: flight.update.sequence, attempt: flight.update.attempt,
            sentAtMilliseconds: flight.update.takenAt.nowMilliseconds, ticket: flight.update.ticket)
    }
}

extension APNsIdentifier {
    /// Of the push that told an activity's update.
    public init(activity: String, sequence: UInt64) {
        var activity = activity
        self = activity.withUTF8 { APNsIdentifier(activity: UnsafeRawBufferPointer($0), sequence: sequence) }
    }
}
