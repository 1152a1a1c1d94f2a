import Pacing

/// Partitions are spread evenly over the members that live: whoever has too many hands some over, whoever has too few claims what is free.
extension Member {
    func beatIfDue(_ moment: Moment) {
        guard !settings.isAssigned, !isBeating, !isLeaving, moment.realMilliseconds >= nextBeatMilliseconds else {
            return
        }
        isBeating = true
        nextBeatMilliseconds = moment.realMilliseconds + settings.beatMilliseconds
        ask(.beat, moment)
    }

    func heard(_ alive: [String], _ moment: Moment) {
        members = alive.sorted()
        guard takesPartitions else { return }
        let quota = self.quota
        let held = partitions.filter { $0.phase == .owned || $0.phase == .claiming }
        for partition in held.filter({ $0.phase == .owned }).suffix(max(0, held.count - quota)) {
            drain(partition, moment)
        }
        let wanted = max(0, quota - held.count)
        claimsLeft = min(partitions.count, wanted + max(Member.claimsBesides, partitions.count / 4))
        claim(wanted, moment)
    }

    /// So many partitions more, or a quarter of all, are tried a beat where those that are tried are held: a free one among many is found
    /// within a second.
    private static let claimsBesides = 16

    /// How many partitions this member is to have; the first ones by name have one more where it does not come out even.
    private var quota: Int {
        guard let place = members.firstIndex(of: settings.name) else { return 0 }
        let (each, rest) = settings.partitions.quotientAndRemainder(dividingBy: members.count)
        return each + (place < rest ? 1 : 0)
    }

    private func claim(_ wanted: Int, _ moment: Moment) {
        var asked = 0
        for _ in partitions.indices where asked < wanted && claimsLeft > 0 {
            let partition = partitions[claimFrom]
            claimFrom = (claimFrom + 1) % partitions.count
            guard partition.phase == .free else { continue }
            claim(partition, moment)
            asked += 1
            claimsLeft -= 1
        }
    }

    func claim(_ partition: OwnedPartition, _ moment: Moment) {
        partition.phase = .claiming
        partition.leasedAtMilliseconds = moment.realMilliseconds
        ask(.claim(partition: partition.number), moment)
    }

    /// Another member has it: one that is free may be found elsewhere.
    func held(_ partition: OwnedPartition, _ moment: Moment) {
        notClaimed(partition, isHeld: true, moment)
        if takesPartitions, !settings.isAssigned { claim(1, moment) }
    }

    func claimed(_ partition: OwnedPartition, _ claim: Claim, askedAtMilliseconds: Int64, _ moment: Moment) {
        guard isWanted(partition) else {
            partition.epoch = claim.epoch
            partition.leasedAtMilliseconds = askedAtMilliseconds
            release(partition, moment)
            return
        }
        partition.phase = .owned
        partition.retryAtMilliseconds = 0
        partition.epoch = claim.epoch
        partition.firstEpoch = claim.epoch
        partition.leasedAtMilliseconds = askedAtMilliseconds
        partition.nextRenewalMilliseconds = askedAtMilliseconds + settings.renewalMilliseconds
        partition.positionsAtClaim = claim.positions
        for (source, position) in claim.positions.enumerated() where source < partition.sources.count {
            partition.sources[source].settled = position
            partition.sources[source].readOffset = position?.offset
            partition.sources[source].recordsRead = position?.records ?? 0
            partition.sources[source].recordsBefore = position?.records ?? 0
        }
        partition.silentSinceMilliseconds = claim.absenceMilliseconds.map { moment.realMilliseconds - $0 }
        let shard = lane.own(
            partition.number, epoch: claim.epoch,
            sendsUntilMilliseconds: askedAtMilliseconds + settings.sendingMilliseconds)
        shard.beginOwning(
            timestampLeadMilliseconds: max(0, Member.unsavedStampsMilliseconds - settings.leaseMilliseconds / 3),
            at: moment.pacing)
        counts.partitionsClaimed += 1
        notices.append(
            .claimed(
                partition: partition.number, epoch: claim.epoch, absenceMilliseconds: claim.absenceMilliseconds))
    }

    /// All was applied that was in the log at the claim, and pushes may leave.
    func caughtUp(_ partition: OwnedPartition, _ moment: Moment) {
        let silence = partition.silentSinceMilliseconds.map { moment.realMilliseconds - $0 }
        lane.noteCaughtUp(partition.number, spreadMilliseconds: spread(silenceMilliseconds: silence ?? 0), at: moment)
    }

    /// What came due while nothing left leaves within half as long again. Beside it goes what comes due by itself: five thirds of the usual rate,
    /// so that one which varies by a fifth stays below twice that. Nothing comes due twice within a refresh, so no more than that is needed.
    private func spread(silenceMilliseconds silence: Int64) -> Int64 {
        guard silence > Member.shortSilenceMilliseconds else { return 0 }
        let pacing = lane.settings.shard.default
        return min(silence * 3 / 2, max(0, pacing.staleAfterMilliseconds - pacing.refreshLeadMilliseconds))
    }

    /// The owner before stamped pushes that it did not save any more: at the most some seconds ahead of the clock, and it sent nothing in the
    /// last third of its lease.
    private static let unsavedStampsMilliseconds: Int64 = 2_000

    /// A hand-over takes so long at most, and nothing is put off for it.
    static let shortSilenceMilliseconds: Int64 = 1_500

    func renewIfDue(_ partition: OwnedPartition, _ moment: Moment) {
        guard partition.renewalAskedAtMilliseconds == nil,
            moment.realMilliseconds >= partition.nextRenewalMilliseconds
        else { return }
        partition.renewalAskedAtMilliseconds = moment.realMilliseconds
        ask(
            .renew(partition: partition.number, partition.epoch, acknowledged: partition.acknowledgedSerial), moment)
    }

    func renewed(_ partition: OwnedPartition, askedAtMilliseconds: Int64) {
        partition.renewalAskedAtMilliseconds = nil
        partition.leasedAtMilliseconds = max(partition.leasedAtMilliseconds, askedAtMilliseconds)
        partition.nextRenewalMilliseconds = askedAtMilliseconds + settings.renewalMilliseconds
        if partition.isSaving { return }
        lane.extend(
            partition.number,
            sendsUntilMilliseconds: partition.leasedAtMilliseconds + settings.sendingMilliseconds)
    }
}
