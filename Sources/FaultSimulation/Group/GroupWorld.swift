import Flow
import LiveActivities
import Pacing
import Telemetry

/// One run of several members that share streams and a store: they come, freeze, die and go, and so does all around them.
struct GroupWorld: JudgedWorld {
    enum Action {
        /// A worker is about to submit what it was handed.
        case submit(request: UInt64)
        case fetched(node: Int, partition: Int, source: Int, turn: Int)
        /// The store does what it was asked; the member hears of it; it waits no longer.
        case done(node: Int, ask: UInt64)
        case heard(node: Int, ask: UInt64)
        case timedOut(node: Int, ask: UInt64)
        case upheaval(GroupScenario.Upheaval)
        case begin
        case resume(node: Int)
        /// Members and the coordinator of their group look at each other; what one of them says arrives.
        case coordinate
        case told(node: Int)
        case letter(node: Int, membership: UInt64, Letter)
        case judge
    }

    /// With all faults over, everything has to be settled by then.
    static let longestTailMilliseconds: Int64 = 1_800_000
    /// What waits for a gate alone is not waited for on the outside: so long nothing may happen any more.
    static let quietMilliseconds: Int64 = 90_000
    /// A bucket that urgent updates have emptied all the way.
    static let farthestGateMilliseconds: Int64 = 360_000
    /// With all faults over, each partition has its owner by then, and keeps it.
    static let unreadMilliseconds: Int64 = 180_000
    static let mostSteps = 60_000

    let scenario: Scenario
    let group: GroupScenario
    let script: Script
    let laneSettings: LaneSettings
    var random: SplitMix
    var agenda = Agenda()
    var provider = Provider()
    var rides: [Ride] = []
    var requests: [UInt64: Request] = [:]
    var subjectPositions: [Int: (position: Position, timestampMilliseconds: Int64)] = [:]
    var tokensReported = 1_000_000
    var faultsAreOver = false
    var coverage = Coverage()
    var trace: Trace
    var concerned: Int?
    var toldStreams: [Int] = []
    var trueStreams: [Int] = []

    var log: SharedLog
    var store: SharedStore
    var storeWeather = StoreWeather()
    var coordinator: GroupCoordinator
    var coordinatorDownUntilMilliseconds = Int64.min
    var wasCoordinatorUp = true
    /// Partitions of which an owner began where the group left off, for the store had lost what it knew: what was before is nobody's.
    var skipped: Set<Int> = []
    var nodes: [Node] = []
    var referee: Referee
    /// What there is of a request besides, by its identifier in this world.
    var pushes: [UInt64: Push] = [:]
    var pushCount = 0
    var realMilliseconds: Int64 = 0
    var crashes = CrashCoverage()
    let defect: String?
    var nextIdentifier: UInt64 = 1
    /// Those that died in the middle of something.
    var dying: [Int] = []
    /// As it was before each of the newest writes, where they may be lost.
    var storeHistory: [(before: SharedStore, atMilliseconds: Int64)] = []
    var quietSince: Int64?
    var isJudged = false
    private(set) var endMilliseconds: Int64 = 0
    private var steps = 0
    var body = ByteBuffer(capacity: 4_096)

    init(seed: UInt64, defect: String?, keepsTrace: Bool) {
        var random = SplitMix(seed: seed)
        scenario = Scenario(&random, isForGroup: true)
        group = GroupScenario(scenario, &random)
        var scriptRandom = random.fork()
        script = Script(scenario, &scriptRandom)
        self.defect = defect
        var shard = ShardSettings(default: scenario.pacing, apps: scenario.apps, hashSeed: random.next())
        Simulation.plant(defect, in: &shard)
        var settings = LaneSettings(shard: shard, types: ActivityTypes())
        settings.reactions = scenario.reactions
        // So little that it is full at once: what is remembered must not change what is done.
        settings.explanationBytes = 4 << 10
        laneSettings = settings
        trace = Trace(keepsLines: keepsTrace)
        log = SharedLog(partitions: group.partitions, sources: group.sources)
        store = SharedStore(
            partitions: group.partitions, sources: group.sources, leaseMilliseconds: group.leaseMilliseconds)
        store.plant(defect)
        coordinator = GroupCoordinator(
            partitions: group.partitions, sources: group.sources, isEager: group.isEager,
            sessionMilliseconds: group.sessionMilliseconds, releaseMilliseconds: group.releaseMilliseconds)
        referee = Referee(scenario: scenario, group: group)
        self.random = random
        for activity in 0..<scenario.activities {
            // A subject and its followers share a partition.
            let partition = scenario.subjects > 0 ? 0 : Int32(activity % group.partitions)
            rides.append(
                Ride(
                    name: activity, partition: partition,
                    ledger: Ledger(
                        scenario.pacing, mayForget: true, slackMilliseconds: group.clockSpreadMilliseconds)))
        }
        planAll()
    }

    private mutating func planAll() {
        for (index, line) in script.lines.enumerated() {
            agenda.plan(.script(index), atMilliseconds: line.atMilliseconds)
        }
        for _ in 0..<group.members { begin() }
        if group.isAssigned { agenda.plan(.group(.coordinate), atMilliseconds: 1) }
        endMilliseconds = scenario.recordingMilliseconds
        planWeather(until: endMilliseconds)
        for _ in 0..<group.upheavalCount {
            agenda.plan(
                .group(.upheaval(random.pick(group.upheavals))), atMilliseconds: random.between(0, endMilliseconds))
        }
        agenda.plan(.faultsEnd, atMilliseconds: endMilliseconds)
    }

    var unixMilliseconds: Int64 { Clocks.beginMilliseconds + realMilliseconds }
    /// Where members come and go nobody can say to the second when time ended a life.
    var lifeLimitMilliseconds: Int64? { nil }
    var storeKeepsWrites: Bool { !referee.hasLostWrites }

    // MARK: The run

    /// Runs until every phone could have been told, and nothing more happens.
    mutating func run() throws(Broken) {
        while !isJudged {
            let wake = nodes.lazy.filter(\.isRunning).compactMap(\.wakeMilliseconds).min()
            guard let next = [agenda.nextMilliseconds, wake].compactMap({ $0 }).min() else {
                throw Broken(.settles, "all members wait for what time alone never brings")
            }
            steps += 1
            if next > endMilliseconds + GroupWorld.longestTailMilliseconds || steps > GroupWorld.mostSteps {
                throw Broken(.settles, whyUnsettled ?? "it runs on and on, \(steps) steps so far")
            }
            realMilliseconds = max(realMilliseconds, next)
            if agenda.nextMilliseconds == next, let action = agenda.next() { try perform(action) }
            for node in nodes where node.isRunning && node.wakeMilliseconds ?? .max <= realMilliseconds {
                try pump(node)
            }
            while let dead = dying.popLast() { try kill(nodes[dead]) }
        }
    }

    private mutating func perform(_ action: Agenda.Action) throws(Broken) {
        switch action {
        case .script(let index):
            switch script.lines[index].step {
            case .record(let event): append(event)
            case .rotateToken(let activity): rotateToken(of: activity)
            case .keepToken: preconditionFailure("members of a group have no registry here")
            }
        case .report(let event, let life):
            if rides[event.name].truth.life == life { append(event) }
        case .rotateToken(let activity): rotateToken(of: activity)
        case .arrive(let request): try arrive(request)
        case .answer(let request): try answer(request)
        case .deliver(let delivery): try deliver(delivery)
        case .weather(let change): try turn(change)
        case .streams(let streams, let link): setStreams(streams, link: link)
        case .stepClock(let milliseconds): stepClock(milliseconds)
        case .faultsEnd: try endFaults()
        case .recordingEnds: break
        case .registry, .registerStartToken, .keepToken:
            preconditionFailure("members of a group have no registry here")
        case .group(let action): try perform(action)
        }
    }

    private mutating func perform(_ action: Action) throws(Broken) {
        switch action {
        case .submit(let request): try submit(request)
        case .fetched(let node, let partition, let source, let turn):
            guard !isPut(off: .group(action), by: nodes[node]) else { return }
            try fetched(nodes[node], partition, source, turn)
        case .done(let node, let ask): try storeDoes(nodes[node], ask)
        case .heard(let node, let ask):
            guard !isPut(off: .group(action), by: nodes[node]) else { return }
            try hears(nodes[node], ask)
        case .timedOut(let node, let ask):
            guard !isPut(off: .group(action), by: nodes[node]) else { return }
            if nodes[node].asks.contains(where: { $0.identifier == ask }) { try loseStore(nodes[node]) }
        case .upheaval(let upheaval): try strike(upheaval)
        case .begin: if nodes.count(where: { $0.state != .gone }) < group.mostMembers { begin() }
        case .resume(let node): resume(nodes[node])
        case .coordinate: try coordinate()
        case .told(let node): try hear(nodes[node])
        case .letter(let node, let membership, let letter): try arrive(letter, nodes[node], membership)
        case .judge: try judge()
        }
    }

    /// What comes to a frozen process waits until it runs again.
    mutating func isPut(off action: Agenda.Action, by node: Node) -> Bool {
        guard case .paused(let until) = node.state else { return false }
        agenda.plan(action, atMilliseconds: until)
        return true
    }

    /// Lets a member do all that it would do by itself now.
    mutating func pump(_ node: Node) throws(Broken) {
        node.wakeMilliseconds = nil
        let moment = node.read(atMilliseconds: realMilliseconds)
        node.lane.fire(at: moment)
        var goesOn = true
        var rounds = 0
        while goesOn, node.isRunning {
            rounds += 1
            if rounds > 1_000 {
                throw Broken(.settles, "\(node.name) has something to do again and again, at one instant")
            }
            node.member.advance(to: moment)
            if group.isAssigned { noteSettled(node) }
            goesOn = try send(from: node, moment)
            while node.isRunning, let (identifier, request) = node.member.nextRequest() {
                goesOn = true
                try ask(node, identifier, request)
            }
            if node.isRunning, try applyPrepared(node, moment) { goesOn = true }
        }
        guard node.isRunning else { return }
        if let unpushable = node.lane.takeUnpushable().first {
            throw Broken(.pushIsGood, "\(unpushable.name): \(unpushable.explanation)")
        }
        try referee.check(node.lane, group)
        fetch(node)
        if group.isAssigned {
            noteSettled(node)
            letGoIfFree(node)
            guard node.isRunning else { return }
        }
        if node.isStopping, node.member.isStopped {
            leave(node)
            return
        }
        let due = node.member.nextDueMilliseconds
        var wake = due == .max ? nil : due - node.baseMilliseconds
        if let due = node.lane.nextPacingDueMilliseconds {
            wake = min(wake ?? .max, node.clocks.realMilliseconds(until: due, from: moment))
        }
        if let due = node.lane.nextRealDueMilliseconds(after: moment.realMilliseconds) {
            wake = min(wake ?? .max, due - node.baseMilliseconds)
        }
        node.wakeMilliseconds = wake.map { max($0, realMilliseconds + 1) }
    }

    func touch(_ node: Node) { node.wakeMilliseconds = realMilliseconds }

    mutating func takeIdentifier() -> UInt64 {
        defer { nextIdentifier += 1 }
        return nextIdentifier
    }
}
