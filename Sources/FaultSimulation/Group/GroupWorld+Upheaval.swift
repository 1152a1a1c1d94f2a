import Flow
import Pacing

extension GroupWorld {
    // MARK: Members come and go

    mutating func begin() {
        let name = "member-\(nodes.count)"
        let lane = Lane(settings: memberLaneSettings())
        let settings = memberSettings(name)
        let firstLink = toldStreams.count
        for pool in scenario.apps.indices {
            for _ in 0..<scenario.linksPerPool {
                let link = lane.addLink(pool: pool)
                lane.setStreams(scenario.streamsPerLink, link: link)
                toldStreams.append(scenario.streamsPerLink)
                trueStreams.append(scenario.streamsPerLink)
            }
        }
        let error = random.between(-group.wallErrorMilliseconds, group.wallErrorMilliseconds)
        let node = Node(
            index: nodes.count, lane: lane, member: Member(settings: settings, lane: lane), name: name,
            firstLink: firstLink, baseMilliseconds: random.between(1, 1 << 40),
            clocks: Clocks(speed: nil, realMilliseconds: realMilliseconds, wallErrorMilliseconds: error),
            partitions: group.partitions)
        node.group.contactAtMilliseconds = realMilliseconds
        node.group.noticesSilence = group.isAssigned && random.chance(percent: 50)
        nodes.append(node)
        note(nil, [20, Int64(node.index)], "\(name) begins")
        touch(node)
    }

    private mutating func memberLaneSettings() -> LaneSettings {
        var settings = laneSettings
        settings.seed = random.next()
        settings.shard.hashSeed = random.next()
        settings.shard.keepsCheckpoints = true
        return settings
    }

    private func memberSettings(_ name: String) -> MemberSettings {
        var settings = MemberSettings(name: name, partitions: group.partitions)
        settings.sources = group.sources
        settings.isAssigned = group.isAssigned
        settings.leaseMilliseconds = group.leaseMilliseconds
        settings.beatMilliseconds = group.beatMilliseconds
        settings.drainTimeoutMilliseconds = group.drainTimeoutMilliseconds
        settings.maxUncommittedAgeMilliseconds = group.maxUncommittedAgeMilliseconds
        settings.maxUncommittedRecords = group.maxUncommittedRecords
        settings.maxActivities = group.maxActivities
        return settings
    }

    /// All of it is gone. What it had submitted runs on its way, and what comes back reaches nobody.
    mutating func kill(_ node: Node) throws(Broken) {
        note(nil, [21, Int64(node.index)], "\(node.name) dies")
        node.state = .gone
        node.doom = nil
        // What it had written to its socket may arrive all the same, and late.
        switch random.below(4) {
        case 0, 1:
            try decideUnderWay(node)
            node.asks = []
        case 2: node.heldUpUntilMilliseconds = realMilliseconds + random.between(1_000, 20_000)
        default: break
        }
        if !faultsAreOver, random.chance(percent: 80) { planBegin() }
        planBeginIfAlone()
    }

    private mutating func planBegin() {
        agenda.plan(.group(.begin), atMilliseconds: realMilliseconds + random.pick([1, 300, 4_000, 15_000]))
    }

    /// It has done all that a clean end asks for.
    mutating func leave(_ node: Node) {
        note(nil, [22, Int64(node.index)], "\(node.name) has left")
        if group.isAssigned { leaveGroup(node) }
        node.state = .gone
        if !faultsAreOver, random.chance(percent: 60) { planBegin() }
        planBeginIfAlone()
    }

    private mutating func planBeginIfAlone() {
        let isAwaited = agenda.contains { if case .group(.begin) = $0 { true } else { false } }
        if nodes.allSatisfy({ $0.state == .gone }), !isAwaited { planBegin() }
    }

    mutating func freeze(_ node: Node, forMilliseconds milliseconds: Int64) {
        let until = realMilliseconds + milliseconds
        note(nil, [28, Int64(node.index), until], "\(node.name) freezes for \(milliseconds) ms")
        node.state = .paused(untilMilliseconds: until)
        if random.chance(percent: 50) { node.heldUpUntilMilliseconds = until }
        agenda.plan(.group(.resume(node: node.index)), atMilliseconds: until)
    }

    mutating func resume(_ node: Node) {
        guard case .paused = node.state else { return }
        note(nil, [23, Int64(node.index)], "\(node.name) goes on")
        node.state = .running
        node.resumedAtMilliseconds = realMilliseconds
        touch(node)
    }

    /// Called before each effect of a member.
    ///
    /// - Returns: whether it dies instead.
    mutating func dies(_ node: Node, before effect: Effect) -> Bool {
        var isDue = false
        switch node.doom {
        case .afterEffects(let count)?:
            isDue = count == 0
            node.doom = .afterEffects(count - 1)
        case .before(let awaited, let milliseconds)?: isDue = effect == awaited || realMilliseconds >= milliseconds
        case .onceAStartHasLeft?, nil: break
        }
        if let last = node.lastEffect { crashes.pass(after: last, before: effect, dies: isDue) }
        node.lastEffect = effect
        guard isDue else { return false }
        note(nil, [24, Int64(effect.rawValue)], "\(node.name) is about to \(effect.name)")
        dying.append(node.index)
        node.state = .gone
        return true
    }

    // MARK: What strikes

    mutating func strike(_ upheaval: GroupScenario.Upheaval) throws(Broken) {
        guard !faultsAreOver else { return }
        let now = realMilliseconds
        switch upheaval {
        case .outage:
            try cutAll()
            let length = random.pick([500, 5_000, 20_000] as [Int64])
            storeWeather.downUntilMilliseconds = now + length
            note(nil, [25, length], "the store is out of reach")
            return
        case .refusal:
            let length = random.between(500, 30_000)
            storeWeather.refusesUntilMilliseconds = now + length
            let refusal = random.pick(StoreWeather.Refusal.allCases)
            storeWeather.refusal = refusal
            note(nil, [26], "the store refuses writes: \(refusal)")
            return
        case .slowness:
            let length = random.between(2_000, 30_000)
            storeWeather.slowUntilMilliseconds = now + length
            note(nil, [27], "the store is slow")
            return
        case .failOver: return try failOver()
        case .coordinatorOutage:
            let length: Int64 = random.pick([500, 5_000, 30_000])
            coordinatorDownUntilMilliseconds = now + length
            note(nil, [56, length], "the coordinator is out of reach")
            return
        case .join:
            if nodes.count(where: { $0.state != .gone }) < group.mostMembers { begin() }
            return
        case .crashAll:
            for node in nodes where node.state != .gone { try kill(node) }
            return
        case .crash, .pause, .stop, .connectionLost, .cutOff: break
        }
        let running = nodes.filter(\.isRunning)
        guard !running.isEmpty else { return }
        let node = random.pick(running)
        switch upheaval {
        case .pause:
            let milliseconds: Int64 = random.pick([500, 4_000, 9_000, 12_000, 30_000])
            switch random.below(4) {
            case 0: node.freezesOnHandMilliseconds = milliseconds
            case 1: node.freezesOnSaveMilliseconds = milliseconds
            default: freeze(node, forMilliseconds: milliseconds)
            }
        case .stop:
            guard !node.isStopping else { return }
            note(nil, [29, Int64(node.index)], "\(node.name) is told to end")
            node.isStopping = true
            node.member.stop(at: node.read(atMilliseconds: now))
            touch(node)
        case .connectionLost: try loseStore(node)
        case .cutOff:
            let length: Int64 = random.pick([2_000, 8_000, 20_000, 60_000])
            node.group.cutOffUntilMilliseconds = now + length
            note(nil, [57, Int64(node.index), length], "\(node.name) is cut off from the coordinator")
        default: node.doom = drawDoom()
        }
    }

    private mutating func drawDoom() -> Node.Doom {
        switch random.below(10) {
        case 0..<4: .afterEffects(random.below(25))
        case 4..<8:
            .before(random.pick(Effect.allCases), orAtMilliseconds: realMilliseconds + random.between(100, 20_000))
        default: .onceAStartHasLeft
        }
    }

    /// Connections to the store end for all.
    private mutating func cutAll() throws(Broken) {
        for node in nodes where node.state != .gone {
            if node.isRunning {
                try loseStore(node)
            } else {
                try decideUnderWay(node)
                for place in node.asks.indices { node.asks[place].answer = .failed(.unavailable) }
            }
        }
    }

    /// The store comes back as it was some writes ago.
    private mutating func failOver() throws(Broken) {
        try cutAll()
        let length = random.between(500, 5_000)
        storeWeather.downUntilMilliseconds = realMilliseconds + length
        let recent = storeHistory.filter { $0.atMilliseconds > realMilliseconds - GroupWorld.lagMilliseconds }
        guard !recent.isEmpty else { return }
        let lost = 1 + random.below(recent.count)
        store = recent[recent.count - lost].before
        storeHistory = []
        referee.hasLostWrites = true
        note(nil, [34, Int64(lost)], "the store fails over and has lost \(lost) writes")
    }

    mutating func stepWall(byMilliseconds milliseconds: Int64) {
        let running = nodes.filter { $0.state != .gone }
        guard !running.isEmpty else { return }
        let node = random.pick(running)
        let error = node.clocks.wallErrorMilliseconds + milliseconds
        if abs(error) <= group.clockSpreadMilliseconds / 2 { node.clocks.stepWall(byMilliseconds: milliseconds) }
    }

    /// From now on all is well; but it may begin with the end of all members.
    mutating func endFaults() throws(Broken) {
        endProviderFaults()
        storeWeather = StoreWeather()
        coordinatorDownUntilMilliseconds = min(coordinatorDownUntilMilliseconds, realMilliseconds)
        for node in nodes {
            node.group.cutOffUntilMilliseconds = min(node.group.cutOffUntilMilliseconds, realMilliseconds)
            node.doom = nil
            node.freezesOnHandMilliseconds = nil
            node.freezesOnSaveMilliseconds = nil
        }
        if !group.upheavals.isEmpty, random.chance(percent: 50) {
            for node in nodes where node.state != .gone { try kill(node) }
        }
        planBeginIfAlone()
        agenda.plan(.group(.judge), atMilliseconds: realMilliseconds + 1_000)
    }
}
