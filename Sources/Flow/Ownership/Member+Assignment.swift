import Pacing

/// Partitions that somebody else spreads over the members, as the coordinator of a consumer group of Kafka does. It says who is to own a
/// partition; who owns it is still a matter of leases: one that another member holds is waited for, so that never two send for one partition.
extension Member {
    /// How often a lease that another member holds is asked for: it may be given back long before it ends.
    private static let claimAgainMilliseconds: Int64 = 250

    /// It is to own the partition, until `revoke` or `lose`.
    public func assign(_ number: Int32) {
        precondition(settings.isAssigned, "members spread partitions among themselves")
        partitions[Int(number)].isAssigned = true
    }

    /// It is to own the partition no more: what is under way ends, all is saved, and the lease is given back. Then `isFree`.
    public func revoke(_ number: Int32, at moment: Moment) {
        let partition = partitions[Int(number)]
        partition.isAssigned = false
        #if PLANTED_DEFECTS
            if lane.settings.shard.plantedDefect == .revocationUnheeded { return }
        #endif
        if partition.phase == .owned { drain(partition, moment) }
    }

    /// Another member may be its owner to be already: nothing leaves from now on, and nothing is waited for.
    ///
    /// What is known is still written, for by its lease it is this member's, and the store refuses it where that has ended. A lease that
    /// is given back with less lets the next owner begin at once, without the stamps, numbers and intervals of the last pushes.
    public func lose(_ number: Int32, at moment: Moment) {
        let partition = partitions[Int(number)]
        partition.isAssigned = false
        switch partition.phase {
        case .owned, .draining:
            counts.partitionsLost += 1
            seal(partition, moment)
        case .free, .claiming, .saving, .releasing: break
        }
    }

    /// Whether nothing of the partition is left here, so that it may be another member's.
    public func isFree(_ number: Int32) -> Bool { partitions[Int(number)].phase == .free }

    func isWanted(_ partition: OwnedPartition) -> Bool {
        takesPartitions && (partition.isAssigned || !settings.isAssigned)
    }

    func claimIfAssigned(_ partition: OwnedPartition, _ moment: Moment) {
        guard partition.isAssigned, takesPartitions, moment.realMilliseconds >= partition.retryAtMilliseconds else {
            return
        }
        claim(partition, moment)
    }

    /// The lease is another member's, or the store did not answer.
    func notClaimed(_ partition: OwnedPartition, isHeld: Bool, _ moment: Moment) {
        partition.phase = .free
        partition.retryAtMilliseconds =
            moment.realMilliseconds + (isHeld ? Member.claimAgainMilliseconds : settings.retryMilliseconds)
        #if PLANTED_DEFECTS
            if isHeld, lane.settings.shard.plantedDefect == .heldIsGivenUp { partition.retryAtMilliseconds = .max }
        #endif
    }
}
