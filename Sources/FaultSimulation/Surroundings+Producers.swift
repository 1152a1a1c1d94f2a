import Telemetry

extension Surroundings {
    /// The truth takes it over, and what it tells of phones.
    mutating func learn(_ event: SimulatedEvent, nowMilliseconds now: Int64) {
        if event.isForSubject {
            if event.kind == .position { subjectPositions[event.name] = (event.position, event.timestampMilliseconds) }
            for activity in rides.indices where rides[activity].truth.subject == event.name {
                learn(event, of: activity, nowMilliseconds: now)
            }
        } else {
            learn(event, of: event.name, nowMilliseconds: now)
        }
    }

    private mutating func learn(_ event: SimulatedEvent, of activity: Int, nowMilliseconds now: Int64) {
        let phase = rides[activity].truth.phase
        let life = rides[activity].truth.life
        let situation = rides[activity].situation
        let starts = rides[activity].truth.starts
        let subject = event.detail?.follows.flatMap { script.names.texts.firstIndex(of: $0) }
        // Where a subject was before anyone followed it, a new owner has no record of.
        let known = scenario.isForGroup ? nil : subject.flatMap { subjectPositions[$0] }
        let beginning = rides[activity].truth.apply(
            event, nowMilliseconds: now, life: lifeLimitMilliseconds,
            subjectPosition: known, subject: subject)
        let truth = rides[activity].truth
        if truth.starts > starts,
            let replaced = event.detail?.replaces.flatMap({ script.names.texts.firstIndex(of: $0) })
        {
            if rides[replaced].truth.phase == .alive { coverage[.replaced, rides[replaced].situation] += 1 }
            rides[replaced].truth.replaced()
        }
        if truth.life > max(1, life) { coverage[.restarted, situation] += 1 }
        if truth.life > life {
            rides[activity].wasRefused = false
            rides[activity].isHeld = false
            rides[activity].told = nil
            // What was put off was of the card before.
            rides[activity].hold = nil
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

    mutating func rotateToken(of activity: Int) {
        let life = rides[activity].truth.life
        guard let card = rides[activity].cards[life], !card.isEnded, let old = card.token else { return }
        cover(.tokenRotated, activity)
        let stale = random.pick([.delivered, .swallowed, .gone] as [TokenRecord.Stale])
        provider.tokens[old]?.stale = stale
        report(newToken(), of: activity, life: life)
        if scenario.tokens != nil { muddle(old, of: activity, life: life) }
    }

    /// What comes of the old token beside the new one: its report once more, too late; or that it is none any more.
    private mutating func muddle(_ old: PushToken, of activity: Int, life: Int) {
        guard let registered = provider.tokens[old]?.registeredAtMilliseconds else { return }
        let at = realMilliseconds + random.between(0, 25_000)
        let named: StartTarget = random.chance(percent: 50) ? .updateToken(old) : .none
        let isLate = random.chance(percent: 50)
        cover(isLate ? .reportedLate : .tokenTakenBack, activity)
        let detail = isLate ? EventDetail(target: .updateToken(old)) : EventDetail(target: named, isRevoked: true)
        agenda.plan(
            .report(
                SimulatedEvent(
                    kind: .token, name: activity, timestampMilliseconds: registered,
                    identifierHash: random.next() | 1, detail: detail), life: life), atMilliseconds: at)
    }

    mutating func newToken() -> PushToken {
        tokensReported += 1
        return PushToken(number: tokensReported)
    }

    /// From now on the card listens to the token; the app's back end says so a little later, in the order of its tokens.
    mutating func report(_ token: PushToken, of activity: Int, life: Int) {
        let before = rides[activity].cards[life]?.token.flatMap { provider.tokens[$0]?.registeredAtMilliseconds }
        rides[activity].cards[life]?.listen(to: token)
        let at = max(
            realMilliseconds + random.between(0, 12_000), rides[activity].lastReportMilliseconds + 1)
        rides[activity].lastReportMilliseconds = at
        // Producers' clocks differ, but an app that reports another token says so later than of the last one.
        let unix = max(unixMilliseconds, before.map { $0 + 1 } ?? .min)
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
