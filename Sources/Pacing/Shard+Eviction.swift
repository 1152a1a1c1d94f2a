import Telemetry

/// Activities that leave memory once their checkpoints have been kept for a while.
struct Departure {
    let entries: [CheckpointReceipt.Entry]
    let leavesAtMilliseconds: Int64

    /// A store that fails over forgets its last seconds; what is still in memory then is written again.
    static let waitMilliseconds: Int64 = 5_000
}

/// Settled activities that rest leave memory when it is full; their next event brings them back.
extension Shard {
    /// Takes checkpoints of up to `limit` settled activities whose newest position and send lie before that time. Some seconds after these are
    /// saved, if nothing has happened to them meanwhile, they leave memory with `letDepart`.
    ///
    /// - Returns: nothing where none was found in one round over all activities.
    public func takeIdle(
        limit: Int, quietSinceMilliseconds: Int64, at instant: Instant
    ) -> (bytes: [UInt8], entries: [CheckpointBatch.Entry], receipt: CheckpointReceipt) {
        let moment = moment(instant)
        var writer = CheckpointWriter()
        var entries: [CheckpointBatch.Entry] = []
        var receipt = CheckpointReceipt()
        for _ in 0..<slab.bound where entries.count < limit {
            evictionHand = evictionHand + 1 < slab.bound ? evictionHand + 1 : 0
            let index = evictionHand
            guard slab.isInUse(index), !leaving.contains(index), isIdle(index), !record(index)[.isUnsaved]
            else { continue }
            let newest = max(
                state(index).pointee.latestTimestampMilliseconds, record(index).lastSentAtMilliseconds ?? .min)
            guard newest < quietSinceMilliseconds else { continue }
            take(index, isLast: false, isEviction: true, &writer, &entries, &receipt, moment)
            leaving.insert(index)
        }
        return (writer.bytes, entries, receipt)
    }

    /// Activities that are about to leave memory.
    public var departing: Int { leaving.count }

    /// When the next one may; nil where none is about to.
    public var nextDepartureMilliseconds: Int64? { departures.first?.leavesAtMilliseconds }

    /// Lets go of activities whose checkpoint is old enough to survive what a store may forget.
    ///
    /// - Returns: whether any left.
    public func letDepart(at instant: Instant) -> Bool {
        let moment = moment(instant)
        let before = evictions
        while let departure = departures.first, departure.leavesAtMilliseconds <= moment.nowMilliseconds {
            departures.removeFirst()
            for entry in departure.entries {
                guard leaving.remove(entry.index) != nil, isSame(entry), isIdle(entry.index),
                    !record(entry.index)[.isUnsaved], entry.evictedThrough == offsetsApplied(entry.index)
                else { continue }
                evict(entry.index)
            }
        }
        return evictions > before
    }

    /// Nothing waits, is under way or held; and it follows no subject, whose events would not find it.
    private func isIdle(_ index: UInt32) -> Bool {
        let record = record(index)
        return state(index).pointee.flags.isDisjoint(with: [.waiting, .hasHeld, .ready]) && record.flight == nil
            && record.subject == nil && record.quiet.isEmpty
    }

    /// By source, the first one first.
    func offsetsApplied(_ index: UInt32) -> [Int64] {
        [state(index).pointee.lastOffset] + (record(index).stored.pointee.extras?.otherOffsets ?? [])
    }

    private func evict(_ index: UInt32) {
        withIdentifier(ofIndex: index) { subjects.noteIncomplete($0) }
        wheel.disarm(index, slab.states)
        forget(index)
        evictions += 1
    }
}
