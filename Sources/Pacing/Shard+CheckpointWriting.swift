import Telemetry

extension Shard {
    /// Writes all that the next owner has to know of the activity.
    ///
    /// What is in flight counts as not told, for the next owner will not hear the answer: its content waits again. Number, timestamp, time
    /// and bucket stay used.
    ///
    /// - Parameters:
    ///   - sequenceBound: no update has passed this number, and none will before another bound is saved.
    ///   - isLast: nothing of the partition leaves any more.
    ///   - isExact: nothing leaves for the activity before another checkpoint is saved.
    func write(
        _ index: UInt32, sequenceBound: UInt32, isLast: Bool, isExact: Bool, into writer: inout CheckpointWriter,
        _ moment: Instant
    ) {
        let state = state(index)
        let record = record(index)
        let stored = record.stored
        let start = writer.count
        var flight = record.flight
        if flight?.life != record.life { flight = nil }
        let isLeaving = record.startNote != .none && !isLast
        // With a token of its own there is a card, whatever became of the start.
        let isAttempted =
            (isLeaving || (flight.map { $0.isInFlight && $0.update.kind == .start } ?? false))
            && record.target.map(\.isStart) ?? true

        var recordFlags = stored.pointee.flags.intersection(CheckpointFormat.keptRecordFlags)
        var flags: CheckpointFormat.Flags = []
        if state.pointee.flags.contains(.ended) { flags.insert(.ended) }
        if state.pointee.flags.contains(.hasEventSinceSend) { flags.insert(.hasEventSinceSend) }
        if isAttempted { flags.insert(.startAttempted) }
        if isExact { flags.insert(.exact) }
        let isWaiting = state.pointee.flags.contains(.waiting)
        if isWaiting || flight != nil { flags.insert(.waiting) }
        var target = record.target
        var life = stored.pointee.life
        var shown = Shown(
            position: ToldPosition(
                fix: state.pointee.shown, speedMetersPerSecond: record.shownSpeed,
                headingDegrees: record.shownHeading, timestampMilliseconds: record.shownTimestampMilliseconds),
            contentState: record.shownContent, exists: record.hasShown)
        var setFields = record.setFields
        var alert = record.alert
        if let flight {
            shown = flight.shownBefore
            if shown.exists { recordFlags.insert(.hasShown) } else { recordFlags.remove(.hasShown) }
            for field in flight.setFields where !setFields.contains(field) { setFields.append(field) }
            alert = alert ?? flight.update.alert
            if flight.wasRetargeting { recordFlags.insert(.isRetargeting) }
            if flight.update.kind == .end { recordFlags.insert(.isEnding) }
            if flight.before.hadEventSinceSend { flags.insert(.hasEventSinceSend) }
            if flight.update.kind == .start, !flight.isInFlight, target == nil {
                target = flight.update.target
                recordFlags.insert(.isStarting)
                recordFlags.remove(.knowsTarget)
                if !state.pointee.flags.contains(.ended) {
                    life = flight.before.lifeStartMilliseconds.map(Int48.init) ?? .min
                }
            }
        }
        #if PLANTED_DEFECTS
            if settings.plantedDefect == .pendingEndNotWritten { recordFlags.remove(.isEnding) }
            if settings.plantedDefect == .tombstoneLost { flags.remove(.ended) }
        #endif
        let isSame = shown.contentState.sharesStorage(with: record.latestContent)
        if isSame { flags.insert(.shownIsLatest) }

        writer.append(byte: CheckpointFormat.version)
        writer.append(byte: CheckpointFormat.activity)
        writer.append(flags.rawValue)
        writer.append(Int48(moment.nowMilliseconds))
        writer.append(recordFlags.rawValue)
        writer.append(state.pointee.startOrder)
        writer.append(state.pointee.lastOffset)
        let otherOffsets = stored.pointee.extras?.otherOffsets ?? []
        writer.append(count: otherOffsets.count)
        for offset in otherOffsets { writer.append(offset) }

        writer.append(state.pointee.latest)
        writer.append(state.pointee.latestTimestampMilliseconds)
        writer.append(shown.position.fix)
        writer.append(record.latestContent.packed)
        if !isSame { writer.append(shown.contentState.packed) }
        writer.append(
            stored.pointee.extras?.motion != nil || flight != nil ? shown.position : nil
        ) { writer, shown in
            writer.append(record.latestSpeed)
            writer.append(record.latestHeading)
            writer.append(shown.speedMetersPerSecond)
            writer.append(shown.headingDegrees)
            writer.append(shown.timestampMilliseconds)
        }

        writer.append(sequenceBound)
        writer.append(record.lastTimestampSeconds)
        writer.append(stored.pointee.lastSentAt)
        #if PLANTED_DEFECTS
            let bucket = settings.plantedDefect == .bucketLost ? CadenceBucket(record.bucket.limits) : record.bucket
            bucket.write(to: &writer)
        #else
            record.bucket.write(to: &writer)
        #endif
        writer.append(life)
        writer.append(record.life)

        writer.append(target)
        writer.append(stored.pointee.targetRegisteredAt)
        writer.append(record.goneTarget)
        let known = stored.pointee.extras?.knownTargets.hashes ?? []
        writer.append(count: known.count)
        for hash in known { writer.append(hash) }
        writer.append(record.attributesType) { $0.append($1) }
        writer.append(record.attributes) { $0.append(PackedObject($1)) }
        writer.append(settings.apps.isEmpty ? nil : settings.apps[Int(state.pointee.pool)]) { $0.append($1) }
        writer.append(record.subject.map { subjects.name(ofPlace: $0) }) { writer, name in
            name.withUnsafeBytes { writer.append(sized: $0) }
        }

        writer.append(setFields)
        writer.append(alert) { $0.append($1) }
        writer.append(record.dismissal ?? flight?.update.dismissal) { $0.append($1) }
        writer.append(record.relevanceScore) { $0.append($1) }
        writer.append(record.renewalStartToken) { $0.append($1) }
        writer.append(record.renewalAlert) { $0.append($1) }
        writer.append(record.renewals)
        writer.append(record.user) { $0.append($1) }
        writer.append(record.replacement) { $0.append($1) }
        writer.append(record.revocation) { $0.append($1) }
        writer.append(isWaiting ? record.waitingThresholdMeters : .infinity)
        writer.append(record.held) { writer, held in
            writer.append(held.position)
            writer.append(held.timestampMilliseconds)
            writer.append(held.detail?.contentPatch) { $0.append($1) }
        }
        let seen = slab.ring(index).map { EventIdentifierRing.hashes($0) } ?? []
        writer.append(count: seen.count)
        for hash in seen { writer.append(hash) }
        writer.seal(from: start)
    }

    /// When the next owner has to look at the activity though no event comes; nil for never.
    func checkpointDue(_ index: UInt32, _ moment: Instant) -> Int64? {
        let record = record(index)
        if state(index).pointee.flags.contains(.ended), !record.isEnding, record.flight == nil { return nil }
        if record.flight != nil || record.awaitsStartToken { return moment.nowMilliseconds }
        if let replacement = record.replacement, isReplacementOpen(replacement) { return moment.nowMilliseconds }
        if state(index).pointee.flags.contains(.waiting) {
            if let opens = record.gateOpensAtMilliseconds { return opens }
            if record.target != nil { return moment.nowMilliseconds }
        }
        let due = due(index, moment)
        return due == .max ? nil : due
    }

    /// Whether the store may not know yet that what is replaced has ended.
    private func isReplacementOpen(_ replacement: Replacement) -> Bool {
        guard replacement.life != nil, let former = replacement.identifier.withUnsafeBytes({ find($0) }) else {
            return replacement.life == nil
        }
        return record(former)[.isUnsaved]
    }
}
