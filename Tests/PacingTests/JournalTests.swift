import Telemetry
import Testing

@testable import Pacing

@Suite("What a shard remembers of its decisions")
struct JournalTests {
    let ride = EventBuilder()

    private func run(
        _ settings: PacingSettings = .defaults, bytes: Int = 1 << 20, planTargets: Bool = true
    ) -> (run: VirtualRun, journal: Journal) {
        let journal = Journal(byteLimit: bytes)!
        let run = VirtualRun(
            ShardSettings(default: settings, planTargets: planTargets, hashSeed: 42), journal: journal)
        return (run, journal)
    }

    private func explanation(_ run: VirtualRun, _ activity: String = "ride-1") -> ActivityExplanation {
        run.shard.explanation(of: activity, at: run.instant)!
    }

    @Test("positions inside the deadband are one line, with the farthest of them and when they came")
    func folding() throws {
        let (run, _) = run()
        run.apply(ride.position(0))
        for second in 1...60 { run.apply(ride.position(Double(second), north: Double(second) + 0.2)) }
        let decisions = explanation(run).decisions
        #expect(decisions.count == 3)
        #expect(decisions[0].what == .began(.firstEvent))
        guard case .sent(let send) = decisions[1].what else { return #expect(Bool(false), "\(decisions[1])") }
        #expect(send.reasons == .distance && send.sequence == 1 && send.distance == nil && send.level == 3)
        guard case .insideDeadband(let distance) = decisions[2].what else {
            return #expect(Bool(false), "\(decisions[2])")
        }
        #expect(abs(distance.meters - 60.2) < 0.1 && distance.thresholdMeters == 75)
        #expect(decisions[2].count == 60)
        #expect(decisions[2].firstMilliseconds == EventBuilder.milliseconds(1))
        #expect(decisions[2].lastMilliseconds == EventBuilder.milliseconds(60))
    }

    @Test("distances east and west are as true as those north and south")
    func eastward() {
        let (run, _) = run()
        run.apply(ride.position(0))
        run.apply(ride.position(1, east: 10))
        run.apply(ride.position(2, north: 30, east: -50))
        guard case .insideDeadband(let distance)? = explanation(run).decisions.last?.what else {
            return #expect(Bool(false))
        }
        #expect(abs(distance.meters - 58.31) < 0.1)
    }

    @Test("more positions than a counter holds go on in the same line")
    func longRun() {
        let (run, _) = run(
            .with {
                $0.refresh = false
                $0.staleAfterMilliseconds = 1 << 40
            })
        run.apply(ride.position(0))
        for number in 1...70_000 { run.apply(ride.position(Double(number) / 100, north: Double(number % 50))) }
        let decisions = explanation(run).decisions
        #expect(decisions.count == 3)
        #expect(decisions.last?.count == 70_000)
        #expect(decisions.last?.firstMilliseconds == EventBuilder.milliseconds(0.01))
    }

    @Test("a position that has to wait says for which gates, until when, and how many events joined it")
    func waiting() {
        let (run, _) = run(.with { $0.profile = .standard })
        run.apply(ride.position(0))
        run.apply(ride.position(5, north: 100))
        run.apply(ride.position(8, north: 130))
        let explanation = explanation(run)
        guard case .waits(let wait)? = explanation.decisions.last?.what else { return #expect(Bool(false)) }
        #expect(wait.reasons == .distance && !wait.isUrgent && wait.level == 3)
        #expect(abs((wait.distance?.meters ?? 0) - 130) < 0.1)
        #expect(
            wait.gates == [ExplainedGate(kind: .minInterval, opensAtMilliseconds: EventBuilder.milliseconds(15))])
        #expect(explanation.decisions.last?.count == 2)
        #expect(explanation.situation.isWaiting && explanation.situation.gates == wait.gates)
        #expect(explanation.situation.bucket?.level == 3)
        #expect(explanation.situation.bucket?.nextTokenAtMilliseconds == EventBuilder.milliseconds(60))
    }

    @Test("an empty bucket says when its next token comes")
    func emptyBucket() {
        let (run, _) = run(.with { $0.profile = .standard })
        for number in 0...5 { run.apply(ride.position(Double(number) * 16, north: Double(number) * 100)) }
        guard case .waits(let wait)? = explanation(run).decisions.last?.what else { return #expect(Bool(false)) }
        #expect(run.sends.map(\.seconds) == [0, 16, 32, 48, 64])
        #expect(wait.level == 0)
        #expect(wait.gates == [ExplainedGate(kind: .bucket, opensAtMilliseconds: EventBuilder.milliseconds(120))])
    }

    @Test("each drop is told with its number and its limit, the worst of a row")
    func drops() {
        let (run, _) = run()
        run.apply(ride.position(0))
        run.apply(ride.position(10, north: 10, accuracy: 450))
        run.apply(ride.position(11, north: 10, accuracy: 320))
        run.apply(ride.position(12, at: Coordinate(latitude: 0, longitude: 0)))
        run.apply(ride.position(13, north: 10))
        run.apply(ride.position(4), at: 14)
        run.apply(ride.position(13, north: 10), at: 15)
        run.apply(ride.position(20, north: 40_000))
        run.apply(ride.position(21, north: 20))
        let found = explanation(run).decisions.compactMap { decision -> (ExplainedDecision.Drop, Int)? in
            switch decision.what {
            case .dropped(let drop), .heldAside(let drop): (drop, decision.count)
            default: nil
            }
        }
        #expect(
            found.map(\.0.decision) == [.inaccurate, .nullIsland, .outOfOrder, .duplicate, .implausible, .implausible])
        #expect(found[0].0.value == 450 && found[0].0.limit == 200 && found[0].1 == 2)
        #expect(found[2].0.value == 9_000)
        #expect(abs((found[4].0.value ?? 0) - 5_712.9) < 5 && found[4].0.limit == 100)
        // It was held aside, and nothing bore it out.
        #expect(found[5].0.value == nil)
    }

    @Test("drops between positions do not tear their lines apart")
    func interleaved() {
        let (run, _) = run()
        run.apply(ride.position(0))
        for second in 1...50 {
            run.apply(ride.position(Double(second), north: 5))
            run.apply(ride.position(Double(second), north: 5))
        }
        let decisions = explanation(run).decisions
        #expect(decisions.count == 4)
        #expect(decisions.suffix(2).map(\.count) == [50, 50])
    }

    @Test("answers stand with their pushes")
    func answers() {
        let (run, _) = run(planTargets: false)
        run.answer = { _ in nil }
        run.apply(ride.started(0, .updateToken(.of(1)), fields: ["status": "new"]))
        run.apply(ride.status(20, "near"))
        let update = run.last!
        run.advance(to: 21)
        run.settle(update, .targetGone)
        run.shard.noteAnswer(
            update,
            JournalAnswer(fate: .targetGone, sequence: 1, attempt: 1, status: 410, reason: 7, tookMilliseconds: 1_000),
            at: run.instant)
        let explanation = explanation(run)
        let sends = explanation.decisions.compactMap { if case .sent(let send) = $0.what { send } else { nil } }
        #expect(sends.count == 1)
        #expect(sends.first?.answer?.status == 410 && sends.first?.answer?.tookMilliseconds == 1_000)
        #expect(explanation.situation.target == nil && explanation.situation.goneTarget == .updateToken(.of(1)))
        guard case .waits(let wait)? = explanation.decisions.last?.what else { return #expect(Bool(false)) }
        #expect(wait.isUrgent && wait.gates.map(\.kind) == [.target])
    }

    @Test("what waited and came back is told, and so is the end")
    func returned() {
        let (run, _) = run()
        run.apply(ride.position(0))
        run.apply(ride.position(5, north: 100))
        run.apply(ride.position(10, north: 10))
        run.advance(to: 20)
        run.apply(ride.ended(30))
        run.apply(ride.position(31, north: 500))
        let whats = explanation(run).decisions.map(\.what)
        #expect(
            whats.contains {
                if case .decided(.returned, let away?) = $0 { abs(away.meters - 10) < 0.1 } else { false }
            })
        #expect(whats.contains(.ended(.event)))
        #expect(whats.last == .dropped(ExplainedDecision.Drop(decision: .afterEnd, value: nil, limit: nil)))
        guard case .ended = explanation(run).situation.stage else { return #expect(Bool(false)) }
    }

    @Test("asking changes nothing that the shard does")
    func asking() {
        let asked = run().run
        let silent = VirtualRun()
        for second in 0..<300 {
            let event = ride.position(Double(second), north: Double(second * second % 977))
            asked.apply(event)
            silent.apply(event)
            _ = asked.shard.explanation(of: "ride-1", at: asked.instant)
        }
        #expect(asked.sends.map(\.description) == silent.sends.map(\.description))
        #expect(asked.sends.count > 5)
    }

    @Test("an activity that nobody knows has no explanation, and without a journal only how it stands is told")
    func off() {
        let run = VirtualRun()
        run.apply(ride.position(0))
        #expect(run.shard.explanation(of: "ride-2", at: run.instant) == nil)
        let explanation = explanation(run)
        #expect(explanation.memory == .off && explanation.decisions.isEmpty)
        #expect(explanation.situation.sequence == 1)
        #expect(Journal(byteLimit: 0) == nil)
    }
}

@Suite("The memory of decisions")
struct JournalMemoryTests {
    private func shard(_ journal: Journal) -> Shard {
        Shard(settings: ShardSettings(planTargets: true, hashSeed: 1), journal: journal)
    }

    private func instant(_ seconds: Double) -> Instant { Instant(milliseconds: EventBuilder.milliseconds(seconds)) }

    @Test("does not grow under a flood of activities; whoever was written of last is remembered")
    func flood() {
        let bytes = 64 << 10
        let journal = Journal(byteLimit: bytes)!
        let shard = shard(journal)
        for number in 0..<20_000 {
            let builder = EventBuilder(activity: "ride-\(number)")
            let second = Double(number) / 100
            _ = shard.apply(builder.position(second), at: instant(second))
            while let update = shard.take(pool: 0, at: instant(second)) {
                shard.settle(update.ticket, .accepted, at: instant(second))
            }
        }
        #expect(journal.byteCount <= bytes)
        #expect(journal.forgottenEntries > 30_000)
        #expect(journal.entryCount <= journal.capacity)
        let newest = shard.explanation(of: "ride-19999", at: instant(200))!
        #expect(newest.memory == .whole(sinceMilliseconds: EventBuilder.milliseconds(199.99)))
        #expect(newest.decisions.count == 2)
        let first = shard.explanation(of: "ride-0", at: instant(200))!
        #expect(first.memory == .none && first.decisions.isEmpty)
        #expect(first.situation.sequence == 1)
    }

    @Test("an activity has so many entries and no more, and says what it has forgotten")
    func oneActivity() {
        let journal = Journal(byteLimit: 1 << 20)!
        let shard = Shard(
            settings: ShardSettings(
                default: .with {
                    $0.profile = .unlimited
                    $0.minIntervalMilliseconds = 0
                },
                planTargets: true, hashSeed: 1), journal: journal)
        let builder = EventBuilder()
        for number in 0..<1_000 {
            let second = Double(number) * 20
            _ = shard.apply(builder.position(second, north: Double(number) * 100), at: instant(second))
            while let update = shard.take(pool: 0, at: instant(second)) {
                shard.settle(update.ticket, .accepted, at: instant(second))
            }
        }
        let explanation = shard.explanation(of: "ride-1", at: instant(20_000))!
        #expect(explanation.decisions.count == Journal.entriesAnActivity)
        #expect(explanation.memory == .since(milliseconds: explanation.decisions[0].firstMilliseconds))
        #expect(journal.entryCount == Journal.entriesAnActivity)
        #expect(journal.forgottenEntries == 1_001 - UInt64(Journal.entriesAnActivity))
    }

    @Test("a busy activity takes nothing from one that is written of as recently")
    func fairness() {
        // Room for two heads a line and a few hundred entries.
        let journal = Journal(byteLimit: 40_000)!
        let shard = Shard(
            settings: ShardSettings(
                default: .with {
                    $0.profile = .unlimited
                    $0.minIntervalMilliseconds = 0
                },
                planTargets: true, hashSeed: 1), journal: journal)
        let quiet = EventBuilder(activity: "quiet")
        for number in 0..<3_000 {
            let second = Double(number)
            _ = shard.apply(quiet.position(second), at: instant(second))
            // Each is done after a hundred seconds.
            let busy = EventBuilder(activity: "busy-\(number / 100)")
            _ = shard.apply(busy.position(second, north: Double(number) * 90), at: instant(second))
            while shard.ready(pool: 0) != nil {
                if let update = shard.take(pool: 0, at: instant(second)) {
                    shard.settle(update.ticket, .accepted, at: instant(second))
                }
            }
        }
        #expect(journal.forgottenEntries > 1_000)
        let explanation = shard.explanation(of: "quiet", at: instant(3_000))!
        #expect(explanation.memory == .whole(sinceMilliseconds: EventBuilder.milliseconds(0)))
        #expect(explanation.decisions.contains { $0.count > 100 })
    }

    @Test("goes with its activity and with its shard, and comes back with a take-over that says so")
    func leaving() {
        let journal = Journal(byteLimit: 1 << 20)!
        let bench = CheckpointBench(journal: journal)
        let builder = EventBuilder()
        _ = bench.shard.apply(
            builder.started(0, .updateToken(.of(1)), fields: ["status": "new"]), at: bench.instant)
        bench.save()
        #expect(journal.activityCount == 1 && journal.entryCount > 0)
        bench.takeOver()
        #expect(journal.activityCount == 1)
        let explanation = bench.shard.explanation(of: "ride-1", at: bench.instant)!
        #expect(explanation.decisions.first?.what == .began(.takenOver))
        #expect(explanation.memory == .whole(sinceMilliseconds: bench.now))
        #expect(explanation.situation.target == .updateToken(.of(1)))
    }

    @Test("shards that come and go leave nothing behind")
    func shards() {
        let journal = Journal(byteLimit: 1 << 20)!
        for _ in 0..<100 {
            let both = [shard(journal), shard(journal)]
            for shard in both { _ = shard.apply(EventBuilder().position(0), at: instant(0)) }
            #expect(journal.activityCount == 2)
        }
        #expect(journal.activityCount == 0 && journal.entryCount == 0)
    }

    @Test("entries and heads are as large as cache lines ask")
    func layout() {
        #expect(MemoryLayout<JournalEntry>.stride == 64)
        #expect(MemoryLayout<JournalHead>.stride == 32)
    }
}
