import Telemetry
import Testing

@testable import Pacing

/// Goal: a checkpoint forgets nothing. Method: a seeded random history goes to two shards; one lives for ever, the other is handed over at
/// random moments and knows from then on only what was saved. Both must make the same pushes and the same drops, number for number.
/// A failing run prints its seed: `Twins(seed: …).run()` replays it.
@Suite("Handed over, a partition goes on as if nothing had been")
struct CheckpointEqualityTests {
    @Test("for random histories", arguments: 0..<60)
    func random(seed: UInt64) {
        let twins = Twins(seed: seed)
        twins.run()
        #expect(twins.handOvers > 3)
    }

    @Test("and the histories are worth it: all kinds of pushes and most reasons occur")
    func coverage() {
        var reasons: Set<String> = []
        var kinds: Set<Update.Kind> = []
        for seed in 0..<20 {
            let twins = Twins(seed: UInt64(seed))
            twins.run()
            for update in twins.pushes {
                kinds.insert(update.kind)
                for name in update.reasons.names { reasons.insert(name) }
            }
        }
        #expect(kinds == [.start, .update, .end])
        #expect(
            reasons.isSuperset(of: ["started", "status", "alert", "distance", "drift", "content", "retarget", "ended"]))
    }
}

final class Twins {
    private let seed: UInt64
    private let whole: CheckpointBench
    private let handed: CheckpointBench
    private var random: SeededGenerator
    private var offsets: [Int64] = [0, 0]
    private var places: [Double]
    private(set) var handOvers = 0
    private var isDifferent = false
    private var compared = 0

    private static let statuses = ["cooking", "on its way", "near", "there"]
    private static let comparedDrops: [Decision] = [
        .afterEnd, .noFollower, .unknownActivity, .duplicate, .outOfOrder, .nullIsland, .inaccurate, .future, .tooOld,
        .implausible, .repeatedStart,
    ]

    init(seed: UInt64) {
        self.seed = seed
        var random = SeededGenerator(seed: seed)
        var settings = PacingSettings.defaults
        settings.profile = CadenceProfile.allCases.randomElement(using: &random)!
        settings.minIntervalMilliseconds = [0, 5_000, 15_000].randomElement(using: &random)!
        settings.refresh = random.chance(0.7)
        settings.staleAfterMilliseconds = [60_000, 180_000].randomElement(using: &random)!
        settings.renew = random.chance(0.3)
        settings.autoStart = random.chance(0.8)
        settings.removeAfterMilliseconds = 1_800_000
        if random.chance(0.5) { settings.maxActivityLifeMilliseconds = 1_200_000 }
        if random.chance(0.3) {
            settings.positionFields = [
                PositionField(source: .latitude, field: FieldPath("latitude")),
                PositionField(source: .speed, field: FieldPath("speed")),
                PositionField(source: .heading, field: FieldPath("heading")),
                PositionField(source: .positionTimestamp, field: FieldPath("at")),
            ]
        }
        whole = CheckpointBench(settings, apps: ["rides", "meals"])
        handed = CheckpointBench(settings, apps: ["rides", "meals"])
        places = Array(repeating: 0, count: 6)
        for bench in [whole, handed] {
            bench.answer = { update in
                switch KeyedHash.stored.hash("\(seed) \(update.activityIdentifier) \(update.sequence)") % 20 {
                // What was refused for good waits for the next look, and timers that look too early are no part of a checkpoint.
                case 0: update.kind == .update ? .accepted : .refused
                case 1: .targetGone
                case 2: update.kind == .start ? .unknownStart : .accepted
                case 3: .unsent
                default: .accepted
                }
            }
        }
        self.random = random
    }

    var pushes: [Update] { whole.updates }

    func run() {
        for number in 0..<3 {
            apply(started("ride-\(number)"), source: 0)
        }
        for _ in 0..<260 where !isDifferent {
            advance([0, 1, 400, 1_000, 3_000, 15_000, 40_000].randomElement(using: &random)!)
            let number = Int.random(in: 0..<places.count, using: &random)
            apply(event(number), source: Int.random(in: 0..<2, using: &random))
            if random.chance(0.05) { handOver() }
            compare()
        }
        advance(4 * 3_600_000)
        compare()
        #expect(whole.shard.activityCount == handed.shard.activityCount, "seed \(seed)")
        #expect(whole.shard.statistics.waitingUpdates == handed.shard.statistics.waitingUpdates, "seed \(seed)")
    }

    private var now: Int64 { whole.now }
    private var seconds: Double { Double(now - EventBuilder.epochMilliseconds) / 1_000 }

    /// Both look at what is due at the same times, that one having more timers than the other makes no difference.
    private func advance(_ milliseconds: Int) {
        let end = now + Int64(milliseconds)
        while let due = [whole, handed].compactMap(\.shard.nextDueMilliseconds).min(), due <= end {
            for bench in [whole, handed] {
                bench.now = max(bench.now, due)
                bench.shard.fire(at: bench.instant)
                bench.pump()
            }
        }
        for bench in [whole, handed] { bench.now = max(bench.now, end) }
    }

    private func handOver() {
        handOvers += 1
        handed.saveAll()
        handed.changeOwner()
        handed.pump()
    }

    private func apply(_ event: Event, source: Int) {
        // Every now and then an event comes again.
        if !random.chance(0.05) { offsets[source] += 1 }
        let before = [whole, handed].map(drops)
        for bench in [whole, handed] {
            _ = bench.shard.apply(event, offset: offsets[source], source: source, at: bench.instant)
            bench.pump()
        }
        let after = [whole, handed].map(drops)
        let fates = zip(before, after).map { zip($0, $1).map { $1 &- $0 } }
        if fates[0] != fates[1] {
            isDifferent = true
            Issue.record("seed \(seed), \(event.kind) at \(seconds): dropped \(fates[0]) and \(fates[1])")
        }
    }

    private func drops(_ bench: CheckpointBench) -> [UInt64] {
        Twins.comparedDrops.map { bench.shard.decisions[$0] }
    }

    private func compare() {
        guard !isDifferent else { return }
        // Those of one moment may leave in any order.
        let left = whole.updates.dropFirst(compared).map(describe).sorted()
        let right = handed.updates.dropFirst(compared).map(describe).sorted()
        compared = whole.updates.count
        guard left != right else { return }
        isDifferent = true
        Issue.record(
            """
            seed \(seed), after \(handOvers) hand-overs, at \(seconds): \(whole.updates.count) and \(handed.updates.count)
            only the first: \(left.filter { !right.contains($0) })
            only the second: \(right.filter { !left.contains($0) })
            """)
    }

    private func describe(_ update: Update) -> String {
        let state = PackedObject(update.contentState.object)
        let text = state.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        return """
            \(update.activityIdentifier) \(update.kind) #\(update.sequence) \(update.reasons.names) \(update.priority) \
            \(update.timestampSeconds) \(update.staleDateSeconds ?? 0) \(String(describing: update.dismissal)) \(text) \
            \(String(describing: update.alert)) \(update.relevanceScore ?? -1) \(KeyedHash.stored.hash("\(update.target)")) \
            \(update.targetRegisteredAtMilliseconds) \(update.pool) \(update.attributesType ?? "") \
            \(update.attributes?["kind"].map { "\($0)" } ?? "")
            """
    }

    // MARK: The history

    private func event(_ number: Int) -> Event {
        // The last two are only ever named by their first event.
        let builder = EventBuilder(activity: "ride-\(number)")
        let id = random.chance(0.3) ? UInt64.random(in: 1..<400, using: &random) : 0
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<50: return position(builder, number, id)
        case 50..<58:
            var courier = EventBuilder(activity: "courier")
            courier.isForSubject = true
            return position(courier, 0, id)
        case 58..<74: return status(builder, id)
        case 74..<82:
            return builder.token(seconds, token(), frequent: random.chance(0.3) ? Bool.random(using: &random) : nil)
        case 82..<90: return started("ride-\(number)")
        default:
            guard random.chance(0.5) else { return position(builder, number, id) }
            return builder.ended(
                seconds, fields: random.chance(0.5) ? ["status": "there", "note": "bye"] : nil,
                dismissal: [nil, .immediate, .at(milliseconds: now + 60_000)].randomElement(using: &random)!, id: id)
        }
    }

    private func position(_ builder: EventBuilder, _ number: Int, _ id: UInt64) -> Event {
        places[number] += [0, 5, 20, 40, 90, 200].randomElement(using: &random)!
        let isJump = random.chance(0.06)
        let late = random.chance(0.08) ? [1, 30, 5_000].randomElement(using: &random)! : 0.0
        let fields: JSONObject? =
            random.chance(0.3)
            ? [
                "etaTimestamp": .number(JSONNumber(Int64.random(in: 0..<300, using: &random))),
                "street": .string(["High", "Low"].randomElement(using: &random)!),
            ] : nil
        return builder.position(
            max(0, seconds - late), north: places[number] + (isJump ? 60_000 : 0),
            accuracy: [.nan, 5, 60, 150, 400].randomElement(using: &random)!,
            speed: random.chance(0.5) ? 7.5 : .nan, heading: random.chance(0.5) ? 90 : .nan, fields: fields, id: id)
    }

    private func status(_ builder: EventBuilder, _ id: UInt64) -> Event {
        builder.status(
            seconds, random.chance(0.4) ? Twins.statuses.randomElement(using: &random)! : nil,
            fields: random.chance(0.4) ? ["note": .number(JSONNumber(Int64.random(in: 0..<3, using: &random)))] : nil,
            alert: random.chance(0.15) ? .saying("\(seconds)") : nil,
            relevance: random.chance(0.2) ? Double.random(in: 0..<100, using: &random) : nil, id: id)
    }

    private func started(_ activity: String) -> Event {
        let target: StartTarget =
            switch Int.random(in: 0..<5, using: &random) {
            case 0: .none
            case 1: .channel("Q2hhbm5lbA==")
            case 2: .startToken(token())
            case 3: .user("somebody")
            default: .updateToken(token())
            }
        return EventBuilder(activity: activity).started(
            seconds, target, fields: ["status": .string(Twins.statuses.randomElement(using: &random)!)],
            alert: random.chance(0.8) ? Alert(title: "t", body: "b", sound: "s") : nil, type: "Ride",
            attributes: random.chance(0.5) ? ["kind": "pizza"] : nil,
            follows: now == EventBuilder.epochMilliseconds ? "courier" : nil,
            frequent: random.chance(0.3) ? Bool.random(using: &random) : nil,
            renewal: random.chance(0.3) ? token() : nil,
            app: random.chance(0.5) ? "meals" : nil)
    }

    private func token() -> PushToken { .of(UInt8.random(in: 1..<200, using: &random)) }
}
