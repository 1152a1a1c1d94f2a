import Telemetry
import Testing

@testable import Pacing

/// Goal: what pacing.md promises of every history, not of chosen ones. Method: seeded random recordings of a few activities (drives with
/// stops, tunnels and jitter, statuses, tokens, ends, echoes, bad data), with random answers of the provider; a judge that keeps its own
/// books of what was sent. A failing run prints its seed: `try run(seed: …)` replays it.
@Suite("Promises over random recordings")
struct PropertyTests {
    @Test("with every send accepted", arguments: 0..<30)
    func acceptedAlways(seed: UInt64) {
        var world = RandomWorld(seed: seed, answersVary: false)
        world.run()
        world.judge()
    }

    @Test("with whatever the provider answers", arguments: 1000..<1040)
    func answersVary(seed: UInt64) {
        var world = RandomWorld(seed: seed, answersVary: true)
        world.run()
        world.judge()
    }

    @Test("the same history gives the same sends")
    func reproducible() {
        var first = RandomWorld(seed: 5, answersVary: true)
        var second = RandomWorld(seed: 5, answersVary: true)
        first.run()
        second.run()
        #expect(first.sends.map(\.description) == second.sends.map(\.description))
        #expect(first.sends.count > 20)
    }
}

struct RandomWorld {
    struct Send: CustomStringConvertible {
        let update: Update
        let seconds: Double
        var isAccepted = false
        var isUnsent = false

        var description: String {
            "\(seconds) \(update.activityIdentifier) \(update.kind) #\(update.sequence).\(update.attempt) \(update.reasons.names)"
        }
    }

    let seed: UInt64
    private(set) var answersVary: Bool
    let isAcceptedAlways: Bool
    let settings: PacingSettings
    let shard: Shard
    private(set) var sends: [Send] = []

    private var random: SeededGenerator
    private var now: Int64 = EventBuilder.epochMilliseconds
    private var offset: Int64 = 0
    private var unanswered: [Int] = []
    private var retries: [(send: Int, dueMilliseconds: Int64)] = []
    private var places: [Double] = []
    private var newestPosition: [String: Int64] = [:]
    private var ended: Set<String> = []
    private var lastSentSequence: [String: UInt64] = [:]
    private var anchors: [String: Coordinate] = [:]

    init(seed: UInt64, answersVary: Bool) {
        self.seed = seed
        self.answersVary = answersVary
        isAcceptedAlways = !answersVary
        var random = SeededGenerator(seed: seed)
        var settings = PacingSettings.defaults
        settings.profile = CadenceProfile.allCases.randomElement(using: &random)!
        settings.accuracyAware = Bool.random(using: &random)
        settings.refresh = random.chance(0.7)
        settings.minIntervalMilliseconds = [0, 5_000, 15_000, 60_000].randomElement(using: &random)!
        settings.urgentMinIntervalMilliseconds = [1_000, 5_000].randomElement(using: &random)!
        settings.staleAfterMilliseconds = [60_000, 180_000].randomElement(using: &random)!
        settings.deadbandMeters = [20, 75].randomElement(using: &random)!
        if random.chance(0.2) { settings.positionFields = [] }
        if random.chance(0.3) { settings.maxActivityLifeMilliseconds = 1_200_000 }
        self.settings = settings
        shard = Shard(settings: ShardSettings(default: settings, planTargets: true, hashSeed: seed))
        self.random = random
        places = (0..<4).map { _ in 0 }
    }

    mutating func run() {
        for _ in 0..<250 {
            let step = [0, 1, 250, 1_000, 2_000, 5_000, 20_000].randomElement(using: &random)!
            advance(to: now + Int64(step))
            let activity = Int.random(in: 0..<places.count, using: &random)
            for _ in 0..<(random.chance(0.1) ? 3 : 1) { applyOne(activity) }
            answerSome(all: false)
        }
        answerSome(all: true)
        runOn()
        // At last everything is accepted, and each activity has its say once more: then every phone must know the newest state.
        answersVary = false
        for number in places.indices {
            offset += 1
            let seconds = Double(now - EventBuilder.epochMilliseconds) / 1000
            _ = shard.apply(
                EventBuilder(activity: "ride-\(number)").status(seconds, "last words"), offset: offset, at: instant)
            check()
            dispatch()
        }
        runOn()
    }

    private mutating func runOn() {
        shard.finish(at: instant)
        check()
        while let due = [shard.nextDueMilliseconds, retries.map(\.dueMilliseconds).min()].compactMap({ $0 }).min() {
            now = max(now, due)
            fire()
            answerSome(all: true)
        }
    }

    private var instant: Instant { Instant(milliseconds: now) }

    private mutating func advance(to target: Int64) {
        while let due = [shard.nextDueMilliseconds, retries.map(\.dueMilliseconds).min()].compactMap({ $0 }).min(),
            due < target
        {
            now = max(now, due)
            fire()
        }
        now = target
    }

    private mutating func fire() {
        shard.fire(at: instant)
        check()
        let due = retries.filter { $0.dueMilliseconds <= now }
        retries.removeAll { $0.dueMilliseconds <= now }
        for retry in due {
            if let update = shard.retake(sends[retry.send].update.ticket, at: instant) { note(update) }
            check()
        }
        dispatch()
    }

    private mutating func applyOne(_ number: Int) {
        let builder = EventBuilder(activity: "ride-\(number)")
        let seconds = Double(now - EventBuilder.epochMilliseconds) / 1000
        offset += 1
        let fields: JSONObject? =
            random.chance(0.2)
            ? [
                ["etaTimestamp": .number(JSONNumber(Int64.random(in: 0...300, using: &random)))], ["note": "x"],
                ["note": nil],
            ]
            .randomElement(using: &random)! : nil
        let event: Event
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<60:
            places[number] += Double.random(in: -60...120, using: &random)
            event = builder.position(
                seconds, north: places[number],
                accuracy: random.chance(0.5) ? Double.random(in: 0...150, using: &random) : .nan,
                fields: fields)
        case 60..<66:
            event = builder.position(seconds, north: places[number] + 50_000, fields: fields)
        case 66..<70:
            event = builder.position(seconds - Double.random(in: 0...30, using: &random), north: places[number])
        case 70..<72:
            event = builder.position(seconds + 1_000, north: places[number])
        case 72..<88:
            event = builder.status(
                seconds, ["near", "far", "there"].randomElement(using: &random)!, fields: fields,
                alert: random.chance(0.2) ? .saying("\(offset)") : nil, id: UInt64.random(in: 0...40, using: &random))
        case 88..<91:
            event = builder.status(seconds, relevance: 1)
        case 91..<95:
            event = builder.token(
                seconds, .of(UInt8.random(in: 0...20, using: &random)), frequent: Bool.random(using: &random))
        case 95..<97:
            event = builder.started(
                seconds, .updateToken(.of(UInt8.random(in: 0...20, using: &random))), fields: ["status": "far"])
        case 97:
            event = builder.started(
                seconds, .startToken(.of(UInt8.random(in: 30...50, using: &random))), fields: fields,
                alert: random.chance(0.8) ? .saying("start") : nil)
        case 98 where random.chance(0.3):
            event = builder.ended(seconds, fields: fields)
        default:
            event = builder.position(seconds, at: Coordinate(latitude: 0, longitude: 0))
        }
        _ = shard.apply(event, offset: random.chance(0.05) ? offset - 2 : offset, at: instant)
        check()
        dispatch()
    }

    private mutating func dispatch() {
        while shard.ready(pool: 0) != nil {
            if answersVary, random.chance(0.1) { return }  // no credit now
            if let update = shard.take(pool: 0, at: instant) { note(update) }
            check()
        }
    }

    private mutating func note(_ update: Update) {
        sends.append(Send(update: update, seconds: Double(now - EventBuilder.epochMilliseconds) / 1000))
        let index = sends.count - 1
        if answersVary {
            unanswered.append(index)
        } else {
            settle(index, .accepted)
        }
    }

    private mutating func answerSome(all: Bool) {
        while !unanswered.isEmpty, all || random.chance(0.6) {
            let index = unanswered.removeFirst()
            let isStart = sends[index].update.kind == .start
            let settlement: Settlement
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<60: settlement = .accepted
            case 60..<70: settlement = .refused
            case 70..<80:
                settlement = .retry(holdsNewer: Bool.random(using: &random))
            case 80..<90: settlement = .unsent
            case 90..<95: settlement = .targetGone
            default: settlement = isStart ? .unknownStart : .accepted
            }
            settle(index, settlement)
            if case .retry = settlement {
                retries.append((index, now + Int64.random(in: 0...60_000, using: &random)))
            }
            dispatch()
        }
    }

    private mutating func settle(_ index: Int, _ settlement: Settlement) {
        if settlement == .accepted { sends[index].isAccepted = true }
        if settlement == .unsent { sends[index].isUnsent = true }
        shard.settle(sends[index].update.ticket, settlement, at: instant)
        check()
    }

    private func check(sourceLocation: SourceLocation = #_sourceLocation) {
        let counts = shard.decisions
        if counts.activityEvents != counts.decided + counts.pending {
            Issue.record(
                "seed \(seed): read \(counts.activityEvents), decided \(counts.decided), pending \(counts.pending)",
                sourceLocation: sourceLocation)
        }
    }
}

extension RandomWorld {
    /// What the judge knows: the sends, in order.
    func judge() {
        judgeFinalState()
        let byActivity = Dictionary(grouping: sends, by: \.update.activityIdentifier)
        for (activity, sends) in byActivity {
            judgeOrder(activity, sends)
            if isAcceptedAlways {
                judgeAnchor(activity, sends)
                judgeWindows(activity, sends)
            }
        }
    }

    /// Whoever has a target has been told: nothing is left that speaks for a send, nothing waits, and what remains pending waits for a
    /// target. What ended was told so last.
    private func judgeFinalState() {
        for index in 0..<shard.slab.bound where shard.slab.isInUse(index) {
            let record = shard.record(index)
            #expect(record.flight == nil, "seed \(seed)")
            guard record.target != nil, !shard.state(index).pointee.flags.contains(.ended) else { continue }
            let reasons = shard.judgement(index, instant).reasons
            #expect(reasons.subtracting([.content, .refresh]).isEmpty, "seed \(seed): \(reasons.names)")
            #expect(!shard.state(index).pointee.flags.contains(.waiting), "seed \(seed)")
            #expect(record.shownContent[FieldPath("status")] == "last words", "seed \(seed)")
        }
        for (activity, sends) in Dictionary(grouping: sends, by: \.update.activityIdentifier) {
            for (earlier, later) in zip(sends, sends.dropFirst())
            where earlier.update.kind == .end && earlier.isAccepted {
                // Only a new life goes on after an end, and begins with another target.
                #expect(later.update.target != earlier.update.target, "seed \(seed): \(activity) \(earlier), \(later)")
            }
        }
    }

    private func judgeOrder(_ activity: String, _ sends: [Send]) {
        for (earlier, later) in zip(sends, sends.dropFirst()) {
            let (old, new) = (earlier.update, later.update)
            if new.attempt > 1 {
                #expect(new.sequence == old.sequence, "seed \(seed): \(earlier) then \(later)")
                #expect(
                    new.contentState == old.contentState && new.apnsIdentifier == old.apnsIdentifier, "seed \(seed)")
            } else {
                #expect(new.sequence > old.sequence, "seed \(seed): \(earlier) then \(later)")
            }
            // One that never left may give its second back.
            if !earlier.isUnsent {
                #expect(new.timestampSeconds > old.timestampSeconds, "seed \(seed): \(earlier) then \(later)")
            }
            #expect(
                new.timestampSeconds * 1000 - new.takenAt.wallMilliseconds <= 5_000, "seed \(seed): \(later)")
        }
        for send in sends where send.update.attempt == 1 {
            #expect(
                send.update.contentState[FieldPath("sequenceNumber")]?.asDouble == Double(send.update.sequence),
                "seed \(seed)")
        }
    }

    /// A distance update is farther from the last position sent than the deadband, unless none was sent in this life.
    private func judgeAnchor(_ activity: String, _ sends: [Send]) {
        guard !settings.positionFields.isEmpty else { return }
        for (earlier, later) in zip(sends, sends.dropFirst())
        where later.update.reasons.contains(.distance) && earlier.update.kind == .update {
            guard let old = earlier.update.position, let new = later.update.position else { continue }
            #expect(old.distanceMeters(to: new) > settings.deadbandMeters, "seed \(seed): \(earlier) then \(later)")
        }
    }

    /// In any window W: at most burst + W / interval + W / (staleAfter − refreshLead) routine updates, and at most that + burst
    /// + W / urgentMinInterval in all, endings aside.
    private func judgeWindows(_ activity: String, _ sends: [Send]) {
        // The wider of the profiles between which an activity may have switched.
        guard settings.profile != .unlimited else { return }
        let (burst, interval) = settings.profile == .standard ? (4.0, 60.0) : (8.0, 15.0)
        let lead = Double(settings.staleAfterMilliseconds - settings.refreshLeadMilliseconds) / 1000
        let counted = sends.filter { $0.update.kind != .end }
        let urgentInterval = Double(settings.urgentMinIntervalMilliseconds) / 1000
        for first in counted.indices {
            var (routine, all) = (0.0, 0.0)
            for last in first..<counted.count {
                if !counted[last].update.isUrgent { routine += 1 }
                all += 1
                let window = counted[last].seconds - counted[first].seconds
                let bound = burst + window / interval + window / lead + 1
                if routine > bound || all > bound + burst + window / urgentInterval + 1 {
                    Issue.record("seed \(seed): \(activity) sent \(routine) routine of \(all) updates in \(window) s")
                }
            }
        }
        for (earlier, later) in zip(counted, counted.dropFirst())
        where !later.update.isUrgent && later.update.kind == .update {
            if isSameLife(earlier, later) {
                #expect(
                    later.update.takenAt.nowMilliseconds - earlier.update.takenAt.nowMilliseconds
                        >= settings.minIntervalMilliseconds,
                    "seed \(seed): \(earlier) then \(later)")
            }
        }
    }

    private func isSameLife(_ earlier: Send, _ later: Send) -> Bool {
        !sends.contains {
            $0.update.activityIdentifier == earlier.update.activityIdentifier && $0.update.kind == .end
                && $0.update.sequence > earlier.update.sequence && $0.update.sequence < later.update.sequence
        }
    }
}
