import Pacing
import Testing

@testable import Flow

/// What members of a group share, in memory, and as ill as a test wants it.
final class ScriptedStore {
    struct Partition {
        var owner: String?
        var leaseEndMilliseconds: Int64 = 0
        var epoch: Epoch = 0
        var serial: UInt64 = 0
        var positions: [SettledPosition?] = []
        var checkpoints: [[UInt8]: (bytes: [UInt8], dueMilliseconds: Int64?)] = [:]
        var followers: [[UInt8]: Set<[UInt8]>] = [:]
        var aliveMilliseconds: Int64?
    }

    let leaseMilliseconds: Int64
    let sources: Int
    var partitions: [Int32: Partition] = [:]
    var members: [String: Int64] = [:]
    private var newestEpoch: Epoch = 0
    /// Asked of each request before it is done: a failure stands for the answer, and nothing is done.
    var fault: (StoreRequest) -> StoreFailure? = { _ in nil }
    /// How often which kind of request came.
    private(set) var asked: [String: Int] = [:]

    init(leaseMilliseconds: Int64 = 10_000, sources: Int = 1) {
        self.leaseMilliseconds = leaseMilliseconds
        self.sources = sources
    }

    func answer(_ request: StoreRequest, from member: String, at now: Int64) -> StoreAnswer {
        asked[ScriptedStore.name(request), default: 0] += 1
        if let failure = fault(request) { return .failed(failure) }
        switch request {
        case .beat:
            let before = members.updateValue(now + leaseMilliseconds, forKey: member)
            return .alive(members: members.filter { $0.value > now }.keys.shuffled(), isNew: before == nil)
        case .leave:
            members[member] = nil
            return .left
        case .claim(let number): return claim(number, member, now)
        case .renew(let number, let epoch, let acknowledged):
            return change(number, epoch, member, now) { $0.leaseEndMilliseconds = now + leaseMilliseconds }
                ?? (isBehind(number, acknowledged) ? .behind : .renewed)
        case .release(let number, let epoch, let acknowledged):
            let isBehind = isBehind(number, acknowledged)
            return change(number, epoch, member, now) { if !isBehind { $0.owner = nil } }
                ?? (isBehind ? .behind : .released)
        case .load(let number, let epoch, let keys):
            var found: [LoadedCheckpoint] = []
            return change(number, epoch, member, now) { found = load(keys, $0) } ?? .loaded(found)
        case .loadDue(let number, let epoch, let from, let through, let limit):
            var found: [LoadedCheckpoint] = []
            let lost = change(number, epoch, member, now) { partition in
                let due = partition.checkpoints.filter { (from...through).contains($0.value.dueMilliseconds ?? -1) }
                    .sorted { ($0.value.dueMilliseconds ?? 0) < ($1.value.dueMilliseconds ?? 0) }.prefix(limit)
                found = due.map {
                    LoadedCheckpoint(
                        identifier: $0.key, bytes: $0.value.bytes, dueMilliseconds: $0.value.dueMilliseconds)
                }
            }
            return lost ?? .loaded(found)
        case .save(let number, let epoch, let batch):
            let isBehind = isBehind(number, batch.acknowledged)
            return change(number, epoch, member, now) { if !isBehind { save(batch, &$0, now) } }
                ?? (isBehind ? .behind : .saved)
        }
    }

    private func isBehind(_ number: Int32, _ acknowledged: UInt64) -> Bool {
        (partitions[number]?.serial ?? 0) < acknowledged
    }

    private func claim(_ number: Int32, _ member: String, _ now: Int64) -> StoreAnswer {
        var partition = partitions[number] ?? Partition(positions: Array(repeating: nil, count: sources))
        if let owner = partition.owner, owner != member, partition.leaseEndMilliseconds > now {
            return .held(byMember: owner, forMilliseconds: partition.leaseEndMilliseconds - now)
        }
        partition.owner = member
        partition.leaseEndMilliseconds = now + leaseMilliseconds
        // Never given twice, even by a store that was emptied: as if it were the time.
        newestEpoch = max(newestEpoch, partition.epoch) + 1
        partition.epoch = newestEpoch
        partition.serial = 0
        let absence = partition.aliveMilliseconds.map { now - $0 }
        partition.aliveMilliseconds = now
        partitions[number] = partition
        return .claimed(Claim(epoch: partition.epoch, positions: partition.positions, absenceMilliseconds: absence))
    }

    /// - Returns: `lost`, and nothing is done, where it is not the member's.
    private func change(
        _ number: Int32, _ epoch: Epoch, _ member: String, _ now: Int64, _ body: (inout Partition) -> Void
    ) -> StoreAnswer? {
        guard var partition = partitions[number], partition.epoch == epoch, partition.owner == member else {
            return (partitions[number]?.epoch ?? 0) < epoch ? .forgotten : .lost
        }
        body(&partition)
        partition.aliveMilliseconds = now
        partitions[number] = partition
        return nil
    }

    private func load(_ keys: [LoadKey], _ partition: Partition) -> [LoadedCheckpoint] {
        var wanted: Set<[UInt8]> = []
        for key in keys {
            if key.isSubject {
                wanted.formUnion(partition.followers[key.identifier] ?? [])
            } else {
                wanted.insert(key.identifier)
            }
        }
        return wanted.compactMap { identifier in
            partition.checkpoints[identifier].map { LoadedCheckpoint(identifier: identifier, bytes: $0.bytes) }
        }
    }

    private func save(_ batch: CheckpointBatch, _ partition: inout Partition, _ now: Int64) {
        guard batch.serial > partition.serial else { return }
        partition.serial = batch.serial
        for entry in batch.entries {
            let identifier = Array(batch.bytes[entry.identifier])
            partition.checkpoints[identifier] = (Array(batch.bytes[entry.checkpoint]), entry.dueMilliseconds)
            if !entry.subject.isEmpty {
                partition.followers[Array(batch.bytes[entry.subject]), default: []].insert(identifier)
            }
        }
        for (source, position) in batch.positions.enumerated() {
            guard let position else { continue }
            if let before = partition.positions[source] {
                #expect(position.offset >= before.offset, "positions only rise")
                #expect(position.records >= before.records, "and so do counts")
            }
            partition.positions[source] = position
        }
    }

    static func name(_ request: StoreRequest) -> String {
        switch request {
        case .beat: "beat"
        case .leave: "leave"
        case .claim: "claim"
        case .renew: "renew"
        case .release: "release"
        case .load: "load"
        case .loadDue: "loadDue"
        case .save: "save"
        }
    }
}
