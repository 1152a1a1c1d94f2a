import Flow
import LiveActivities
import Pacing
import Telemetry

/// One run: the real lane between simulated producers, a simulated provider and simulated phones, under one seeded order of things.
struct World: JudgedWorld {
    /// What is taken in a world that ends is far below; one that reaches it runs in circles.
    static let longestMilliseconds: Int64 = 20 * 86_400_000
    static let mostSteps = 200_000

    let scenario: Scenario
    let script: Script
    let lane: Lane
    var random: SplitMix
    var clocks: Clocks
    var agenda = Agenda()
    var provider = Provider()
    var rides: [Ride] = []
    var requests: [UInt64: Request] = [:]
    var toldStreams: [Int] = []
    var trueStreams: [Int] = []
    var poolOfLink: [Int] = []
    var subjectPositions: [Int: (position: Position, timestampMilliseconds: Int64)] = [:]
    var nextOffset: [Int64]
    var offsets: [UInt64: Int64] = [:]
    var tokensReported = 1_000_000
    var faultsAreOver = false
    var recordingIsOver = false
    var coverage = Coverage()
    var trace: Trace
    var pushCount = 0
    let crashes = CrashCoverage()
    /// The activity that is being looked at, for the report of what breaks.
    var concerned: Int?
    /// Something came or was answered since phones were last looked at.
    var hasNews = false
    var registry = SimulatedRegistry()
    var registryRequests: [UInt64: RegistryRequest] = [:]
    private var steps = 0
    private var body = ByteBuffer(capacity: 4_096)

    init(seed: UInt64, defect: String?, keepsTrace: Bool) {
        var random = SplitMix(seed: seed)
        scenario = Scenario(&random)
        var scriptRandom = random.fork()
        script = Script(scenario, &scriptRandom)
        var settings = ShardSettings(
            default: scenario.pacing, apps: scenario.apps, hashSeed: random.next())
        Simulation.plant(defect, in: &settings)
        settings.asksRegistry = scenario.tokens != nil
        var laneSettings = LaneSettings(shard: settings, types: ActivityTypes())
        laneSettings.reactions = scenario.reactions
        if let tokens = scenario.tokens { laneSettings.startBudget = tokens.budget }
        laneSettings.seed = random.next()
        // So little that it is full at once: what is remembered must not change what is done.
        laneSettings.explanationBytes = 4 << 10
        lane = Lane(settings: laneSettings)
        clocks = Clocks(speed: scenario.speed)
        trace = Trace(keepsLines: keepsTrace)
        nextOffset = Array(repeating: 0, count: scenario.partitions)
        self.random = random
        for activity in 0..<scenario.activities {
            // A subject and its followers share a partition.
            let partition = scenario.subjects > 0 ? 0 : Int32(activity % scenario.partitions)
            rides.append(Ride(name: activity, partition: partition, ledger: Ledger(scenario.pacing)))
        }
        for pool in scenario.apps.indices {
            for _ in 0..<scenario.linksPerPool {
                let link = lane.addLink(pool: pool)
                lane.setStreams(scenario.streamsPerLink, link: link)
                toldStreams.append(scenario.streamsPerLink)
                trueStreams.append(scenario.streamsPerLink)
                poolOfLink.append(pool)
            }
        }
        planAll()
    }

    private mutating func planAll() {
        for (index, line) in script.lines.enumerated() {
            agenda.plan(
                .script(index), atMilliseconds: clocks.realMilliseconds(ofRecording: line.atMilliseconds))
        }
        let end = clocks.realMilliseconds(ofRecording: scenario.recordingMilliseconds)
        planWeather(until: end)
        planRegistrations()
        agenda.plan(.faultsEnd, atMilliseconds: end)
        agenda.plan(
            .recordingEnds,
            atMilliseconds: end + 1 + clocks.realMilliseconds(ofRecording: scenario.lingerMilliseconds))
    }

    // MARK: The run

    /// Runs until nothing is left that time alone could bring about.
    mutating func run() throws(Broken) {
        while true {
            let moment = clocks.read()
            let wake = wakeMilliseconds(moment)
            guard let next = [agenda.nextMilliseconds, wake].compactMap({ $0 }).min() else {
                throw Broken(.settles, "the lane waits for what time alone never brings")
            }
            steps += 1
            if next > World.longestMilliseconds || steps > World.mostSteps {
                throw Broken(.settles, "it runs on and on, \(steps) steps and \(next / 1_000) s so far")
            }
            clocks.advance(toMilliseconds: next)
            if agenda.nextMilliseconds == next, let action = agenda.next() { try perform(action) }
            try pump()
            try checkAccounting()
            try checkTold()
            // What a provider refuses for its credential or its configuration goes on here, for it comes to its senses in the end.
            if recordingIsOver, agenda.isEmpty, lane.isIdle, !lane.waitsForRefusedPools,
                lane.openRegistryRequests == 0
            {
                return
            }
        }
    }

    private func wakeMilliseconds(_ moment: Moment) -> Int64? {
        var wake: Int64?
        if let due = lane.nextPacingDueMilliseconds { wake = clocks.realMilliseconds(until: due, from: moment) }
        if let due = lane.nextRealDueMilliseconds(after: moment.realMilliseconds) { wake = min(wake ?? due, due) }
        return wake
    }

    /// Lets happen what is due, and everything leave that may.
    private mutating func pump() throws(Broken) {
        let moment = clocks.read()
        for activity in rides.indices {
            let before = rides[activity].truth.phase
            rides[activity].truth.passTime(nowMilliseconds: moment.pacing.nowMilliseconds)
            if rides[activity].truth.phase != before { cover(.lifeOver, activity) }
        }
        lane.fire(at: moment)
        while let dispatch = lane.next(at: moment, body: &body) {
            try send(dispatch, body, moment)
        }
        try askRegistry(moment)
        if let unpushable = lane.takeUnpushable().first {
            throw Broken(.pushIsGood, "\(unpushable.name): \(unpushable.explanation)")
        }
    }

    private mutating func perform(_ action: Agenda.Action) throws(Broken) {
        switch action {
        case .script(let index):
            switch script.lines[index].step {
            case .record(let event): try apply(event)
            case .rotateToken(let activity): rotateToken(of: activity)
            case .keepToken(let activity): keepToken(of: activity)
            }
        case .report(let event, let life):
            // An app that shows a newer card has no token of the old one to report.
            if rides[event.name].truth.life == life { try apply(event) }
        case .rotateToken(let activity): rotateToken(of: activity)
        case .arrive(let request): try arrive(request)
        case .answer(let request): try answer(request)
        case .deliver(let delivery): try deliver(delivery)
        case .weather(let change): try turn(change)
        case .streams(let streams, let link): setStreams(streams, link: link)
        case .stepClock(let milliseconds): stepClock(milliseconds)
        case .faultsEnd:
            endProviderFaults()
            if scenario.tokens != nil { registerStartToken() }
        case .registry(let request): answerRegistry(request)
        case .registerStartToken: registerStartToken()
        case .keepToken(let activity): keepToken(of: activity)
        case .recordingEnds:
            recordingIsOver = true
            for activity in rides.indices { rides[activity].truth.outlivesTime() }
            lane.finish(at: clocks.read())
        case .group: preconditionFailure("a lane of its own is in no group")
        }
    }

    func tell(streams: Int, link: Int) { lane.setStreams(streams, link: link) }

    mutating func stepWall(byMilliseconds milliseconds: Int64) { clocks.stepWall(byMilliseconds: milliseconds) }

    // MARK: What always holds

    private func checkAccounting() throws(Broken) {
        for shard in lane.eachShard {
            let decisions = shard.decisions
            if decisions.activityEvents != decisions.decided + decisions.pending {
                throw Broken(
                    .everyEventIsAccounted,
                    "\(decisions.activityEvents) read, \(decisions.decided) decided, \(decisions.pending) pending")
            }
        }
        if lane.inFlightCount != requests.count || lane.outstandingStreams != requests.count {
            throw Broken(
                .creditsComeBack,
                "\(requests.count) requests are open, the lane counts \(lane.inFlightCount) in flight on \(lane.outstandingStreams) streams"
            )
        }
    }

    var realMilliseconds: Int64 { clocks.realMilliseconds }
    var unixMilliseconds: Int64 { clocks.unixMilliseconds }

    var storeKeepsWrites: Bool { true }
    /// After the recording no life ends by time.
    var lifeLimitMilliseconds: Int64? { recordingIsOver ? nil : scenario.pacing.maxActivityLifeMilliseconds }

    var pending: UInt64 { lane.eachShard.reduce(0) { $0 + $1.decisions.pending } }
}
