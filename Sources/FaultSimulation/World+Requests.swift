import Flow
import LiveActivities
import Pacing
import Telemetry

extension World {
    /// A push leaves the lane: the judge looks at it, and it goes on its way.
    mutating func send(_ dispatch: Dispatch, _ body: ByteBuffer, _ moment: Moment) throws(Broken) {
        let update = dispatch.update
        guard let activity = script.names.texts.firstIndex(of: update.activityIdentifier) else {
            throw Broken(.pushIsGood, "a push for \(update.activityIdentifier), which nobody knows")
        }
        concerned = activity
        guard let payload = Payload(body) else { throw Broken(.pushIsGood, "a phone cannot read \(body.text)") }
        let open = requests.values.count { $0.dispatch.link == dispatch.link }
        if open >= toldStreams[dispatch.link] {
            throw Broken(.creditsComeBack, "link \(dispatch.link) has \(open) streams in use and gets another push")
        }
        pushes += 1
        let isUnsent = open >= trueStreams[dispatch.link] || strikes(.unsent, percent: 8)
        note(
            activity,
            [
                2, Int64(update.sequence), update.timestampSeconds, Int64(update.attempt), Int64(dispatch.link),
                Int64(update.priority), isUnsent ? 1 : 0,
            ],
            "\(update.kind) \(update.sequence) attempt \(update.attempt) leaves: \(update.reasons.names.joined(separator: ", ")), timestamp \(update.timestampSeconds)\(isUnsent ? ", to come back unsent" : "")"
        )
        if !rides[activity].requests.isEmpty {
            throw Broken(.oneInFlight, "\(update.kind) \(update.sequence) leaves while another one is in flight")
        }
        if let broken = rides[activity].ledger.take(
            update, payload, rides[activity].truth, leaves: !isUnsent, moment.pacing)
        {
            throw broken
        }
        if let hold = rides[activity].hold, moment.realMilliseconds < hold.untilMilliseconds,
            hold.target == update.target,
            hold.holdsNewer || hold.sequence == update.sequence
        {
            throw Broken(
                .holdsAreKept,
                "\(update.kind) \(update.sequence) leaves \(hold.untilMilliseconds - moment.realMilliseconds) ms before its time"
            )
        }
        rides[activity].requests.append(dispatch.identifier)
        rides[activity].waitsForRetry = false
        rides[activity].isEndUnderWay = update.kind == .end
        if update.attempt == 1 { rides[activity].isHeld = false }
        var request = Request(dispatch: dispatch, activity: activity, payload: payload, fault: drawFault())
        if isUnsent {
            request.outcome = .unsent
            requests[dispatch.identifier] = request
            agenda.plan(
                .answer(request: dispatch.identifier), atMilliseconds: moment.realMilliseconds + random.between(1, 20))
            return
        }
        rides[activity].truth.left(
            update.kind, nowMilliseconds: moment.pacing.nowMilliseconds,
            life: lifeLimitMilliseconds)
        requests[dispatch.identifier] = request
        agenda.plan(
            .arrive(request: dispatch.identifier), atMilliseconds: moment.realMilliseconds + random.between(5, 60))
        strikeConnection(of: request, moment.realMilliseconds)
    }

    private mutating func drawFault() -> Fault? {
        guard !faultsAreOver, random.chance(percent: scenario.faultPercent), !scenario.requestFaults.isEmpty else {
            return nil
        }
        return random.pick(scenario.requestFaults)
    }

    /// What takes all requests of a connection strikes before or after the provider has this one.
    private mutating func strikeConnection(of request: Request, _ now: Int64) {
        let change: Weather.Change
        switch request.fault {
        case .connectionLost?: change = .connectionLost(link: request.dispatch.link)
        case .goAwayProcessed?, .goAwayNotProcessed?: change = .goAway(link: request.dispatch.link)
        default: return
        }
        agenda.plan(.weather(change), atMilliseconds: now + random.between(1, 120))
    }

    mutating func strikes(_ fault: Fault, percent: Int) -> Bool {
        !faultsAreOver && scenario.faults.contains(fault) && random.chance(percent: percent)
    }

    // MARK: At the provider

    mutating func arrive(_ identifier: UInt64) throws(Broken) {
        guard var request = requests[identifier] else { return }
        concerned = request.activity
        let now = clocks.realMilliseconds
        var answersAt =
            now + random.between(scenario.answerMilliseconds.lowerBound, scenario.answerMilliseconds.upperBound)
        switch provider.judge(request, unixMilliseconds: clocks.unixMilliseconds, realMilliseconds: now) {
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
        requests[identifier] = request
        agenda.plan(.answer(request: identifier), atMilliseconds: answersAt)
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
                    activity: activity, token: token, payload: request.payload,
                    attempt: request.dispatch.update.attempt)), atMilliseconds: clocks.realMilliseconds + delay)
    }

    /// An app whose token has died may report another one.
    private mutating func revive(_ request: Request) {
        guard let token = request.dispatch.headers?.token, let record = provider.tokens[token], !record.isStart,
            rides[request.activity].cards[record.life]?.token == token, random.chance(percent: 50)
        else { return }
        report(newToken(), of: request.activity, life: record.life)
    }

    // MARK: The answer

    mutating func answer(_ identifier: UInt64) throws(Broken) {
        guard let request = requests[identifier], let outcome = request.outcome else { return }
        try complete(identifier, outcome)
        // A worker that reports twice must do no harm.
        if random.chance(percent: 3), lane.complete(identifier, outcome, at: clocks.read()) != nil {
            throw Broken(.creditsComeBack, "a dispatch was completed twice")
        }
    }

    mutating func complete(_ identifier: UInt64, _ outcome: DispatchOutcome) throws(Broken) {
        guard let request = requests.removeValue(forKey: identifier) else { return }
        hasNews = true
        let activity = request.activity
        concerned = activity
        if case .unsent = outcome { cover(.unsent, activity) }
        guard let completion = lane.complete(identifier, outcome, at: clocks.read()) else {
            throw Broken(.creditsComeBack, "the lane does not know dispatch \(identifier)")
        }
        let update = completion.update
        note(
            activity, [4, Int64(update.sequence)],
            "answer for \(update.sequence): \(completion.fate)\(completion.reason.map { " \($0.name)" } ?? "")")
        rides[activity].requests.removeAll { $0 == identifier }
        let isOfThisLife = isNewest(update, activity)
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
            rides[activity].isHeld = true
        case .held(let milliseconds):
            rides[activity].waitsForRetry = true
            rides[activity].hold = (
                update.target, update.sequence, completion.reason == .tooManyRequests,
                clocks.realMilliseconds + milliseconds
            )
        case .sendAgain:
            rides[activity].waitsForRetry = true
        case .startUnknown, .unsent:
            rides[activity].isHeld = true
        case .orphaned:
            throw Broken(.creditsComeBack, "a lane that owns its partitions for ever calls an answer orphaned")
        }
        if case .unsent = completion.fate, update.attempt > 1 { rides[activity].waitsForRetry = true }
    }

    /// Whether an answer speaks of the life that goes on.
    private func isNewest(_ update: Update, _ activity: Int) -> Bool {
        guard let token = update.target.deviceToken, let record = provider.tokens[token] else { return false }
        return record.life == rides[activity].truth.life
    }

    // MARK: At the phone

    mutating func deliver(_ delivery: Delivery) throws(Broken) {
        guard let record = provider.tokens[delivery.token] else { return }
        let activity = delivery.activity
        concerned = activity
        let payload = delivery.payload
        if payload.event == "start" {
            if rides[activity].cards[record.life] != nil {
                throw Broken(.oneCard, "start \(payload.sequence) shows a second card")
            }
            var card = Card(life: record.life, token: nil, shown: ContentState())
            _ = card.receive(payload)
            rides[activity].cards[record.life] = card
            note(activity, [5, payload.sequence], "a card appears with \(payload.sequence)")
            if random.chance(percent: 85) { report(newToken(), of: activity, life: record.life) }
            return
        }
        guard var card = rides[activity].cards[record.life] else {
            throw Broken(.pushIsGood, "\(payload.event) \(payload.sequence) reaches a phone without a card")
        }
        switch card.receive(payload) {
        case .failure(let broken): throw broken
        case .success(let verdict):
            rides[activity].cards[record.life] = card
            note(activity, [6, payload.sequence], "the phone gets \(payload.sequence): \(verdict)")
        }
    }
}
