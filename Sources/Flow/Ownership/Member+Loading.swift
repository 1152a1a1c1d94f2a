import Pacing

/// What was known of activities before this member owned their partition.
extension Member {
    /// How often is looked for activities that are not in memory and whose time has come.
    private static let dueLookMilliseconds: Int64 = 1_000

    func load(_ keys: [LoadKey], of partition: OwnedPartition, ticket: UInt64, _ moment: Moment) {
        if partition.isReclaiming {
            partition.loadsToRepeat.append((keys, ticket))
            return
        }
        ask(.load(partition: partition.number, partition.epoch, keys), ticket: ticket, moment)
    }

    func loadAgain(_ partition: OwnedPartition, _ moment: Moment) {
        guard !partition.loadsToRepeat.isEmpty, moment.realMilliseconds >= partition.retryAtMilliseconds else { return }
        let loads = partition.loadsToRepeat
        partition.loadsToRepeat = []
        for (keys, ticket) in loads where preparations[ticket] != nil {
            load(keys, of: partition, ticket: ticket, moment)
        }
    }

    /// Nobody has sent an event for these, but another activity takes their place.
    func loadWanted(_ partition: OwnedPartition, _ moment: Moment) {
        let shard = shard(of: partition)
        guard shard.hasWantedLoads, moment.realMilliseconds >= partition.retryAtMilliseconds else { return }
        let keys = shard.takeWantedLoads().map { LoadKey(identifier: $0) }
        ask(.load(partition: partition.number, partition.epoch, keys), moment)
    }

    /// Activities have left memory: some may be those that batches were prepared for and have not been applied to.
    func prepareAgain(_ partition: OwnedPartition, _ moment: Moment) {
        let tickets = preparations.filter {
            $0.value.isDone && $0.value.partition == partition.number && $0.value.epoch == partition.epoch
        }
        for ticket in tickets.keys.sorted() { finishPreparing(ticket, of: partition, moment) }
    }

    private func finishPreparing(_ ticket: UInt64, of partition: OwnedPartition, _ moment: Moment) {
        let shard = shard(of: partition)
        let gone = (preparations[ticket]?.needed ?? []).filter { isGone($0, shard) }
        preparations[ticket]?.isDone = gone.isEmpty
        if !gone.isEmpty { load(Array(gone), of: partition, ticket: ticket, moment) }
    }

    private func isGone(_ key: LoadKey, _ shard: Shard) -> Bool {
        !key.isSubject && key.identifier.withUnsafeBytes { shard.needsLoad($0, isSubject: false) }
    }

    /// Not while the partition catches up: nothing leaves before its end, and most of what is due is loaded with the records.
    func lookForDue(_ partition: OwnedPartition, _ moment: Moment) {
        guard partition.isCaughtUp, !partition.isReclaiming, let from = partition.dueFromMilliseconds,
            moment.realMilliseconds >= partition.nextDueLookMilliseconds,
            moment.realMilliseconds >= partition.retryAtMilliseconds
        else { return }
        partition.dueFromMilliseconds = nil
        partition.dueThroughMilliseconds = moment.pacing.nowMilliseconds
        ask(
            .loadDue(
                partition: partition.number, partition.epoch, fromMilliseconds: from,
                throughMilliseconds: moment.pacing.nowMilliseconds, limit: partition.dueLimit), moment)
    }

    func loaded(_ checkpoints: [LoadedCheckpoint], by question: Question, _ partition: OwnedPartition, _ moment: Moment)
    {
        let shard = shard(of: partition)
        for checkpoint in checkpoints {
            do throws(CheckpointFault) {
                let isNew = try checkpoint.identifier.span.withUnsafeBytes { identifier throws(CheckpointFault) in
                    try checkpoint.bytes.span.withUnsafeBytes { bytes throws(CheckpointFault) in
                        try shard.restore(identifier, from: bytes, at: moment.pacing)
                    }
                }
                if isNew { counts.activitiesLoaded += 1 }
            } catch {
                notices.append(
                    .checkpointUnusable(
                        partition: partition.number, identifier: checkpoint.identifier, error))
            }
        }
        lane.noteReady(partition.number)
        switch question.request {
        case .load(_, _, let keys):
            for key in keys where key.isSubject {
                key.identifier.withUnsafeBytes { shard.noteLoaded(subject: $0) }
            }
            if let ticket = question.ticket {
                // What was not found is kept nowhere.
                for key in keys where isGone(key, shard) { preparations[ticket]?.needed?.remove(key) }
                finishPreparing(ticket, of: partition, moment)
            }
            if shard.awaitsLoads {
                shard.noteLoaded(
                    activities: keys.filter { !$0.isSubject }.map(\.identifier), at: moment.pacing)
                lane.noteReady(partition.number)
            }
        case .loadDue(_, _, let from, let through, let limit):
            noteDue(checkpoints, from: from, through: through, limit: limit, partition, moment)
        default: break
        }
    }

    /// Where the next page of what is due begins.
    private func noteDue(
        _ checkpoints: [LoadedCheckpoint], from: Int64, through: Int64, limit: Int, _ partition: OwnedPartition,
        _ moment: Moment
    ) {
        guard checkpoints.count >= limit, let last = checkpoints.compactMap(\.dueMilliseconds).max() else {
            partition.dueFromMilliseconds = through + 1
            partition.dueLimit = OwnedPartition.duePage
            partition.nextDueLookMilliseconds = moment.realMilliseconds + Member.dueLookMilliseconds
            return
        }
        // A page of which all are due at one time would come again and again.
        partition.dueLimit = last == from ? limit * 2 : OwnedPartition.duePage
        partition.dueFromMilliseconds = last
        partition.nextDueLookMilliseconds = moment.realMilliseconds
        lookForDue(partition, moment)
    }

    func notLoaded(_ question: Question, _ partition: OwnedPartition, _ moment: Moment) {
        switch question.request {
        case .load(_, _, let keys):
            if let ticket = question.ticket {
                partition.loadsToRepeat.append((keys, ticket))
            } else {
                for key in keys { shard(of: partition).wantAgain(key.identifier) }
            }
            partition.retryAtMilliseconds = moment.realMilliseconds + settings.retryMilliseconds
        case .loadDue(_, _, let from, _, _):
            partition.dueFromMilliseconds = from
            partition.retryAtMilliseconds = moment.realMilliseconds + settings.retryMilliseconds
        default: break
        }
    }
}
