import Pacing

/// What the store is to know of a partition: checkpoints of what is settled, and how far that is.
extension Member {
    /// So many checkpoints a batch.
    private static let batchEntries = 1_000
    /// Checkpoints that nothing waits for gather so long, and positions alone.
    private static let gatherMilliseconds: Int64 = 5
    private static let positionsMilliseconds: Int64 = 250
    private static let boundMilliseconds: Int64 = 1_000
    /// Activities that rested for less do not leave memory, as long as others do.
    private static let restMilliseconds: Int64 = 60_000

    func hasToSave(_ partition: OwnedPartition) -> Bool { shard(of: partition).hasUnsaved }

    func saveIfDue(_ partition: OwnedPartition, _ moment: Moment) {
        let now = moment.realMilliseconds
        guard partition.receipt == nil, now >= partition.retryAtMilliseconds else { return }
        let shard = shard(of: partition)
        letDepart(partition, shard, moment)
        if now >= partition.nextBoundMilliseconds {
            partition.nextBoundMilliseconds = now + Member.boundMilliseconds
            saveWhatIsHeldTooLong(partition, shard, moment)
            if evictIfFull(partition, shard, moment) { return }
        }
        let isGathered = now >= partition.nextSaveMilliseconds
        guard shard.awaitsStore || isGathered else { return }
        let isUnsaved = shard.hasUnsaved
        guard isUnsaved || hasMoved(partition, shard) else { return }
        save(partition, shard, isLast: false, moment)
        partition.nextSaveMilliseconds = now + (isUnsaved ? Member.gatherMilliseconds : Member.positionsMilliseconds)
    }

    /// The last batches before the partition is let go of.
    func saveLast(_ partition: OwnedPartition, _ moment: Moment) {
        if case .saving(let until) = partition.phase, moment.realMilliseconds >= until {
            // The store renews and does not write: the partition is of more use to somebody else, who reads again what was not settled.
            counts.partitionsLost += 1
            partition.acknowledgedSerial = 0
            release(partition, moment)
            return
        }
        guard partition.receipt == nil, moment.realMilliseconds >= partition.retryAtMilliseconds else { return }
        let shard = shard(of: partition)
        if shard.hasUnsaved || hasMoved(partition, shard) {
            save(partition, shard, isLast: true, moment)
        } else {
            release(partition, moment)
        }
    }

    private func save(_ partition: OwnedPartition, _ shard: Shard, isLast: Bool, _ moment: Moment) {
        let (bytes, entries, receipt) = shard.takeCheckpoints(
            limit: Member.batchEntries, isLast: isLast, at: moment.pacing)
        // Positions speak of the time when all is saved.
        let positions = shard.hasUnsaved ? [] : settledPositions(partition, shard)
        #if PLANTED_DEFECTS
            if lane.settings.shard.plantedDefect == .cursorBeforeCheckpoint, !entries.isEmpty, !shard.hasUnsaved,
                positions.contains(where: { $0 != nil })
            {
                shard.notSaved(receipt)
                send(
                    [], [], shard.takeCheckpoints(limit: 0, at: moment.pacing).receipt, positions, of: partition, moment
                )
                return
            }
        #endif
        send(bytes, entries, receipt, positions, of: partition, moment)
    }

    private func send(
        _ bytes: [UInt8], _ entries: [CheckpointBatch.Entry], _ receipt: CheckpointReceipt,
        _ positions: [SettledPosition?], of partition: OwnedPartition, _ moment: Moment
    ) {
        partition.receipt = receipt
        partition.positionsUnderWay = positions
        for (source, position) in positions.enumerated() {
            if let position { partition.note(sent: position, source: source) }
        }
        partition.serial += 1
        let batch = CheckpointBatch(
            bytes: bytes, entries: entries, positions: positions, serial: partition.serial,
            acknowledged: partition.acknowledgedSerial)
        ask(.save(partition: partition.number, partition.epoch, batch), moment)
    }

    /// Nil for a source whose position the store knows.
    private func settledPositions(_ partition: OwnedPartition, _ shard: Shard) -> [SettledPosition?] {
        partition.sources.indices.map { source in
            let position = settledPosition(partition, shard, source)
            if partition.isPositionForgotten { return position ?? partition.sources[source].settled }
            return position == partition.sources[source].settled ? nil : position
        }
    }

    private func settledPosition(_ partition: OwnedPartition, _ shard: Shard, _ source: Int) -> SettledPosition? {
        guard let read = partition.sources[source].readOffset else { return nil }
        var offset = shard.smallestHeld(source: source).map { $0.offset - 1 } ?? read
        if let hold = partition.sources[source].holds.first { offset = min(offset, hold - 1) }
        #if PLANTED_DEFECTS
            if lane.settings.shard.plantedDefect == .commitAheadOfSettle { offset = read }
        #endif
        guard let position = partition.position(atOrBelow: offset, source: source),
            position.offset >= partition.sources[source].settled?.offset ?? .min
        else { return nil }
        return position
    }

    private func hasMoved(_ partition: OwnedPartition, _ shard: Shard) -> Bool {
        if partition.isPositionForgotten { return true }
        return partition.sources.indices.contains { source in
            guard let position = settledPosition(partition, shard, source) else { return false }
            return position != partition.sources[source].settled
        }
    }

    private func saveWhatIsHeldTooLong(_ partition: OwnedPartition, _ shard: Shard, _ moment: Moment) {
        for source in partition.sources.indices {
            guard let held = shard.smallestHeld(source: source) else { continue }
            let oldest = moment.pacing.nowMilliseconds - settings.maxUncommittedAgeMilliseconds
            let isTooOld = held.appliedAtMilliseconds <= oldest
            let position = partition.position(atOrBelow: held.offset - 1, source: source)
            let uncommitted =
                position.map { partition.sources[source].recordsRead - $0.records }
                ?? partition.sources[source].recordsUnsettled
            let isTooMuch = uncommitted > settings.maxUncommittedRecords
            guard isTooOld || isTooMuch else { continue }
            counts.checkpointsForced += 1
            // Half of it at once, so that the bound is not met again with the next record.
            let through = isTooMuch ? middle(partition, source, uncommitted) : -1
            shard.saveHeld(source: source, appliedAtOrBefore: oldest, through: through)
        }
    }

    private func middle(_ partition: OwnedPartition, _ source: Int, _ uncommitted: Int64) -> Int64 {
        let marks = partition.sources[source].marks
        let wanted = partition.sources[source].recordsRead - uncommitted / 2
        return marks.last { $0.records <= wanted }?.offset ?? partition.sources[source].readOffset ?? -1
    }

    /// - Returns: whether a batch is on its way, after which activities leave memory.
    private func evictIfFull(_ partition: OwnedPartition, _ shard: Shard, _ moment: Moment) -> Bool {
        guard isFull, partition.isRead, shard.activityCount > 0 else { return false }
        // Of batches that were prepared before memory was full nobody knows which activities they need.
        let isUnknown = preparations.values.contains {
            $0.partition == partition.number && $0.epoch == partition.epoch && $0.needed == nil
        }
        if isUnknown { return false }
        let quietSince = [Member.restMilliseconds, Member.restMilliseconds / 10, 0]
        for rest in quietSince {
            let (bytes, entries, receipt) = shard.takeIdle(
                limit: Member.batchEntries, quietSinceMilliseconds: moment.pacing.nowMilliseconds - rest,
                at: moment.pacing)
            guard !entries.isEmpty else { continue }
            send(bytes, entries, receipt, [], of: partition, moment)
            // The next batch follows at once, until there is room.
            partition.nextBoundMilliseconds = moment.realMilliseconds
            return true
        }
        return false
    }

    var isFull: Bool { lane.eachShard.reduce(0) { $0 + $1.activityCount - $1.departing } > settings.maxActivities }
    private var isAnyDeparting: Bool { lane.eachShard.contains { $0.departing > 0 } }
    /// Whether activities may leave memory before a batch that is prepared now has been applied.
    var mayEvict: Bool { isFull || isAnyDeparting }

    private func letDepart(_ partition: OwnedPartition, _ shard: Shard, _ moment: Moment) {
        guard let due = shard.nextDepartureMilliseconds, due <= moment.pacing.nowMilliseconds,
            shard.letDepart(at: moment.pacing)
        else { return }
        prepareAgain(partition, moment)
    }

    func saved(_ partition: OwnedPartition, _ moment: Moment) {
        guard let receipt = partition.receipt else { return }
        partition.receipt = nil
        partition.acknowledgedSerial = partition.serial
        for (source, position) in partition.positionsUnderWay.enumerated() {
            if let position { partition.settle(position, source: source) }
        }
        if !partition.positionsUnderWay.isEmpty { partition.isPositionForgotten = false }
        counts.savesAcknowledged += 1
        counts.checkpointsSaved += receipt.count
        let shard = shard(of: partition)
        shard.saved(receipt, at: moment.pacing)
        lane.noteReady(partition.number)
    }

    func notSaved(_ partition: OwnedPartition, _ moment: Moment) {
        guard let receipt = partition.receipt else { return }
        partition.receipt = nil
        partition.retryAtMilliseconds = moment.realMilliseconds + settings.retryMilliseconds
        shard(of: partition).notSaved(receipt)
    }

    /// The store has gone back to what it was some batches ago, and the log to a position that belongs to that. All that is in memory is
    /// written before any position is, so that whoever comes next finds them together again.
    func writeAgain(_ partition: OwnedPartition, acknowledged: UInt64) {
        // Another request has brought the same news.
        guard partition.acknowledgedSerial >= acknowledged, acknowledged > 0 else { return }
        counts.storeSetbacks += 1
        notices.append(.storeBehind(partition: partition.number))
        writeAgain(partition)
    }

    func writeAgain(_ partition: OwnedPartition) {
        partition.acknowledgedSerial = 0
        partition.isPositionForgotten = true
        shard(of: partition).saveAgain()
    }
}
