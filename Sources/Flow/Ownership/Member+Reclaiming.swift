import Pacing

/// A store that was emptied, or came back with older data, knows nothing of who owns what. As long as nobody else has claimed a partition,
/// its owner claims it again and writes down all that it has in memory: that is the newest there is.
extension Member {
    func reclaim(_ partition: OwnedPartition, _ moment: Moment) {
        guard !partition.isReclaiming else { return }
        partition.isReclaiming = true
        counts.storeSetbacks += 1
        notices.append(.ownershipForgotten(partition: partition.number))
        ask(.claim(partition: partition.number), moment)
    }

    func answerReclaim(
        _ partition: OwnedPartition, _ question: Question, _ answer: StoreAnswer, _ moment: Moment
    ) {
        partition.isReclaiming = false
        switch answer {
        case .claimed(let claim)
        where !partition.knowsAll(after: claim.positions, isNoneKnown: settings.keepsMemoryOfEmptiedStore):
            // What owners before this one had written is gone as well, and memory does not have it: it is read once more. By a claim of its
            // own, for whoever reads has to see that reading ended: the store may count its epochs as it did before. Not where the store
            // was emptied and nobody would read it again: then memory is all that is left.
            lose(partition)
        case .claimed(let claim):
            partition.epoch = claim.epoch
            lane.changeEpoch(partition.number, to: claim.epoch)
            // Before the lease is noted: of what is let go of nothing leaves any more.
            if partition.phase == .releasing {
                partition.isReleaseUnderWay = false
                partition.phase = .saving(untilMilliseconds: moment.realMilliseconds + settings.leaseMilliseconds)
            }
            renewed(partition, askedAtMilliseconds: question.askedAtMilliseconds)
            writeAgain(partition)
        case .held:
            notices.append(.lost(partition: partition.number, stage: .renew))
            lose(partition)
        default:
            partition.renewalAskedAtMilliseconds = nil
            partition.nextRenewalMilliseconds = moment.realMilliseconds + settings.retryMilliseconds
        }
    }

    /// The store did not know this member, whose leases it has granted: it may know nobody, and whoever is not named may live all the same.
    ///
    /// - Returns: whether partitions stay as they are spread, until all who live have had the time to say so.
    func keepsSpread(isNew: Bool, _ moment: Moment) -> Bool {
        let now = moment.realMilliseconds
        if isNew, hasBeaten, partitions.contains(where: \.isOwned) {
            spreadsFromMilliseconds = now + settings.leaseMilliseconds
            for partition in partitions where partition.isOwned { partition.nextRenewalMilliseconds = now }
        }
        hasBeaten = true
        return now < spreadsFromMilliseconds
    }
}
