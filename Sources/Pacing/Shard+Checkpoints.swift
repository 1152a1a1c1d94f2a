import Telemetry

/// What has to be done once checkpoints that were taken are saved, or are known not to be.
public struct CheckpointReceipt {
    struct Entry {
        let index: UInt32
        /// To tell whether it is still the same activity, in the same life.
        let startOrder: Int64
        let sequenceBound: UInt32
        let isStartNoted: Bool
        /// The offsets applied by then, of one that is to leave memory; nil of all others.
        let evictedThrough: [Int64]?
        let formerSubject: [UInt8]?

        var isEviction: Bool { evictedThrough != nil }
    }

    var entries: [Entry] = []
    var earlyTokens: [[UInt8]] = []
    /// Of an owner that sends nothing any more.
    var isLast = false

    public var count: Int { entries.count + earlyTokens.count }
}

extension Shard {
    public var hasUnsaved: Bool { !unsaved.isEmpty || !unsavedEarlyTokens.isEmpty }
    public var unsavedCount: Int { unsaved.count + unsavedEarlyTokens.count }

    /// The store has to hear of it with the next checkpoints.
    ///
    /// - Parameter isAwaited: an update can leave only then.
    func markUnsaved(_ index: UInt32, isAwaited: Bool = false) {
        guard settings.keepsCheckpoints else { return }
        if isAwaited { awaitsStore = true }
        let record = record(index)
        if record[.isUnsaved] { return }
        record[.isUnsaved] = true
        unsaved.append(index)
    }

    /// Writes checkpoints of what changed, at most `limit` of them. With all of it taken, `smallestHeld` speaks of the time when they are saved.
    ///
    /// - Parameter isLast: of the partition's owner: nothing leaves any more, so that numbers need not be promised ahead.
    public func takeCheckpoints(
        limit: Int, isLast: Bool = false, at instant: Instant
    ) -> (bytes: [UInt8], entries: [CheckpointBatch.Entry], receipt: CheckpointReceipt) {
        let moment = moment(instant)
        var writer = CheckpointWriter()
        var entries: [CheckpointBatch.Entry] = []
        var receipt = CheckpointReceipt()
        receipt.isLast = isLast
        var taken = 0
        while taken < unsaved.count, entries.count < limit {
            let index = unsaved[taken]
            taken += 1
            guard slab.isInUse(index), record(index)[.isUnsaved] else { continue }
            record(index)[.isUnsaved] = false
            take(index, isLast: isLast, isEviction: false, &writer, &entries, &receipt, moment)
        }
        unsaved.removeFirst(taken)
        while entries.count < limit, let identifier = unsavedEarlyTokens.popFirst() {
            takeEarlyToken(identifier, &writer, &entries, &receipt, moment)
        }
        if !hasUnsaved { awaitsStore = false }
        return (writer.bytes, entries, receipt)
    }

    /// Has everything saved that the store does not know exactly: before the partition is handed over.
    public func saveAll() {
        for index in 0..<slab.bound where slab.isInUse(index) {
            let record = record(index)
            let flags = state(index).pointee.flags
            let isExact =
                record.stored.pointee.numbersLeft == 0 && !flags.contains(.hasEventSinceSend)
                && record.stored.pointee.extras?.pending == nil
            if isExact || (flags.contains(.ended) && !record.isEnding && record.flight == nil) { continue }
            markUnsaved(index)
        }
    }

    /// Has everything saved again: the store has forgotten some of it.
    public func saveAgain() {
        for index in 0..<slab.bound where slab.isInUse(index) { markUnsaved(index) }
        unsavedEarlyTokens.formUnion(earlyTokens.identifiers)
    }

    func take(
        _ index: UInt32, isLast: Bool, isEviction: Bool, _ writer: inout CheckpointWriter,
        _ entries: inout [CheckpointBatch.Entry], _ receipt: inout CheckpointReceipt, _ moment: Instant
    ) {
        let record = record(index)
        let state = state(index)
        #if PLANTED_DEFECTS
            let ahead = settings.plantedDefect == .boundNotPersisted ? 0 : UInt32(CheckpointFormat.numbersAhead)
        #else
            let ahead = UInt32(CheckpointFormat.numbersAhead)
        #endif
        let isOver = state.pointee.flags.contains(.ended) && !record.isEnding && record.flight == nil
        let isExact = isLast || isEviction || isOver
        let bound = record.stored.pointee.sequence + (isExact ? 0 : ahead)
        let begin = writer.count
        withIdentifier(ofIndex: index) { writer.append(raw: $0) }
        let identifier = begin..<writer.count
        write(index, sequenceBound: bound, isLast: isLast, isExact: isExact, into: &writer, moment)
        let checkpoint = identifier.upperBound..<writer.count
        var subject = writer.count..<writer.count
        if let place = record.subject {
            subjects.name(ofPlace: place).withUnsafeBytes { writer.append(raw: $0) }
            subject = subject.lowerBound..<writer.count
        }
        var formerSubject = writer.count..<writer.count
        // It is forgotten once this is saved. One that follows the same again is no former one; it may be when this is saved.
        var formerName = formerSubjects[index]
        if formerName == record.subject.map({ subjects.name(ofPlace: $0) }) { formerName = nil }
        if let formerName {
            formerName.withUnsafeBytes { writer.append(raw: $0) }
            formerSubject = formerSubject.lowerBound..<writer.count
        }
        let rest =
            isOver
            ? record.lastOfEndMilliseconds + rules(index).settings.removeAfterMilliseconds - moment.nowMilliseconds : 0
        entries.append(
            CheckpointBatch.Entry(
                identifier: identifier, checkpoint: checkpoint, dueMilliseconds: checkpointDue(index, moment),
                timeToLiveMilliseconds: isOver ? max(1, rest) : nil, subject: subject,
                formerSubject: formerSubject))
        receipt.entries.append(
            CheckpointReceipt.Entry(
                index: index, startOrder: state.pointee.startOrder, sequenceBound: bound,
                isStartNoted: record.startNote != .none && !isLast,
                evictedThrough: isEviction ? offsetsApplied(index) : nil, formerSubject: formerName))
        // What was promised before is taken back: should it stay after all, or begin a new life, it asks for numbers again.
        if isEviction || isOver {
            record.stored.pointee.numbersLeft = 0
            saveNextEvent(index)
        }
        record.noteSaved(
            through: state.pointee.lastOffset, others: record.stored.pointee.extras?.otherOffsets ?? [])
    }

    /// The checkpoints are saved: what waited for that may go on.
    public func saved(_ receipt: CheckpointReceipt, at instant: Instant) {
        let moment = moment(instant)
        for entry in receipt.entries where isSame(entry) {
            let record = record(entry.index)
            if let former = entry.formerSubject, formerSubjects[entry.index] == former {
                formerSubjects[entry.index] = nil
            }
            if entry.isEviction { continue }
            // Whoever asked for more numbers now would be told that there are none, and ask again.
            if receipt.isLast { continue }
            record.stored.pointee.numbersLeft = UInt8(
                clamping: Int64(entry.sequenceBound) - Int64(record.stored.pointee.sequence))
            #if PLANTED_DEFECTS
                if settings.plantedDefect == .boundNotPersisted {
                    record.stored.pointee.numbersLeft = CheckpointFormat.numbersAhead
                }
            #endif
            if entry.isStartNoted, record.startNote == .wanted { record.startNote = .noted }
            advanceGates(entry.index, moment)
        }
        let departing = receipt.entries.filter(\.isEviction)
        guard !departing.isEmpty else { return }
        departures.append(
            Departure(
                entries: departing, leavesAtMilliseconds: moment.nowMilliseconds + Departure.waitMilliseconds))
    }

    /// The checkpoints are not saved, or nobody knows: they are to be taken again.
    public func notSaved(_ receipt: CheckpointReceipt) {
        for entry in receipt.entries where isSame(entry) {
            if entry.isEviction { leaving.remove(entry.index) } else { markUnsaved(entry.index) }
        }
        for identifier in receipt.earlyTokens { unsavedEarlyTokens.insert(identifier) }
        awaitsStore = hasUnsaved
    }

    func isSame(_ entry: CheckpointReceipt.Entry) -> Bool {
        slab.isInUse(entry.index) && state(entry.index).pointee.startOrder == entry.startOrder
    }
}
