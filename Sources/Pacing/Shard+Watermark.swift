/// What of the log is not settled: offsets whose events have to be read again if the process ends now.
extension Shard {
    /// The smallest offset of the source that is held, and the shard's time at which that event was applied; nil where nothing is.
    public func smallestHeld(source: Int) -> (offset: Int64, appliedAtMilliseconds: Int64)? {
        let source = UInt8(source)
        guard Int(source) < holds.count else { return nil }
        var queue = HoldQueue()
        swap(&queue, &holds[Int(source)])
        defer { swap(&queue, &holds[Int(source)]) }
        let smallest = queue.smallest {
            held($0, source: source)
        } left: { index in
            // What it holds next has to enter again.
            guard slab.isInUse(index), let pending = record(index).stored.pointee.extras?.pending else { return }
            pending.queuedHolds &= ~(1 << source)
        }
        return smallest.map { ($0.offset, $0.appliedAtMilliseconds) }
    }

    /// Has everything saved that was applied at or before that time, or lies at or below that offset of the source, and is held.
    ///
    /// It costs a look at each activity that holds something.
    public func saveHeld(source: Int, appliedAtOrBefore milliseconds: Int64, through offset: Int64 = -1) {
        guard source < holds.count else { return }
        for entry in holds[source].heap {
            guard let held = held(entry.index, source: UInt8(source)),
                held.appliedAtMilliseconds <= milliseconds || held.offset <= offset
            else { continue }
            markUnsaved(entry.index)
        }
    }

    /// The log was cut back: offsets above this one are given again, and say nothing of what was applied.
    public func rewind(source: Int, to offset: Int64) {
        while takeOver.offsetCeilings.count <= source { takeOver.offsetCeilings.append(.max) }
        takeOver.offsetCeilings[source] = min(takeOver.offsetCeilings[source], offset)
        for index in 0..<slab.bound where slab.isInUse(index) {
            let record = record(index)
            if source == 0 {
                state(index).pointee.lastOffset = min(state(index).pointee.lastOffset, offset)
            } else if let others = record.stored.pointee.extras?.otherOffsets, others.count >= source {
                record.extras.otherOffsets[source - 1] = min(others[source - 1], offset)
            }
            record.lowerSaved(to: offset, source: UInt8(source))
        }
        if source < holds.count { holds[source].lower(to: offset) }
    }

    /// The event is not settled: it holds its offset.
    func hold(_ index: UInt32, _ origin: Origin) {
        guard settings.keepsCheckpoints, origin.isKnown else { return }
        let record = record(index)
        let bit = UInt8(1) << origin.source
        guard record.queuedHolds & bit == 0 else { return }
        record.queuedHolds |= bit
        while holds.count <= Int(origin.source) { holds.append(HoldQueue()) }
        holds[Int(origin.source)].add(offset: origin.offset, index: index)
    }

    /// A position changed fields that no reason speaks for yet: they ride along with the next update, and an owner that takes over without
    /// a checkpoint has to hear of them again. (What differs within its tolerance may be forgotten.)
    func holdQuiet(_ index: UInt32, _ contribution: Contribution?, _ judgement: Judgement) {
        guard settings.keepsCheckpoints, var contribution, !contribution.fields.isEmpty else { return }
        guard judgement.hasOtherDifference else {
            judgement.record.quiet = Contributions()
            return
        }
        contribution.ownsPosition = false
        contribution.isDecided = true
        judgement.record.quiet.add(contribution, &decisions)
        hold(index, contribution.origin)
    }

    /// The event gives no reason beside what is on its way. An owner that takes over before that has arrived has to hear of it again.
    func follow(_ index: UInt32, _ flight: Flight, _ contribution: Contribution?) {
        guard var contribution else { return }
        contribution.isDecided = true
        flight.followers.add(contribution, &decisions)
        hold(index, contribution.origin)
    }

    private func held(_ index: UInt32, source: UInt8) -> Held? {
        guard slab.isInUse(index), let pending = record(index).stored.pointee.extras?.pending else { return nil }
        let saved = pending.savedThrough(source)
        var held: Held?
        pending.waiting.lower(&held, source: source, above: saved)
        pending.quiet.lower(&held, source: source, above: saved)
        pending.flight?.contributions.lower(&held, source: source, above: saved)
        pending.flight?.followers.lower(&held, source: source, above: saved)
        if let aside = pending.held {
            Held.lower(&held, aside.origin, aside.appliedAtMilliseconds, source, saved)
        }
        return held
    }
}
