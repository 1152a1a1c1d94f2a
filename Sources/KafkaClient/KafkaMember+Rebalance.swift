import CRdkafka
import Sockets

/// Partitions that the group wants back; it waits until all of them are released.
struct Revocation {
    let partitions: [KafkaTopicPartition]
    var unreleased: Set<KafkaTopicPartition>
    var offsets: [KafkaTopicPartition: Int64] = [:]
    var isCommitting = false
}

/// The group gives partitions and takes them away, by events that have to be answered: the next rebalance waits for the answer.
extension KafkaMember {
    /// What marks a commit as that of a revocation; those by the clock have no mark.
    private static var mark: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: 1) }
    /// A commit in the middle of a rebalance that is not answered in this time will not be.
    private static let commitMilliseconds: Int64 = 5_000

    /// What was read of a revoked partition is settled, or given up; it is let go with all others of its revocation.
    ///
    /// - Parameter offset: committed before it is let go: everything below it is settled. Nil commits nothing but what was stored.
    public func release(_ partition: KafkaTopicPartition, committing offset: Int64?) {
        guard var pending = revocation, pending.unreleased.remove(partition) != nil else { return }
        if let offset { pending.offsets[partition] = offset }
        revocation = pending
        if pending.unreleased.isEmpty { commitAndLetGo() }
    }

    func rebalance(_ event: OpaquePointer) {
        let partitions = rd_kafka_event_topic_partition_list(event).map { $0.entries().map(\.partition) } ?? []
        switch rd_kafka_event_error(event) {
        case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS: assign(partitions.sorted())
        case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS:
            revoke(partitions.sorted(), isLost: rd_kafka_assignment_lost(client.pointer) != 0)
        case let code:
            // What librdkafka could not say: nothing of it is ours any more.
            revoke(owned.sorted(), isLost: true)
            tell(.fault(.of(code, "a rebalance of group \(group.id)")))
        }
    }

    private var isCooperative: Bool {
        rd_kafka_rebalance_protocol(client.pointer).map { String(cString: $0) == "COOPERATIVE" } ?? false
    }

    /// The group goes on at once. Here partitions are assigned only so that their offsets can be committed; nothing is fetched.
    private func assign(_ partitions: [KafkaTopicPartition]) {
        let list = PartitionList(capacity: partitions.count)
        for partition in partitions {
            // librdkafka pauses only what it knows.
            if let queue = rd_kafka_queue_get_partition(client.pointer, partition.topic, partition.partition) {
                rd_kafka_queue_destroy(queue)
            }
            // Any offset that needs no look-up: it is never fetched from.
            list.append(partition, offset: 0)
        }
        rd_kafka_pause_partitions(client.pointer, list.pointer)
        if isCooperative {
            if let error = rd_kafka_incremental_assign(client.pointer, list.pointer) {
                tell(.fault(.taking(error, "taking partitions of group \(group.id)")))
            }
        } else {
            rd_kafka_assign(client.pointer, list.pointer)
        }
        noteJoined()
        if !partitions.isEmpty { instruments.rebalances.add(Int64(partitions.count), .assigned) }
        tell(.assigned(partitions))
    }

    // MARK: Taking away

    private func revoke(_ partitions: [KafkaTopicPartition], isLost: Bool) {
        // Where one is still pending, librdkafka has given up waiting for it.
        revocation = nil
        if isLost {
            letGo(of: partitions)
            return tellLost(partitions)
        }
        // What was given up before librdkafka knew is told no more.
        let told = partitions.filter(owned.contains)
        revocation = Revocation(partitions: partitions, unreleased: Set(told))
        guard !told.isEmpty else { return commitAndLetGo() }
        instruments.rebalances.add(Int64(told.count), .revoked)
        tell(.revoked(told))
    }

    private func tellLost(_ partitions: [KafkaTopicPartition]) {
        let told = partitions.filter(owned.contains)
        guard !told.isEmpty else { return }
        instruments.rebalances.add(Int64(told.count), .lost)
        tell(.lost(told))
    }

    /// The group has forgotten this member, or must have by now; librdkafka tells later, or of one partition after the other (the flag of
    /// lost assignments vanishes when it happens during a rebalance, confluentinc/librdkafka#5604). Doubt counts as loss.
    func giveUp() {
        let all = owned.sorted()
        let pending = revocation
        revocation = nil
        commitDeadline.cancel()
        if let pending { letGo(of: pending.partitions) }
        tellLost(all)
    }

    /// The session may end while a revocation is waited for, and librdkafka tells of that by a flag alone.
    func noteLoss() {
        guard let pending = revocation, rd_kafka_assignment_lost(client.pointer) != 0 else { return }
        revocation = nil
        commitDeadline.cancel()
        letGo(of: pending.partitions)
        tellLost(pending.partitions)
    }

    /// Once per revocation, and none runs freely: a commit of one's own in the middle of an incremental rebalance loses the assignment
    /// (confluentinc/librdkafka#4059), and this one ends before the rebalance goes on.
    private func commitAndLetGo() {
        guard var pending = revocation, !pending.isCommitting else { return }
        guard !pending.offsets.isEmpty, let events else { return finishRevocation(nil) }
        pending.isCommitting = true
        revocation = pending
        let list = PartitionList(capacity: pending.offsets.count)
        for (partition, offset) in pending.offsets.sorted(by: { $0.key < $1.key }) {
            list.append(partition, offset: offset)
        }
        let code = rd_kafka_commit_queue(client.pointer, list.pointer, events, nil, Self.mark)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            return finishRevocation(.of(code, "committing released partitions"))
        }
        commitDeadline.schedule(atMilliseconds: EventLoop.currentMilliseconds() + Self.commitMilliseconds)
    }

    func commitIsLate() {
        guard revocation?.isCommitting == true else { return }
        finishRevocation(.of(RD_KAFKA_RESP_ERR__TIMED_OUT, "committing released partitions"))
    }

    func committed(_ event: OpaquePointer) {
        let code = rd_kafka_event_error(event)
        let isOfRevocation = rd_kafka_event_opaque(event) == Self.mark
        // Nothing was there to be committed.
        if code == RD_KAFKA_RESP_ERR__NO_OFFSET, !isOfRevocation { return }
        var fault: KafkaFault?
        if code != RD_KAFKA_RESP_ERR_NO_ERROR {
            fault = .of(code, "committing offsets of group \(group.id)")
        } else if let list = rd_kafka_event_topic_partition_list(event),
            let bad = list.entries().first(where: { $0.code != RD_KAFKA_RESP_ERR_NO_ERROR })
        {
            fault = .of(bad.code, "committing the offset of \(bad.partition)")
        }
        instruments.commits.add(1, fault == nil ? .committed : fault?.kind == .stale ? .stale : .refused)
        if code == RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID { return giveUp() }
        if isOfRevocation {
            if revocation?.isCommitting == true { finishRevocation(fault) }
        } else if let fault, fault.kind != .stale {
            // The next one by the clock carries the same and more; one that came too late is nobody's concern.
            commitFault = fault
            tell(.fault(fault))
        }
        if fault == nil, let before = commitFault {
            commitFault = nil
            tell(.committedAgain(after: before))
        }
    }

    private func finishRevocation(_ fault: KafkaFault?) {
        guard let pending = revocation else { return }
        revocation = nil
        commitDeadline.cancel()
        letGo(of: pending.partitions)
        let told = pending.partitions.filter(owned.contains)
        if !told.isEmpty { tell(.released(told, fault)) }
    }

    private func letGo(of partitions: [KafkaTopicPartition]) {
        guard isCooperative else {
            rd_kafka_assign(client.pointer, nil)
            return
        }
        let list = PartitionList(partitions)
        // It refuses only what it has dropped by itself.
        if let error = rd_kafka_incremental_unassign(client.pointer, list.pointer) { rd_kafka_error_destroy(error) }
    }
}
