import Flow
import Pacing

/// What all members of a group share, in its plainest form: every request is answered at one instant, by one clock.
struct SharedStore {
    struct Entry {
        let checkpoint: [UInt8]
        let dueMilliseconds: Int64?
        let subject: [UInt8]
        let endsAtMilliseconds: Int64?
    }

    struct Partition {
        var owner: String?
        var leaseEndsAtMilliseconds = Int64.min
        var epoch: Epoch = 0
        var positions: [SettledPosition?]
        var ownerSeenAtMilliseconds: Int64?
        var entries: [[UInt8]: Entry] = [:]
        /// By subject.
        var followers: [[UInt8]: Set<[UInt8]>] = [:]
        /// The last owner let go of it, having saved everything.
        var wasReleased = false
        /// Of the newest batch that its owner wrote.
        var serial: UInt64 = 0
    }

    /// What may be wrong with it, to see whether that is noticed: the store's own fences are as much a promise as its callers'.
    enum Defect: String, CaseIterable {
        /// It takes writes of an owner that has been replaced.
        case storeUnfenced = "store-unfenced"
        /// It refuses such an owner's checkpoints, and takes its positions.
        case commitUnfenced = "commit-unfenced"
    }

    let leaseMilliseconds: Int64
    let memberLeaseMilliseconds: Int64
    private var defect: Defect?
    private(set) var partitions: [Partition]
    private var members: [String: Int64] = [:]

    init(partitions: Int, sources: Int, leaseMilliseconds: Int64) {
        self.leaseMilliseconds = leaseMilliseconds
        memberLeaseMilliseconds = leaseMilliseconds
        self.partitions = Array(
            repeating: Partition(positions: Array(repeating: nil, count: sources)), count: partitions)
    }

    mutating func plant(_ name: String?) {
        defect = name.flatMap { Defect(rawValue: $0) }
    }

    mutating func answer(_ request: StoreRequest, from member: String, atMilliseconds now: Int64) -> StoreAnswer {
        switch request {
        case .beat:
            members = members.filter { $0.value > now }
            let before = members.updateValue(now + memberLeaseMilliseconds, forKey: member)
            return .alive(members: members.keys.sorted(), isNew: before == nil)
        case .leave:
            members[member] = nil
            return .left
        case .claim(let partition):
            return claim(Int(partition), member, now)
        case .renew(let partition, let epoch, let acknowledged):
            guard isOwner(member, epoch, Int(partition)) else { return refusal(epoch, Int(partition)) }
            partitions[Int(partition)].leaseEndsAtMilliseconds = now + leaseMilliseconds
            partitions[Int(partition)].ownerSeenAtMilliseconds = now
            return partitions[Int(partition)].serial < acknowledged ? .behind : .renewed
        case .release(let partition, let epoch, let acknowledged):
            guard isOwner(member, epoch, Int(partition)) else { return refusal(epoch, Int(partition)) }
            if partitions[Int(partition)].serial < acknowledged { return .behind }
            partitions[Int(partition)].owner = nil
            partitions[Int(partition)].leaseEndsAtMilliseconds = .min
            partitions[Int(partition)].wasReleased = true
            return .released
        case .load(let partition, let epoch, let keys):
            guard isOwner(member, epoch, Int(partition)) else { return refusal(epoch, Int(partition)) }
            return .loaded(load(keys, Int(partition), now))
        case .loadDue(let partition, let epoch, let from, let through, let limit):
            guard isOwner(member, epoch, Int(partition)) else { return refusal(epoch, Int(partition)) }
            return .loaded(loadDue(Int(partition), from, through, limit, now))
        case .save(let partition, let epoch, let batch):
            return save(batch, Int(partition), member, epoch, now)
        }
    }

    /// A lease that has lapsed and that nobody took since is still its last owner's.
    private func isOwner(_ member: String, _ epoch: Epoch, _ partition: Int) -> Bool {
        partitions[partition].owner == member && partitions[partition].epoch == epoch
    }

    private func refusal(_ epoch: Epoch, _ partition: Int) -> StoreAnswer {
        partitions[partition].epoch < epoch ? .forgotten : .lost
    }

    private mutating func claim(_ index: Int, _ member: String, _ now: Int64) -> StoreAnswer {
        let partition = partitions[index]
        if let owner = partition.owner, owner != member, partition.leaseEndsAtMilliseconds > now {
            return .held(byMember: owner, forMilliseconds: partition.leaseEndsAtMilliseconds - now)
        }
        partitions[index].owner = member
        partitions[index].epoch += 1
        partitions[index].leaseEndsAtMilliseconds = now + leaseMilliseconds
        partitions[index].ownerSeenAtMilliseconds = now
        partitions[index].wasReleased = false
        partitions[index].serial = 0
        return .claimed(
            Claim(
                epoch: partition.epoch + 1, positions: partition.positions,
                absenceMilliseconds: partition.ownerSeenAtMilliseconds.map { now - $0 }))
    }

    private func load(_ keys: [LoadKey], _ index: Int, _ now: Int64) -> [LoadedCheckpoint] {
        var identifiers: [[UInt8]] = []
        for key in keys {
            let wanted =
                key.isSubject
                ? partitions[index].followers[key.identifier, default: []].sorted { $0.lexicographicallyPrecedes($1) }
                : [key.identifier]
            for identifier in wanted where !identifiers.contains(identifier) { identifiers.append(identifier) }
        }
        return identifiers.compactMap { found($0, index, now) }
    }

    private func loadDue(
        _ index: Int, _ from: Int64, _ through: Int64, _ limit: Int, _ now: Int64
    ) -> [LoadedCheckpoint] {
        let due = partitions[index].entries.compactMap { identifier, entry in
            entry.dueMilliseconds.flatMap { $0 >= from && $0 <= through ? ($0, identifier) : nil }
        }
        let inOrder = due.sorted { $0.0 == $1.0 ? $0.1.lexicographicallyPrecedes($1.1) : $0.0 < $1.0 }
        return inOrder.prefix(limit).compactMap { found($0.1, index, now) }
    }

    private func found(_ identifier: [UInt8], _ index: Int, _ now: Int64) -> LoadedCheckpoint? {
        guard let entry = partitions[index].entries[identifier], entry.endsAtMilliseconds ?? .max > now else {
            return nil
        }
        return LoadedCheckpoint(
            identifier: identifier, bytes: entry.checkpoint, dueMilliseconds: entry.dueMilliseconds)
    }

    private mutating func save(
        _ batch: CheckpointBatch, _ index: Int, _ member: String, _ epoch: Epoch, _ now: Int64
    ) -> StoreAnswer {
        guard isOwner(member, epoch, index) else {
            if defect == .commitUnfenced { move(batch.positions, index) }
            guard defect == .storeUnfenced else { return refusal(epoch, index) }
            write(batch, index, now)
            return .saved
        }
        partitions[index].ownerSeenAtMilliseconds = now
        guard batch.serial > partitions[index].serial else { return .saved }
        if partitions[index].serial < batch.acknowledged { return .behind }
        partitions[index].serial = batch.serial
        write(batch, index, now)
        return .saved
    }

    private mutating func write(_ batch: CheckpointBatch, _ index: Int, _ now: Int64) {
        for entry in batch.entries {
            let identifier = Array(batch.bytes[entry.identifier])
            let subject = Array(batch.bytes[entry.subject])
            let former = Array(batch.bytes[entry.formerSubject])
            if !former.isEmpty { unfollow(former, identifier, index) }
            if !subject.isEmpty { partitions[index].followers[subject, default: []].insert(identifier) }
            partitions[index].entries[identifier] = Entry(
                checkpoint: Array(batch.bytes[entry.checkpoint]), dueMilliseconds: entry.dueMilliseconds,
                subject: subject, endsAtMilliseconds: entry.timeToLiveMilliseconds.map { now + $0 })
        }
        move(batch.positions, index)
    }

    private mutating func unfollow(_ subject: [UInt8], _ identifier: [UInt8], _ index: Int) {
        partitions[index].followers[subject]?.remove(identifier)
        if partitions[index].followers[subject]?.isEmpty == true { partitions[index].followers[subject] = nil }
    }

    private mutating func move(_ positions: [SettledPosition?], _ index: Int) {
        for (source, position) in positions.enumerated() {
            if let position { partitions[index].positions[source] = position }
        }
    }
}
