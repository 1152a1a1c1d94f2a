import Flow
import Pacing

/// What a group keeps of one partition.
struct MemoryPartition {
    struct Lease {
        let member: String
        var endMilliseconds: Int64
    }

    private struct Kept {
        var checkpoint: [UInt8]
        var dueMilliseconds: Int64?
        var endMilliseconds: Int64?
    }

    var lease: Lease?
    var epoch: Epoch = 0
    /// Who was given `epoch`, until it lets go.
    var owner: String?
    var aliveMilliseconds: Int64?
    /// Of the newest batch of this epoch.
    var serial: UInt64 = 0
    var positions: [SettledPosition?]
    private var kept: [[UInt8]: Kept] = [:]
    private var followers: [[UInt8]: Set<[UInt8]>] = [:]
    private var subjects: [[UInt8]: [UInt8]] = [:]
    /// Who may have ended its time, in the order of saving. Times to live are much alike, so that few wait behind one that lives longer.
    private var ending: [(identifier: [UInt8], endMilliseconds: Int64)] = []
    private var endingRead = 0

    init(sources: Int) {
        positions = Array(repeating: nil, count: sources)
    }

    /// Checkpoints that are kept, for tests and figures.
    var count: Int { kept.count }

    /// A lease that has lapsed harms nobody while nobody wanted it.
    func isOwned(by member: String, epoch asked: Epoch, now: Int64) -> Bool {
        guard asked == epoch else { return false }
        if let lease, lease.endMilliseconds > now { return lease.member == member }
        return owner == member
    }

    func load(_ keys: [LoadKey], now: Int64) -> [LoadedCheckpoint] {
        var seen: Set<[UInt8]> = []
        var found: [LoadedCheckpoint] = []
        for key in keys {
            for identifier in key.isSubject ? Array(followers[key.identifier] ?? []) : [key.identifier] {
                guard let bytes = living(identifier, now: now)?.checkpoint, seen.insert(identifier).inserted else {
                    continue
                }
                found.append(LoadedCheckpoint(identifier: identifier, bytes: bytes))
            }
        }
        return found
    }

    /// Looks at all that are kept: for take-overs and tests, not for each turn.
    func loadDue(from: Int64, through: Int64, limit: Int, now: Int64) -> [LoadedCheckpoint] {
        guard from <= through else { return [] }
        var due: [(time: Int64, identifier: [UInt8])] = []
        for (identifier, activity) in kept {
            guard let time = activity.dueMilliseconds, (from...through).contains(time),
                living(identifier, now: now) != nil
            else { continue }
            due.append((time, identifier))
        }
        due.sort { $0.time != $1.time ? $0.time < $1.time : $0.identifier.lexicographicallyPrecedes($1.identifier) }
        return due.prefix(max(0, limit)).map { due in
            LoadedCheckpoint(
                identifier: due.identifier, bytes: kept[due.identifier]?.checkpoint ?? [], dueMilliseconds: due.time)
        }
    }

    mutating func save(_ batch: CheckpointBatch, now: Int64) {
        guard batch.serial > serial else { return }
        serial = batch.serial
        sweep(now: now)
        for entry in batch.entries {
            let identifier = Array(batch.bytes[entry.identifier])
            let end = entry.timeToLiveMilliseconds.map { now + max(1, $0) }
            kept[identifier] = Kept(
                checkpoint: Array(batch.bytes[entry.checkpoint]), dueMilliseconds: entry.dueMilliseconds,
                endMilliseconds: end)
            if let end { ending.append((identifier, end)) }
            if !entry.formerSubject.isEmpty { unfollow(identifier, Array(batch.bytes[entry.formerSubject])) }
            guard !entry.subject.isEmpty else { continue }
            let subject = Array(batch.bytes[entry.subject])
            followers[subject, default: []].insert(identifier)
            subjects[identifier] = subject
        }
        for (source, position) in batch.positions.enumerated() {
            guard let position else { continue }
            positions[source] = position
        }
        aliveMilliseconds = now
    }

    private func living(_ identifier: [UInt8], now: Int64) -> Kept? {
        guard let activity = kept[identifier] else { return nil }
        if let end = activity.endMilliseconds, end <= now { return nil }
        return activity
    }

    private mutating func unfollow(_ identifier: [UInt8], _ subject: [UInt8]) {
        followers[subject]?.remove(identifier)
        if followers[subject]?.isEmpty == true { followers[subject] = nil }
        if subjects[identifier] == subject { subjects[identifier] = nil }
    }

    /// Drops what has ended its time, so that memory is bounded by what lives.
    private mutating func sweep(now: Int64) {
        while endingRead < ending.count, ending[endingRead].endMilliseconds <= now {
            let identifier = ending[endingRead].identifier
            endingRead += 1
            guard let end = kept[identifier]?.endMilliseconds, end <= now else { continue }
            kept[identifier] = nil
            if let subject = subjects[identifier] { unfollow(identifier, subject) }
        }
        if endingRead > 1_024, endingRead * 2 > ending.count {
            ending.removeFirst(endingRead)
            endingRead = 0
        }
    }
}
