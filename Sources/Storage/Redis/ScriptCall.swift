import Flow
import Pacing
import RedisClient

/// Writes the command that runs a script. Kept and refilled, so that a batch allocates nothing once it has grown.
struct ScriptCall: ~Copyable {
    private(set) var command = RedisCommand("EVAL")
    let group: GroupSettings
    let groupKeys: GroupKeys
    private var partitions: [PartitionKeys?]

    /// The newest format that this version reads, and the one that it writes.
    static let format: Int64 = 1

    init(group: GroupSettings) {
        self.group = group
        groupKeys = GroupKeys(group: group)
        partitions = Array(repeating: nil, count: Int(group.partitions))
    }

    /// Writes `request`, and gives the slot that decides which node it goes to.
    mutating func write(_ request: StoreRequest) -> HashSlot {
        switch request {
        case .beat:
            begin(.beat, [groupKeys.members])
            command.append(group.member)
            command.append(group.leaseMilliseconds)
            return groupKeys.membersSlot
        case .leave:
            begin(.leave, [groupKeys.members])
            command.append(group.member)
            return groupKeys.membersSlot
        case .claim(let partition):
            let keys = keys(of: partition)
            begin(.claim, [keys.lease, keys.epoch, keys.cursor])
            command.append(group.member)
            command.append(group.leaseMilliseconds)
            command.append(Self.format)
            for topic in group.topics { command.append(topic) }
            return keys.slot
        case .renew(let partition, let epoch, let acknowledged):
            let keys = begin(.renew, partition, epoch)
            command.append(Int64(acknowledged))
            command.append(group.leaseMilliseconds)
            return keys.slot
        case .release(let partition, let epoch, let acknowledged):
            let keys = begin(.release, partition, epoch)
            command.append(Int64(acknowledged))
            return keys.slot
        case .load(let partition, let epoch, let wanted):
            let keys = begin(.load, partition, epoch)
            writeLoad(wanted, keys)
            return keys.slot
        case .loadDue(let partition, let epoch, let from, let through, let limit):
            let keys = begin(.loadDue, partition, epoch, needsDue: true)
            command.append(keys.activityPrefix)
            command.append(from)
            command.append(through)
            command.append(Int64(limit))
            return keys.slot
        case .save(let partition, let epoch, let batch):
            let keys = begin(.save, partition, epoch, needsDue: true, needsStreams: true)
            writeSave(batch, keys)
            return keys.slot
        }
    }

    mutating func begin(_ script: Script, _ keys: [[UInt8]]) {
        command.reset("EVAL")
        command.append(script.text)
        command.append(Int64(keys.count))
        for key in keys { command.append(key) }
    }

    mutating func keys(of partition: Int32) -> PartitionKeys {
        if let keys = partitions[Int(partition)] { return keys }
        let keys = PartitionKeys(group: group, partition: partition)
        partitions[Int(partition)] = keys
        return keys
    }

    /// What each script of an owner begins with.
    @discardableResult
    private mutating func begin(
        _ script: Script, _ partition: Int32, _ epoch: Epoch, needsDue: Bool = false, needsStreams: Bool = false
    ) -> PartitionKeys {
        let keys = keys(of: partition)
        command.reset("EVAL")
        command.append(script.text)
        command.append(Int64(3 + (needsDue ? 1 : 0) + (needsStreams ? keys.streams.count : 0)))
        command.append(keys.lease)
        command.append(keys.epoch)
        command.append(keys.cursor)
        if needsDue { command.append(keys.due) }
        if needsStreams { for stream in keys.streams { command.append(stream) } }
        command.append(Int64(clamping: epoch))
        command.append(group.member)
        return keys
    }

    private mutating func writeLoad(_ wanted: [LoadKey], _ keys: PartitionKeys) {
        command.append(keys.activityPrefix)
        var activities = 0
        for key in wanted where !key.isSubject { activities += 1 }
        command.append(Int64(activities))
        for key in wanted where !key.isSubject { command.append(keys.activityPrefix, key.identifier) }
        for key in wanted where key.isSubject { command.append(keys.followerPrefix, key.identifier) }
    }

    /// The entries once for each thing that is done with them: so Redis is given whole lists, not one command an entry.
    private mutating func writeSave(_ batch: CheckpointBatch, _ keys: PartitionKeys) {
        command.append(Int64(clamping: batch.acknowledged))
        command.append(Int64(clamping: batch.serial))
        command.append(group.name)
        command.append(keys.activityPrefix)
        var timed: Int64 = 0
        var due: Int64 = 0
        var following: Int64 = 0
        var leaving: Int64 = 0
        for entry in batch.entries {
            if entry.timeToLiveMilliseconds != nil { timed += 1 }
            if entry.dueMilliseconds != nil { due += 1 }
            if !entry.subject.isEmpty { following += 1 }
            if !entry.formerSubject.isEmpty { leaving += 1 }
        }
        let all = Int64(batch.entries.count)
        for count in [all - timed, timed, due, all - due, following, leaving] { command.append(count) }
        var positions: Int64 = 0
        for position in batch.positions where position != nil { positions += 1 }
        command.append(positions)

        batch.bytes.withUnsafeBytes { bytes in
            func part(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[range]) }
            for entry in batch.entries where entry.timeToLiveMilliseconds == nil {
                command.append(keys.activityPrefix, part(entry.identifier))
                command.append(part(entry.checkpoint))
            }
            for entry in batch.entries {
                guard let milliseconds = entry.timeToLiveMilliseconds else { continue }
                command.append(keys.activityPrefix, part(entry.identifier))
                command.append(part(entry.checkpoint))
                command.append(max(1, milliseconds))
            }
            for entry in batch.entries {
                guard let milliseconds = entry.dueMilliseconds else { continue }
                command.append(milliseconds)
                command.append(part(entry.identifier))
            }
            for entry in batch.entries where entry.dueMilliseconds == nil { command.append(part(entry.identifier)) }
            for entry in batch.entries where !entry.subject.isEmpty {
                command.append(keys.followerPrefix, part(entry.subject))
                command.append(part(entry.identifier))
                command.append(entry.timeToLiveMilliseconds == nil ? 0 : 1)
            }
            for entry in batch.entries where !entry.formerSubject.isEmpty {
                command.append(keys.followerPrefix, part(entry.formerSubject))
                command.append(part(entry.identifier))
            }
        }
        for (source, position) in batch.positions.enumerated() {
            guard let position else { continue }
            command.append(group.topics[source])
            switch group.source {
            case .streams:
                let entry = RedisStreamID(offset: position.offset)
                command.append("\(entry) \(position.records)")
                command.append(Int64(source + 1))
                command.append(entry)
            case .topics:
                command.append("\(position.offset) \(position.records)")
                command.append(0)
                command.append(position.offset)
            }
            command.append(position.records)
        }
    }
}

extension RedisCommand {
    /// One argument of two parts.
    fileprivate mutating func append(_ prefix: [UInt8], _ rest: UnsafeRawBufferPointer) {
        append(count: prefix.count + rest.count) { place in
            prefix.withUnsafeBytes { place.copyMemory(from: $0) }
            UnsafeMutableRawBufferPointer(rebasing: place[prefix.count...]).copyMemory(from: rest)
        }
    }

    fileprivate mutating func append(_ prefix: [UInt8], _ rest: [UInt8]) {
        rest.withUnsafeBytes { append(prefix, $0) }
    }
}
