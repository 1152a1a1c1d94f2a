import Flow
import Pacing
import Telemetry

extension GroupWorld {
    /// What is not settled, in the order of things; nil where all is.
    var whyUnsettled: String? {
        for (identifier, push) in pushes where nodes[push.node].isRunning {
            return "push \(requests[identifier]?.sequence ?? 0) of \(nodes[push.node].name) has no answer"
        }
        for partition in 0..<group.partitions {
            let owners = nodes.filter { $0.isRunning && $0.member.isReading(Int32(partition)) }
            guard let owner = owners.first else { return "nobody reads partition \(partition)" }
            if owners.count > 1 { return "\(owners.map(\.name)) read partition \(partition)" }
            for (source, reading) in (owner.readings[partition] ?? []).enumerated() {
                if log.hasMore(partition: partition, source: source, after: reading.appliedOffset) {
                    return "\(owner.name) does not read on in \(partition)/\(source)"
                }
                // What a store has lost its owner does not say again.
                if !referee.hasLostWrites,
                    store.partitions[partition].positions[source]?.offset
                        != log.end(partition: partition, source: source)
                {
                    return "\(owner.name) has not settled \(partition)/\(source)"
                }
                if group.isAssigned, !referee.hasLostWrites,
                    coordinator.committed[partition][source]
                        != store.partitions[partition].positions[source].map({
                            $0.offset + 1
                        })
                {
                    return "\(owner.name) has not told the group what is settled in \(partition)/\(source)"
                }
            }
        }
        let withoutTarget = rides.count { waitsForTarget($0) }
        for node in nodes where node.isRunning {
            var waiting = 0
            var unsettled = 0
            var pending: UInt64 = 0
            for shard in node.lane.eachShard {
                let statistics = shard.statistics
                waiting += statistics.waitingUpdates
                unsettled += statistics.unsettledUpdates
                pending += shard.decisions.pending
            }
            if unsettled > 0 { return "\(unsettled) updates have no final answer at \(node.name)" }
            // A target that was reported may have been lost with the writes.
            if referee.hasLostWrites { continue }
            if waiting > withoutTarget { return "\(waiting) updates wait at \(node.name)" }
            if pending > 0, withoutTarget == 0 { return "\(pending) activity events are pending at \(node.name)" }
        }
        // What its owner wrote down and forgot comes up again in its time.
        let now = unixMilliseconds
        let isDueSoon = store.partitions.contains { partition in
            partition.entries.values.contains {
                $0.dueMilliseconds.map { $0 > now && $0 < now + GroupWorld.farthestGateMilliseconds } ?? false
            }
        }
        if isDueSoon { return "something kept will be due soon" }
        let isUnderWay = agenda.contains {
            switch $0 {
            case .deliver, .report, .arrive, .script: true
            default: false
            }
        }
        return isUnderWay ? "something is on its way to a phone or to a stream" : nil
    }

    /// The first partition that not exactly one member reads.
    private var unreadPartition: Int? {
        (0..<group.partitions).first { partition in
            nodes.count { $0.isRunning && $0.member.isReading(Int32(partition)) } != 1
        }
    }

    mutating func judge() throws(Broken) {
        if realMilliseconds > endMilliseconds + GroupWorld.unreadMilliseconds, let partition = unreadPartition {
            throw Broken(
                .everyPartitionIsRead,
                "\(nodes.filter { $0.isRunning && $0.member.isReading(Int32(partition)) }.map(\.name)) read partition \(partition)"
            )
        }
        if whyUnsettled == nil {
            let since = quietSince ?? realMilliseconds
            quietSince = since
            // Among updates that wait for a target one may wait for a gate.
            let isClear = !referee.hasLostWrites && !rides.contains { waitsForTarget($0) }
            let quiet = isClear ? GroupWorld.quietMilliseconds : GroupWorld.farthestGateMilliseconds
            if realMilliseconds - since >= quiet {
                isJudged = true
                return
            }
        } else {
            quietSince = nil
        }
        agenda.plan(.group(.judge), atMilliseconds: realMilliseconds + 1_000)
    }

    /// With everything settled: does each phone know what it should, and does the store keep what it should and no more?
    func verdict() -> (activity: Int?, broken: Broken)? {
        for activity in rides.indices where !skipped.contains(Int(rides[activity].partition)) {
            let broken = referee.hasLostWrites ? verdictByProvider(activity) : verdict(of: activity)
            if let broken { return (activity, broken) }
            guard !referee.hasLostWrites else { continue }
            if rides[activity].truth.phase == .alive, referee.lacksStart(activity) {
                return (activity, Broken(.newestStateIsTold, "its start never left"))
            }
            if let broken = verdictOnStore(activity) { return (activity, broken) }
        }
        return nil
    }

    /// Where stamps were lost a phone may drop what is newer: then it counts what the provider took.
    private func verdictByProvider(_ activity: Int) -> Broken? {
        let ride = rides[activity]
        guard let token = ride.truth.token, let record = provider.tokens[token], record.goneAtMilliseconds == nil,
            record.stale == nil, !ride.wasRefused, ride.truth.startToken == nil,
            // One that the provider never saw may have been lost with the writes.
            let told = referee.told(activity, token)
        else { return nil }
        if ride.truth.phase == .ended {
            // An owner may have lost that it told the end, and tell the card something that comes after it.
            return referee.hasTakenEnd(token)
                ? nil : Broken(.newestStateIsTold, "the activity has ended, the provider does not know")
        }
        return ride.ledger.significance.fault(in: told, beside: ride.truth).map {
            Broken(.newestStateIsTold, $0)
        }
    }

    /// What is kept of an activity stays while it lives, and has an end from then on.
    private func verdictOnStore(_ activity: Int) -> Broken? {
        let ride = rides[activity]
        let identifier = Array(script.names.texts[activity].utf8)
        for (index, partition) in store.partitions.enumerated() {
            guard let entry = partition.entries[identifier] else { continue }
            if index != Int(ride.partition) {
                return Broken(.storeIsBounded, "it is kept in partition \(index) as well, which is not its own")
            }
            if ride.truth.phase == .alive, entry.endsAtMilliseconds != nil {
                return Broken(.storeIsBounded, "it lives, and what is kept of it will be forgotten")
            }
            if ride.truth.phase == .ended, !waitsForTarget(ride), entry.endsAtMilliseconds == nil {
                return Broken(.storeIsBounded, "it has ended, and what is kept of it is kept for ever")
            }
            if ride.truth.phase == .ended, partition.followers.values.contains(where: { $0.contains(identifier) }) {
                return Broken(.storeIsBounded, "it has ended, and is kept as a follower")
            }
        }
        return nil
    }
}
