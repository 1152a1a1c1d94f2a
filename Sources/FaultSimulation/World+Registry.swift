import Flow
import Pacing
import Telemetry

extension World {
    mutating func planRegistrations() {
        guard let tokens = scenario.tokens else { return }
        for time in tokens.registrationMilliseconds {
            agenda.plan(.registerStartToken, atMilliseconds: clocks.realMilliseconds(ofRecording: time))
        }
    }

    /// The phone has another start token; the one before dies, or the provider takes what goes there as if it lived.
    mutating func registerStartToken() {
        let token = newToken()
        let now = unixMilliseconds
        if let before = registry.startToken?.token, random.chance(percent: 50) {
            provider.tokens[before]?.goneAtMilliseconds = now
        }
        note(nil, [50], "the phone has another start token")
        provider.tokens[token] = TokenRecord(
            activity: 0, life: 0, isStart: true, registeredAtMilliseconds: now)
        registry.register(token, atMilliseconds: now)
    }

    /// The lane's questions go on their way.
    mutating func askRegistry(_ moment: Moment) throws(Broken) {
        guard let tokens = scenario.tokens else { return }
        for (identifier, request) in lane.takeRegistryRequests(at: moment) {
            if let broken = registry.fault(in: request, tokens.budget) { throw broken }
            registryRequests[identifier] = request
            let wait = random.between(tokens.answerMilliseconds.lowerBound, tokens.answerMilliseconds.upperBound)
            agenda.plan(.registry(identifier), atMilliseconds: realMilliseconds + wait)
        }
    }

    mutating func answerRegistry(_ identifier: UInt64) {
        guard let request = registryRequests.removeValue(forKey: identifier), let tokens = scenario.tokens else {
            return
        }
        let moment = clocks.read()
        hasNews = true
        if !faultsAreOver, random.chance(percent: tokens.failurePercent) {
            // It may have done it all the same.
            if request.changesSomething, random.chance(percent: 50) {
                _ = registry.answer(request, unixMilliseconds: moment.pacing.wallMilliseconds)
            }
            lane.answer(identifier, .failed(.unavailable), at: moment)
            return
        }
        let answer = registry.answer(request, unixMilliseconds: moment.pacing.wallMilliseconds)
        if case .begun(let kept?) = answer { learn(kept, of: request) }
        note(nil, [51, Int64(identifier)], "the registry answers \(request.summary): \(answer.summary)")
        lane.answer(identifier, answer, at: moment)
    }

    /// The app of a card that nobody has published reports its token, and the API finds no activity: it is kept.
    mutating func keepToken(of activity: Int) {
        guard rides[activity].truth.phase == .unknown else { return }
        registry.kept[Array(script.names[activity])] = KeptToken(
            token: newToken(), registeredAtMilliseconds: unixMilliseconds, frequentUpdates: nil)
    }

    private mutating func learn(_ kept: KeptToken, of request: RegistryRequest) {
        guard case .begin(let identifier, _) = request,
            let activity = script.names.texts.firstIndex(of: String(decoding: identifier, as: UTF8.self)),
            rides[activity].truth.takeKept(kept.token, registeredAtMilliseconds: kept.registeredAtMilliseconds)
        else { return }
        let life = rides[activity].truth.life
        provider.tokens[kept.token] = TokenRecord(
            activity: activity, life: life, isStart: false,
            registeredAtMilliseconds: kept.registeredAtMilliseconds)
        if rides[activity].cards[life] == nil {
            rides[activity].cards[life] = Card(life: life, token: kept.token, shown: ContentState())
        }
    }

    /// A start leaves: it must have been counted, and be the first of its life.
    mutating func checkStart(_ update: Update, _ activity: Int) throws(Broken) {
        guard scenario.tokens != nil, update.kind == .start, case .startToken(let token) = update.target else { return }
        rides[activity].startedLives[token, default: []].insert(rides[activity].truth.life)
        let starts = rides[activity].startedLives[token, default: []].count
        guard registry.hasGranted(token, to: Array(script.names[activity]), starts: starts) else {
            throw Broken(.budgetHolds, "start \(update.sequence) leaves, and nobody has counted it")
        }
    }
}

extension RegistryRequest {
    fileprivate var changesSomething: Bool {
        switch self {
        case .takeStart, .forgetStartToken: true
        case .begin, .end, .startToken: false
        }
    }

    /// For people.
    var summary: String {
        switch self {
        case .begin(let activity, let place):
            "begin \(String(decoding: activity, as: UTF8.self)) under \(String(decoding: place.key, as: UTF8.self))"
        case .end(let activity, let kept): "end \(String(decoding: activity, as: UTF8.self)), kept \(kept) ms"
        case .startToken(let user, _): "start token of \(user)"
        case .takeStart(_, _, let start, _):
            "take start \(start.life) of \(String(decoding: start.activity, as: UTF8.self))"
        case .forgetStartToken(let user, _, _, _): "forget the start token of \(user)"
        }
    }
}

extension RegistryAnswer {
    /// For people.
    var summary: String {
        switch self {
        case .begun(let kept): kept == nil ? "begun" : "begun, with a token"
        case .done: "done"
        case .startToken(let token): token == nil ? "none" : "one"
        case .startGranted: "granted"
        case .startDeferred(let until): "not before \(until)"
        case .failed(let failure): "failed, \(failure)"
        }
    }
}
