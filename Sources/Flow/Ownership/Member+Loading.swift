import Pacing

/// What was known of activities before this member owned their partition.
extension Member {
    /// How often is looked for activities that are not in memory and whose time has come.
    private static let dueLookMilliseconds: Int64 = 1_000

    func load(_ keys: [LoadKey], of partition: OwnedPartition, ticket: UInt64, _ moment: Moment) {
        partition.loadsUnderWay += 1
        ask(.load(partition: partition.number, partition.epoch, keys), ticket: ticket, moment)
    }

    func lookForDue(_ partition: OwnedPartition, _ moment: Moment) {
        guard let from = partition.dueFromMilliseconds, moment.realMilliseconds >= partition.nextDueLookMilliseconds,
            moment.realMilliseconds >= partition.retryAtMilliseconds
        else { return }
        partition.dueFromMilliseconds = nil
        partition.dueThroughMilliseconds = moment.pacing.nowMilliseconds
        partition.loadsUnderWay += 1
        ask(
            .loadDue(
                partition: partition.number, partition.epoch, fromMilliseconds: from,
                throughMilliseconds: moment.pacing.nowMilliseconds, limit: partition.dueLimit), moment)
    }

    func loaded(_ checkpoints: [LoadedCheckpoint], by question: Question, _ partition: OwnedPartition, _ moment: Moment)
    {
        partition.loadsUnderWay -= 1
        let shard = shard(of: partition)
        for checkpoint in checkpoints {
            do throws(CheckpointFault) {
                try checkpoint.identifier.span.withUnsafeBytes { identifier throws(CheckpointFault) in
                    try checkpoint.bytes.span.withUnsafeBytes { bytes throws(CheckpointFault) in
                        try shard.restore(identifier, from: bytes, at: moment.pacing)
                    }
                }
                counts.activitiesLoaded += 1
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
            if let ticket = question.ticket { preparations[ticket]?.isDone = true }
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
        partition.loadsUnderWay -= 1
        switch question.request {
        case .load(_, _, let keys):
            // The records wait for it, so it is asked again at once; a store out of reach answers no sooner than it can.
            if let ticket = question.ticket { load(keys, of: partition, ticket: ticket, moment) }
        case .loadDue(_, _, let from, _, _):
            partition.dueFromMilliseconds = from
            partition.retryAtMilliseconds = moment.realMilliseconds + settings.retryMilliseconds
        default: break
        }
    }
}
