import Flow

/// A store that ends with its process: for recordings, for streams whose owner said that losing state is fine, and for tests.
///
/// Answers before `perform` returns, and never fails.
public final class MemoryStore: Store {
    /// What the members of one group share, on one thread.
    public final class Ground {
        var partitions: [Int32: MemoryPartition] = [:]
        /// Name → when its lease ends.
        var members: [String: Int64] = [:]

        public init() {}

        /// How many checkpoints are kept.
        public var checkpoints: Int { partitions.values.reduce(0) { $0 + $1.count } }
    }

    private let group: GroupSettings
    private let ground: Ground
    private let clock: () -> Int64

    /// - Parameter clock: Unix milliseconds, the same for all members of the ground.
    public init(group: GroupSettings, ground: Ground = Ground(), clock: @escaping () -> Int64) {
        self.group = group
        self.ground = ground
        self.clock = clock
    }

    public func perform(_ request: StoreRequest, _ completion: @escaping (StoreAnswer) -> Void) {
        completion(answer(request, now: clock()))
    }

    public var fault: StoreFault? { nil }

    private func answer(_ request: StoreRequest, now: Int64) -> StoreAnswer {
        switch request {
        case .beat:
            ground.members = ground.members.filter { $0.value > now }
            let before = ground.members.updateValue(now + group.leaseMilliseconds, forKey: group.member)
            return .alive(members: ground.members.keys.sorted(), isNew: before == nil)
        case .leave:
            ground.members[group.member] = nil
            return .left
        case .claim(let partition):
            return claim(partition, now: now)
        case .renew(let partition, let epoch, let acknowledged):
            return owned(partition, epoch, now: now) { kept in
                kept.lease = .init(member: group.member, endMilliseconds: now + group.leaseMilliseconds)
                kept.aliveMilliseconds = now
                return kept.serial < acknowledged ? .behind : .renewed
            }
        case .release(let partition, let epoch, let acknowledged):
            return owned(partition, epoch, now: now) { kept in
                if kept.serial < acknowledged { return .behind }
                kept.lease = nil
                kept.owner = nil
                kept.aliveMilliseconds = now
                return .released
            }
        case .load(let partition, let epoch, let keys):
            return owned(partition, epoch, now: now) { .loaded($0.load(keys, now: now)) }
        case .loadDue(let partition, let epoch, let from, let through, let limit):
            return owned(partition, epoch, now: now) {
                .loaded($0.loadDue(from: from, through: through, limit: limit, now: now))
            }
        case .save(let partition, let epoch, let batch):
            return owned(partition, epoch, now: now) { kept in
                if kept.serial < batch.acknowledged { return .behind }
                kept.save(batch, now: now)
                return .saved
            }
        }
    }

    private func claim(_ partition: Int32, now: Int64) -> StoreAnswer {
        var kept = ground.partitions[partition] ?? MemoryPartition(sources: group.topics.count)
        if let lease = kept.lease, lease.endMilliseconds > now, lease.member != group.member {
            return .held(byMember: lease.member, forMilliseconds: lease.endMilliseconds - now)
        }
        kept.epoch = max(kept.epoch + 1, Epoch(clamping: now))
        kept.lease = .init(member: group.member, endMilliseconds: now + group.leaseMilliseconds)
        kept.owner = group.member
        kept.serial = 0
        let absence = kept.aliveMilliseconds.map { max(0, now - $0) }
        kept.aliveMilliseconds = now
        ground.partitions[partition] = kept
        return .claimed(Claim(epoch: kept.epoch, positions: kept.positions, absenceMilliseconds: absence))
    }

    private func owned(
        _ partition: Int32, _ epoch: Epoch, now: Int64, _ body: (inout MemoryPartition) -> StoreAnswer
    ) -> StoreAnswer {
        guard ground.partitions[partition]?.isOwned(by: group.member, epoch: epoch, now: now) == true else {
            return ground.partitions[partition]?.epoch ?? 0 < epoch ? .forgotten : .lost
        }
        // In place: a copy that is changed would copy the table of all checkpoints. It is there, for it has an owner.
        return body(&ground.partitions[partition]!)
    }
}
