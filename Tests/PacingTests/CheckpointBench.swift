import Telemetry
import Testing

@testable import Pacing

/// A shard that keeps checkpoints, and a store that is a dictionary: whoever owns it next has nothing else.
final class CheckpointBench {
    struct Kept {
        var bytes: [UInt8]
        var dueMilliseconds: Int64?
        var expiresAtMilliseconds: Int64?
    }

    let settings: ShardSettings
    private(set) var shard: Shard
    private(set) var store: [[UInt8]: Kept] = [:]
    private(set) var followers: [[UInt8]: Set<[UInt8]>] = [:]
    private(set) var updates: [Update] = []
    var now = EventBuilder.epochMilliseconds
    /// How the provider answers; nil for not yet.
    var answer: (Update) -> Settlement? = { _ in .accepted }

    init(_ pacing: PacingSettings = .defaults, apps: [String] = [], asksRegistry: Bool = false) {
        var settings = ShardSettings(default: pacing, apps: apps, hashSeed: 7)
        settings.keepsCheckpoints = true
        settings.asksRegistry = asksRegistry
        self.settings = settings
        shard = Shard(settings: settings)
    }

    var instant: Instant { Instant(milliseconds: now) }
    var last: Update? { updates.last }

    /// Applies the event at its own time, and lets the store and the provider answer at once.
    @discardableResult
    func apply(_ event: Event, offset: Int64 = -1, source: Int = 0) -> ApplyFaults {
        run(toMilliseconds: event.timestampMilliseconds)
        let faults = shard.apply(event, offset: offset, source: source, at: instant)
        pump()
        return faults
    }

    /// Fires all that is due before then.
    func run(toMilliseconds milliseconds: Int64) {
        while let due = shard.nextDueMilliseconds, due < milliseconds {
            now = max(now, due)
            shard.fire(at: instant)
            pump()
        }
        now = max(now, milliseconds)
    }

    func run(to seconds: Double) { run(toMilliseconds: EventBuilder.milliseconds(seconds)) }

    /// Store and provider answer until nothing is asked any more.
    func pump() {
        repeat {
            while shard.hasUnsaved { save() }
            dispatch()
        } while shard.hasUnsaved
    }

    func dispatch() {
        for pool in 0..<max(1, settings.apps.count) {
            while shard.ready(pool: pool) != nil {
                guard let update = shard.take(pool: pool, at: instant) else { continue }
                updates.append(update)
                if let settlement = answer(update) { shard.settle(update.ticket, settlement, at: instant) }
            }
        }
    }

    /// - Returns: whether it was kept.
    @discardableResult
    func save(limit: Int = .max, isLast: Bool = false, fails: Bool = false) -> Int {
        let taken = shard.takeCheckpoints(limit: limit, isLast: isLast, at: instant)
        if fails { shard.notSaved(taken.receipt) } else { keep(taken) }
        return taken.entries.count
    }

    func keep(_ taken: (bytes: [UInt8], entries: [CheckpointBatch.Entry], receipt: CheckpointReceipt)) {
        write(taken.bytes, taken.entries)
        shard.saved(taken.receipt, at: instant)
    }

    func write(_ bytes: [UInt8], _ entries: [CheckpointBatch.Entry]) {
        for entry in entries {
            let identifier = Array(bytes[entry.identifier])
            store[identifier] = Kept(
                bytes: Array(bytes[entry.checkpoint]), dueMilliseconds: entry.dueMilliseconds,
                expiresAtMilliseconds: entry.timeToLiveMilliseconds.map { now + $0 })
            if !entry.subject.isEmpty { followers[Array(bytes[entry.subject]), default: []].insert(identifier) }
            if !entry.formerSubject.isEmpty { followers[Array(bytes[entry.formerSubject])]?.remove(identifier) }
        }
    }

    /// All of it is saved, as before a hand-over.
    func saveAll() {
        shard.saveAll()
        while shard.hasUnsaved { save(isLast: true) }
    }

    /// What is in memory is gone, and another owner has what the store keeps.
    func changeOwner() {
        shard = Shard(settings: settings)
        restoreAll()
    }

    /// The same after an absence: the new owner still has to catch up.
    func takeOver() {
        startOwning()
        restoreAll()
    }

    /// Nothing is loaded yet.
    func startOwning() {
        shard = Shard(settings: settings)
        shard.beginOwning(timestampLeadMilliseconds: 0, at: instant)
    }

    private func restoreAll() {
        store = store.filter { $0.value.expiresAtMilliseconds ?? .max > now }
        for identifier in store.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) { restore(identifier) }
        for subject in followers.keys { subject.withUnsafeBytes { shard.noteLoaded(subject: $0) } }
    }

    /// The store has lost what was written since.
    func overwrite(_ identifier: [UInt8], with kept: Kept) { store[identifier] = kept }

    func restore(_ identifier: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) {
        guard let kept = store[identifier] else { return }
        do throws(CheckpointFault) { try restore(identifier, from: kept.bytes) } catch {
            Issue.record("\(error)", sourceLocation: sourceLocation)
        }
    }

    func restore(_ identifier: [UInt8], from bytes: [UInt8]) throws(CheckpointFault) {
        _ = try identifier.span.withUnsafeBytes { identifier throws(CheckpointFault) in
            try bytes.span.withUnsafeBytes { bytes throws(CheckpointFault) in
                try shard.restore(identifier, from: bytes, at: instant)
            }
        }
    }
}
