import Flow
import LiveActivities

extension Surroundings {
    /// What strikes connections, pools and clocks while records come.
    mutating func planWeather(until end: Int64) {
        guard scenario.faultPercent > 0 else { return }
        planSteps(until: end)
        let changes = random.below(8)
        for _ in 0..<changes {
            let at = random.between(0, end)
            let length = random.between(2_000, max(3_000, min(120_000, end / 4)))
            let link = random.below(toldStreams.count)
            let fault = random.pick(
                [
                    .serverErrorForAll, .credentialRefused, .throttled, .streamLimitOne, .streamLimitZero,
                ] as [Fault])
            guard scenario.faults.contains(fault) else { continue }
            switch fault {
            case .serverErrorForAll: agenda.plan(.weather(.serverSick(forMilliseconds: length)), atMilliseconds: at)
            case .credentialRefused:
                agenda.plan(.weather(.credentialRefused(forMilliseconds: length)), atMilliseconds: at)
            case .throttled:
                agenda.plan(
                    .weather(.throttled(activity: random.below(rides.count), forMilliseconds: length)),
                    atMilliseconds: at)
            default:
                agenda.plan(.streams(fault == .streamLimitOne ? 1 : 0, link: link), atMilliseconds: at)
                agenda.plan(.streams(scenario.streamsPerLink, link: link), atMilliseconds: at + length)
            }
        }
    }

    private mutating func planSteps(until end: Int64) {
        guard scenario.longestStepMilliseconds > 0 else { return }
        for _ in 0..<1 + random.below(4) {
            let fault = random.pick([.clockForward, .clockBack] as [Fault])
            guard scenario.faults.contains(fault) else { continue }
            let step = random.between(1, scenario.longestStepMilliseconds)
            agenda.plan(
                .stepClock(milliseconds: fault == .clockForward ? step : -step), atMilliseconds: random.between(0, end))
        }
    }

    mutating func turn(_ change: Weather.Change) throws(Broken) {
        guard !faultsAreOver else { return }
        let now = realMilliseconds
        switch change {
        case .serverSick(let milliseconds):
            note(nil, [10, milliseconds], "the provider answers 503 for \(milliseconds / 1_000) s")
            provider.weather.serverSickUntil = now + milliseconds
        case .credentialRefused(let milliseconds):
            note(nil, [11, milliseconds], "the provider refuses the credential for \(milliseconds / 1_000) s")
            provider.weather.credentialRefusedUntil = now + milliseconds
        case .throttled(let activity, let milliseconds):
            note(activity, [12, milliseconds], "the provider answers 429 for \(milliseconds / 1_000) s")
            provider.weather.throttledUntil[activity] = now + milliseconds
        case .connectionLost(let link): try loseConnection(link)
        case .goAway(let link): try goAway(link)
        }
    }

    /// Every request on it is in the dark.
    private mutating func loseConnection(_ link: Int) throws(Broken) {
        note(nil, [13, Int64(link)], "link \(link) loses its connection")
        for (identifier, request) in onLink(link) {
            cover(.connectionLost, request.activity)
            try complete(identifier, .signalled(.connectionLost))
        }
    }

    /// Above the last stream nothing was processed; below, answers still come, or the connection closes before.
    private mutating func goAway(_ link: Int) throws(Broken) {
        let open = onLink(link)
        let processed = random.below(open.count + 1)
        note(
            nil, [14, Int64(link), Int64(processed)], "link \(link) gets a GOAWAY after \(processed) of \(open.count)")
        let closes = random.chance(percent: 50)
        for (place, (identifier, request)) in open.enumerated() {
            if place >= processed, !request.isTaken {
                cover(.goAwayNotProcessed, request.activity)
                try complete(identifier, .signalled(.notProcessed))
            } else if closes {
                cover(.goAwayProcessed, request.activity)
                try complete(identifier, .signalled(.closedAfterGoAway))
            }
        }
    }

    private func onLink(_ link: Int) -> [(UInt64, Request)] {
        requests.filter {
            if case .unsent? = $0.value.outcome { return false }
            return $0.value.link == link
        }.sorted { $0.key < $1.key }
    }

    /// The limit falls or rises; the lane hears of it a moment later.
    mutating func setStreams(_ streams: Int, link: Int) {
        if trueStreams[link] != streams {
            trueStreams[link] = streams
            for activity in rides.indices where streams < scenario.streamsPerLink {
                cover(streams == 0 ? .streamLimitZero : .streamLimitOne, activity)
            }
            note(nil, [15, Int64(link), Int64(streams)], "link \(link) has \(streams) streams")
            agenda.plan(
                .streams(streams, link: link), atMilliseconds: realMilliseconds + random.between(1, 30))
            return
        }
        toldStreams[link] = streams
        tell(streams: streams, link: link)
    }

    mutating func stepClock(_ milliseconds: Int64) {
        note(nil, [16, milliseconds], "the wall clock is stepped by \(milliseconds) ms")
        stepWall(byMilliseconds: milliseconds)
        for activity in rides.indices { cover(milliseconds > 0 ? .clockForward : .clockBack, activity) }
    }

    /// From now on all is well at the provider and on the way to it.
    mutating func endProviderFaults() {
        note(nil, [17], "the faults are over")
        faultsAreOver = true
        provider.weather = Weather()
        for link in toldStreams.indices { setStreams(scenario.streamsPerLink, link: link) }
    }
}
