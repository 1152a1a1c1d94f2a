import Telemetry
import Testing

@testable import Pacing

/// Goal: what is not settled is held, and what is not held is saved. Method: a seeded random history stands in a log; the owner saves
/// now and then (some batches fail, some reach the store and nobody hears of it), answers come late, and at random moments the owner is gone: another one restores
/// what the store keeps and reads the log again from where it is settled. In the end each phone was told the newest state, no number was
/// given to two contents, and numbers and timestamps have only risen.
@Suite("An owner that is gone at any moment loses nothing")
struct CheckpointCrashTests {
    @Test("for random histories", arguments: 0..<80)
    func random(seed: UInt64) {
        let world = CrashWorld(seed: seed)
        world.run()
        #expect(world.crashes > 2)
        #expect(world.accepted > 20)
    }
}

private final class CrashWorld {
    private struct Record {
        let event: Event
        let source: Int
        let offset: Int64
    }

    private struct Phone {
        var status: JSONValue?
        var note: JSONValue?
        var hasEnded = false
        var alerts: Set<String> = []
    }

    private let seed: UInt64
    private var random: SeededGenerator
    private let bench: CheckpointBench
    private var log: [Record] = []
    private var settled: [Int64] = [0, 0]
    private var read: [Int64] = [0, 0]
    /// Saved, and nobody has said so yet.
    private var batch: (receipt: CheckpointReceipt, positions: [Int64])?
    private var unanswered: [Update] = []
    private var retries: [Ticket] = []
    private var contents: [String: [UInt64: ContentState]] = [:]
    private var newest: [String: (sequence: UInt64, timestamp: Int64)] = [:]
    private var truth: [String: Phone] = [:]
    private var phones: [String: Phone] = [:]
    private(set) var crashes = 0
    private(set) var accepted = 0

    init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        var settings = PacingSettings.defaults
        settings.profile = random.chance(0.5) ? .unlimited : .auto
        settings.minIntervalMilliseconds = [0, 15_000].randomElement(using: &random)!
        settings.maxActivityLifeMilliseconds = nil
        bench = CheckpointBench(settings)
        bench.answer = { [unowned self] in taken($0) }
    }

    func run() {
        for number in 0..<4 {
            write(
                EventBuilder(activity: "ride-\(number)").started(
                    seconds, .updateToken(.of(UInt8(number + 1))), fields: ["status": "new", "note": 0]))
        }
        for _ in 0..<300 {
            step()
            if random.chance(0.03) { crash() }
        }
        crash()
        for _ in 0..<40 { settleAll(10_000) }
        for (activity, expected) in truth.sorted(by: { $0.key < $1.key }) {
            let phone = phones[activity] ?? Phone()
            #expect(phone.status == expected.status, "seed \(seed), \(activity)")
            #expect(phone.note == expected.note, "seed \(seed), \(activity)")
            #expect(phone.hasEnded == expected.hasEnded, "seed \(seed), \(activity)")
        }
        for source in 0..<2 {
            #expect(bench.shard.smallestHeld(source: source) == nil, "seed \(seed)")
            #expect(settled[source] == read[source], "seed \(seed)")
        }
    }

    private var seconds: Double { Double(bench.now - EventBuilder.epochMilliseconds) / 1_000 }

    private func step() {
        advance([0, 1, 500, 2_000, 10_000].randomElement(using: &random)!)
        write(event(Int.random(in: 0..<4, using: &random)))
        if random.chance(0.4) { answerStore() }
        if random.chance(0.5) { save() }
        bench.dispatch()
        if random.chance(0.6) { answerProvider() }
        if random.chance(0.02) { bench.shard.saveHeld(source: 0, appliedAtOrBefore: bench.now) }
        if random.chance(0.1) { evict() }
    }

    private func settleAll(_ milliseconds: Int) {
        advance(milliseconds)
        for _ in 0..<4 {
            answerStore(isHeard: true)
            save()
            answerStore(isHeard: true)
            bench.dispatch()
            while !unanswered.isEmpty { answerProvider(isAccepting: true) }
            retake()
        }
    }

    private func advance(_ milliseconds: Int) {
        let end = bench.now + Int64(milliseconds)
        while let due = bench.shard.nextDueMilliseconds, due <= end {
            bench.now = max(bench.now, due)
            bench.shard.fire(at: bench.instant)
            bench.dispatch()
        }
        bench.now = max(bench.now, end)
        retake()
    }

    private func retake() {
        for ticket in retries {
            if let update = bench.shard.retake(ticket, at: bench.instant) { _ = taken(update) }
        }
        retries = []
    }

    // MARK: Log

    private func write(_ event: Event) {
        let source = Int.random(in: 0..<2, using: &random)
        let offset = (log.last { $0.source == source }?.offset ?? 0) + Int64.random(in: 1...3, using: &random)
        log.append(Record(event: event, source: source, offset: offset))
        note(event)
        apply(log[log.count - 1])
    }

    private func apply(_ record: Record) {
        // As a member does: what was known of it is in memory before.
        bench.restore(Array(record.event.identifier))
        read[record.source] = max(read[record.source], record.offset)
        _ = bench.shard.apply(record.event, offset: record.offset, source: record.source, at: bench.instant)
        bench.dispatch()
    }

    private func event(_ number: Int) -> Event {
        let builder = EventBuilder(activity: "ride-\(number)")
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<9:
            return builder.position(
                seconds, north: [0, 30, 100, 300].randomElement(using: &random)!,
                fields: random.chance(0.3)
                    ? ["street": .number(JSONNumber(Int64.random(in: 0..<9, using: &random)))] : nil)
        case 9..<14:
            return builder.status(seconds, ["new", "near", "there"].randomElement(using: &random)!)
        case 14..<19:
            return builder.status(
                seconds, fields: ["note": .number(JSONNumber(Int64.random(in: 0..<9, using: &random)))])
        default:
            guard random.chance(0.15) else { return builder.status(seconds, alert: .saying("\(seconds)")) }
            return builder.ended(seconds, fields: ["status": "over"])
        }
    }

    private func note(_ event: Event) {
        let activity = String(decoding: event.identifier, as: UTF8.self)
        guard truth[activity]?.hasEnded != true else { return }
        var known = truth[activity] ?? Phone()
        if let patch = event.detail?.contentPatch?.object {
            if let status = patch["status"] { known.status = status }
            if let note = patch["note"] { known.note = note }
        }
        if event.kind == .activityEnded { known.hasEnded = true }
        truth[activity] = known
        // It began on the phone, which shows what it says.
        if event.kind == .activityStarted { phones[activity] = known }
    }

    // MARK: Store

    private func save() {
        guard batch == nil else { return }
        let taken = bench.shard.takeCheckpoints(limit: Int.random(in: 1...5, using: &random), at: bench.instant)
        let positions =
            bench.shard.hasUnsaved
            ? settled
            : (0..<2).map { source in
                max(settled[source], bench.shard.smallestHeld(source: source).map { $0.offset - 1 } ?? read[source])
            }
        send(taken, positions)
    }

    private func send(
        _ taken: (bytes: [UInt8], entries: [CheckpointBatch.Entry], receipt: CheckpointReceipt), _ positions: [Int64]
    ) {
        if random.chance(0.1) {
            bench.shard.notSaved(taken.receipt)
            return
        }
        bench.write(taken.bytes, taken.entries)
        settled = positions
        batch = (taken.receipt, positions)
    }

    private func answerStore(isHeard: Bool = false) {
        guard let batch else { return }
        self.batch = nil
        if isHeard || random.chance(0.9) {
            bench.shard.saved(batch.receipt, at: bench.instant)
        } else {
            bench.shard.notSaved(batch.receipt)
        }
    }

    private func evict() {
        _ = bench.shard.letDepart(at: bench.instant)
        guard batch == nil else { return }
        let taken = bench.shard.takeIdle(limit: 2, quietSinceMilliseconds: bench.now - 1_000, at: bench.instant)
        send(taken, settled)
    }

    private func crash() {
        crashes += 1
        batch = nil
        // Of what is under way some arrives, and nobody hears of it.
        for update in unanswered where random.chance(0.5) { show(update) }
        unanswered = []
        retries = []
        bench.now += 10_000
        bench.changeOwner()
        read = settled
        for record in log where record.offset > settled[record.source] { apply(record) }
    }

    // MARK: Provider

    private func taken(_ update: Update) -> Settlement? {
        let activity = update.activityIdentifier
        if let before = contents[activity]?[update.sequence] {
            #expect(before == update.contentState, "seed \(seed): \(activity) has number \(update.sequence) twice")
        }
        contents[activity, default: [:]][update.sequence] = update.contentState
        if let before = newest[activity] {
            #expect(update.sequence >= before.sequence, "seed \(seed): \(activity) goes back to \(update.sequence)")
            #expect(update.timestampSeconds > before.timestamp, "seed \(seed): \(activity) #\(update.sequence)")
        }
        newest[activity] = (update.sequence, update.timestampSeconds)
        unanswered.append(update)
        return nil
    }

    private func answerProvider(isAccepting: Bool = false) {
        guard !unanswered.isEmpty else { return }
        let update = unanswered.remove(at: Int.random(in: 0..<unanswered.count, using: &random))
        if isAccepting || random.chance(0.8) {
            show(update)
            bench.shard.settle(update.ticket, .accepted, at: bench.instant)
        } else {
            bench.shard.settle(update.ticket, .retry(holdsNewer: random.chance(0.5)), at: bench.instant)
            retries.append(update.ticket)
        }
        bench.dispatch()
    }

    private func show(_ update: Update) {
        accepted += 1
        let state = update.contentState.object
        var phone = phones[update.activityIdentifier] ?? Phone()
        phone.status = state["status"]
        phone.note = state["note"]
        if update.kind == .end { phone.hasEnded = true }
        phones[update.activityIdentifier] = phone
    }
}
