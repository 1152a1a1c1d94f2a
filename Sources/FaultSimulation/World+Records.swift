import Flow
import Pacing
import Telemetry

extension World {
    mutating func apply(_ event: SimulatedEvent) throws(Broken) {
        var event = event
        concerned = event.isForSubject ? nil : event.name
        let moment = clocks.read()
        fireBefore(moment)
        let partition = event.isForSubject ? 0 : rides[event.name].partition
        let offset = offset(of: event, partition)
        let before = totals
        let record = Event(
            kind: event.kind, isForSubject: event.isForSubject, identifier: script.names[event.name],
            timestampMilliseconds: event.timestampMilliseconds, eventIdentifierHash: event.identifierHash,
            position: event.position, detail: event.detail)
        if event.nature == .truth { event = learn(event, moment) } else { meetNoise(event) }
        let faults = lane.apply(record, partition: partition, offset: offset, at: moment)
        if let fault = faults.faults.first {
            throw Broken(.pushIsGood, "a good record is a dead letter: \(fault)")
        }
        try checkDecision(of: event, before)
        hasNews = true
        let isWaiting = pending > before.reduce(0) { $0 + $1.pending }
        let concerned =
            event.isForSubject ? rides.indices.filter { rides[$0].truth.subject == event.name } : [event.name]
        for activity in concerned {
            if isWaiting { rides[activity].isHeld = true }
            note(
                activity,
                [Int64(event.kind.rawValue), offset, event.timestampMilliseconds, Int64(truncatingIfNeeded: pending)],
                "record \(offset): \(event.kind)\(event.nature == .truth ? "" : " (\(event.nature))") \(event.summary)")
        }
    }

    /// Timers that were due before a record's time fire before it.
    private mutating func fireBefore(_ moment: Moment) {
        guard let due = lane.nextPacingDueMilliseconds, due < moment.pacing.nowMilliseconds else { return }
        var earlier = moment
        earlier.pacing.nowMilliseconds -= 1
        earlier.pacing.wallMilliseconds -= 1
        lane.fire(at: earlier)
    }

    private mutating func offset(of event: SimulatedEvent, _ partition: Int32) -> Int64 {
        if event.isRedelivery, let offset = offsets[event.identifierHash] { return offset }
        let offset = nextOffset[Int(partition)]
        nextOffset[Int(partition)] += 1
        if offsets[event.identifierHash] == nil { offsets[event.identifierHash] = offset }
        return offset
    }

    private var totals: [DecisionCounts] { lane.eachShard.map(\.decisions) }

    /// The truth takes it over, and what it tells of phones.
    private mutating func learn(_ event: SimulatedEvent, _ moment: Moment) -> SimulatedEvent {
        if event.isForSubject {
            if event.kind == .position { subjectPositions[event.name] = (event.position, event.timestampMilliseconds) }
            for activity in rides.indices where rides[activity].truth.subject == event.name {
                learn(event, of: activity, moment)
            }
        } else {
            learn(event, of: event.name, moment)
        }
        return event
    }

    private mutating func learn(_ event: SimulatedEvent, of activity: Int, _ moment: Moment) {
        let phase = rides[activity].truth.phase
        let life = rides[activity].truth.life
        let situation = rides[activity].situation
        let subject = event.detail?.follows.flatMap { script.names.texts.firstIndex(of: $0) }
        let beginning = rides[activity].truth.apply(
            event, nowMilliseconds: moment.pacing.nowMilliseconds, life: lifeLimitMilliseconds,
            subjectPosition: subject.flatMap { subjectPositions[$0] }, subject: subject)
        let truth = rides[activity].truth
        if truth.life > max(1, life) { coverage[.restarted, situation] += 1 }
        if truth.life > life {
            rides[activity].wasRefused = false
            rides[activity].isHeld = false
            rides[activity].told = nil
        }
        if phase == .alive, truth.phase == .ended, event.kind == .activityEnded {
            coverage[.endedWhileUnderWay, situation] += 1
        }
        if case .onPhone(let token, let shown) = beginning {
            rides[activity].cards[truth.life] = Card(life: truth.life, token: token, shown: shown)
        }
        if let token = truth.startToken, provider.tokens[token] == nil {
            provider.tokens[token] = TokenRecord(
                activity: activity, life: truth.life, isStart: true,
                registeredAtMilliseconds: event.timestampMilliseconds)
        }
        guard let token = truth.token else { return }
        if rides[activity].cards[truth.life] == nil, truth.startToken == nil {
            rides[activity].cards[truth.life] = Card(life: truth.life, token: token, shown: ContentState())
        }
        if provider.tokens[token] == nil {
            provider.tokens[token] = TokenRecord(
                activity: activity, life: truth.life, isStart: false,
                registeredAtMilliseconds: event.timestampMilliseconds)
        }
    }

    private mutating func meetNoise(_ event: SimulatedEvent) {
        switch event.nature {
        case .truth: break
        case .replay: cover(event.isRedelivery ? .redelivered : .producedTwice, event.name)
        case .noise:
            let newest = rides[event.name].truth.positionTimestampMilliseconds
            cover(event.timestampMilliseconds < newest ? .late : .absurdPosition, event.name)
        }
    }

    private func checkDecision(of event: SimulatedEvent, _ before: [DecisionCounts]) throws(Broken) {
        guard event.nature != .truth else { return }
        let drops: [Decision] = [
            .afterEnd, .duplicate, .outOfOrder, .nullIsland, .inaccurate, .future, .tooOld, .implausible,
            .unknownActivity, .noFollower,
        ]
        for (earlier, now) in zip(before, totals) {
            let dropped = drops.reduce(0) { $0 + now[$1] - earlier[$1] }
            let held = event.nature == .noise ? Int64(now.pending) - Int64(earlier.pending) : 0
            let read = now.activityEvents - earlier.activityEvents
            // A position that is held aside takes the place of another one at most.
            if Int64(read) == Int64(dropped) + max(0, held) { continue }
            throw Broken(
                event.nature == .replay ? .replayChangesNothing : .noiseIsDropped,
                "\(event.kind) \(event.summary) was not dropped")
        }
    }

    mutating func rotateToken(of activity: Int) {
        let life = rides[activity].truth.life
        guard let card = rides[activity].cards[life], !card.isEnded, let old = card.token else { return }
        cover(.tokenRotated, activity)
        provider.tokens[old]?.stale = random.pick([.delivered, .swallowed, .gone])
        report(newToken(), of: activity, life: life)
    }

    mutating func newToken() -> PushToken {
        tokensReported += 1
        return PushToken(number: tokensReported)
    }

    /// From now on the card listens to the token; the app's back end says so a little later, in the order of its tokens.
    mutating func report(_ token: PushToken, of activity: Int, life: Int) {
        rides[activity].cards[life]?.listen(to: token)
        let at = max(
            clocks.realMilliseconds + random.between(0, 12_000), rides[activity].lastReportMilliseconds + 1)
        rides[activity].lastReportMilliseconds = at
        let unix = clocks.unixMilliseconds
        provider.tokens[token] = TokenRecord(
            activity: activity, life: life, isStart: false, registeredAtMilliseconds: unix)
        note(activity, [1, at], "the phone listens to a new token, reported at \(at / 1_000) s")
        agenda.plan(
            .report(
                SimulatedEvent(
                    kind: .token, name: activity, timestampMilliseconds: unix, identifierHash: random.next() | 1,
                    detail: EventDetail(target: .updateToken(token))), life: life), atMilliseconds: at)
    }
}

extension SimulatedEvent {
    /// For people.
    var summary: String {
        var parts: [String] = []
        if kind == .position {
            parts.append("\(position.coordinate.latitude), \(position.coordinate.longitude)")
        }
        for member in detail?.contentState?.members ?? [] {
            switch member.value {
            case .string(let text): parts.append("\(member.name)=\(text)")
            case .number(let number): parts.append("\(member.name)=\(number.text)")
            case .null: parts.append("\(member.name)=null")
            default: parts.append("\(member.name)=…")
            }
        }
        if detail?.alert != nil { parts.append("alert") }
        switch detail?.target ?? .none {
        case .updateToken: parts.append("update token")
        case .startToken: parts.append("start token")
        default: break
        }
        return parts.joined(separator: " ")
    }
}
