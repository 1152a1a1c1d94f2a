import Flow
import LiveActivities
import Pacing
import Telemetry

extension Surroundings {
    /// A start token that is a user's serves many activities and lives.
    func life(of update: Update, _ activity: Int) -> Int {
        guard let token = update.target.deviceToken, let record = provider.tokens[token], record.life > 0 else {
            return rides[activity].truth.life
        }
        return record.life
    }

    mutating func drawFault() -> Fault? {
        guard !faultsAreOver, random.chance(percent: scenario.faultPercent), !scenario.requestFaults.isEmpty else {
            return nil
        }
        return random.pick(scenario.requestFaults)
    }

    /// What takes all requests of a connection strikes before or after the provider has this one.
    mutating func strikeConnection(of request: Request, link: Int) {
        let change: Weather.Change
        switch request.fault {
        case .connectionLost?: change = .connectionLost(link: link)
        case .goAwayProcessed?, .goAwayNotProcessed?: change = .goAway(link: link)
        default: return
        }
        agenda.plan(.weather(change), atMilliseconds: realMilliseconds + random.between(1, 120))
    }

    mutating func strikes(_ fault: Fault, percent: Int) -> Bool {
        !faultsAreOver && scenario.faults.contains(fault) && random.chance(percent: percent)
    }

    // MARK: At the provider

    /// A request is at the provider.
    ///
    /// - Returns: when its answer is back, on the real clock.
    mutating func meetProvider(_ request: inout Request) throws(Broken) -> Int64 {
        let now = realMilliseconds
        var answersAt =
            now + random.between(scenario.answerMilliseconds.lowerBound, scenario.answerMilliseconds.upperBound)
        switch provider.judge(request, unixMilliseconds: unixMilliseconds, realMilliseconds: now) {
        case .answered(let answer, let fault):
            cover(fault, request.activity)
            request.outcome = .answered(answer, providerTokenAgeSeconds: random.between(0, 4_000))
            if fault == .gone || fault == .goneWithoutTime { revive(request) }
        case .notProcessed(let fault):
            cover(fault, request.activity)
            request.outcome = .signalled(random.chance(percent: 80) ? .refusedStream : .connectFailed)
        case .neverArrived:
            cover(.neverArrived, request.activity)
            request.outcome = .signalled(unknownSignal())
            answersAt = now + random.between(100, 8_000)
        case .accepted:
            try take(&request)
            request.outcome = .answered(ProviderAnswer(status: 200), providerTokenAgeSeconds: 0)
            if request.fault == .acceptedLate {
                cover(.acceptedLate, request.activity)
                answersAt = now + random.between(1_000, 7_900)
            } else if request.fault == .answerLost {
                cover(.answerLost, request.activity)
                request.outcome = .signalled(unknownSignal())
                answersAt = now + random.between(100, 8_000)
            }
        }
        return answersAt
    }

    private mutating func unknownSignal() -> ConnectionSignal {
        random.pick([
            .timedOut, .streamReset(errorCode: 2), .connectionLost, .pingUnanswered, .malformedAnswer,
            .closedAfterGoAway,
        ])
    }

    /// The provider has it: it will reach the phone, whatever the sender hears of it.
    private mutating func take(_ request: inout Request) throws(Broken) {
        request.isTaken = true
        let activity = request.activity
        guard let token = request.dispatch.headers?.token, let record = provider.tokens[token] else { return }
        if record.isStart != (request.payload.event == "start") {
            throw Broken(.pushIsGood, "\(request.payload.event) goes to a token of the other kind")
        }
        note(activity, [3, request.payload.sequence], "the provider takes \(request.payload.sequence)")
        rides[activity].truth.alerted(request.dispatch.update.alert)
        if record.stale == .swallowed { return }
        var delay = random.between(5, 50)
        if strikes(.deliveryReordered, percent: 30) {
            cover(.deliveryReordered, activity)
            delay = random.between(1_000, 40_000)
        }
        agenda.plan(
            .deliver(
                Delivery(
                    activity: activity, token: token, payload: request.payload, life: request.life,
                    attempt: request.dispatch.update.attempt)), atMilliseconds: realMilliseconds + delay)
    }

    /// An app whose token has died may report another one.
    private mutating func revive(_ request: Request) {
        guard let token = request.dispatch.headers?.token, let record = provider.tokens[token], !record.isStart,
            rides[request.activity].cards[record.life]?.token == token, random.chance(percent: 50)
        else { return }
        report(newToken(), of: request.activity, life: record.life)
    }

    // MARK: The answer

    mutating func hear(_ completion: Completion, of request: Request) {
        let activity = request.activity
        let update = completion.update
        note(
            activity, [4, Int64(update.sequence)],
            "answer for \(update.sequence): \(completion.fate)\(completion.reason.map { " \($0.name)" } ?? "")")
        let isOfThisLife = request.life == rides[activity].truth.life
        switch completion.fate {
        case .accepted:
            if isOfThisLife {
                rides[activity].wasRefused = false
                rides[activity].told = request.payload
            }
        case .refused:
            if isOfThisLife {
                rides[activity].wasRefused = true
                rides[activity].truth.alerted(update.alert)
            }
        case .targetGone:
            if let token = update.target.deviceToken { rides[activity].truth.forget(token) }
            if scenario.tokens != nil, isOfThisLife, rides[activity].told == nil, !rides[activity].wasRefused {
                rides[activity].truth.firstWasForNobody()
            }
            rides[activity].isHeld = true
        case .held(let milliseconds):
            rides[activity].waitsForRetry = true
            rides[activity].hold = (
                update.target, update.sequence, completion.reason == .tooManyRequests,
                realMilliseconds + milliseconds
            )
        case .sendAgain:
            rides[activity].waitsForRetry = true
        case .startUnknown, .unsent, .orphaned:
            rides[activity].isHeld = true
        }
        if case .unsent = completion.fate, update.attempt > 1 { rides[activity].waitsForRetry = true }
    }

    // MARK: At the phone

    mutating func deliver(_ delivery: Delivery) throws(Broken) {
        let life = delivery.life
        let activity = delivery.activity
        concerned = activity
        let payload = delivery.payload
        if payload.event == "start" {
            if rides[activity].cards[life] != nil {
                guard storeKeepsWrites else { return }
                throw Broken(.oneCard, "start \(payload.sequence) shows a second card")
            }
            var card = Card(life: life, token: nil, shown: ContentState())
            _ = card.receive(payload)
            rides[activity].cards[life] = card
            note(activity, [5, payload.sequence], "a card appears with \(payload.sequence)")
            if random.chance(percent: 85) { report(newToken(), of: activity, life: life) }
            return
        }
        guard var card = rides[activity].cards[life] else {
            throw Broken(.pushIsGood, "\(payload.event) \(payload.sequence) reaches a phone without a card")
        }
        switch card.receive(payload) {
        case .failure(let broken): if storeKeepsWrites { throw broken }
        case .success(let verdict):
            rides[activity].cards[life] = card
            note(activity, [6, payload.sequence], "the phone gets \(payload.sequence): \(verdict)")
        }
    }
}
