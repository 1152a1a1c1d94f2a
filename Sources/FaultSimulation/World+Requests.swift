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
        pushCount += 1
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
            update, payload, CollectionOfOne(rides[activity].truth), leaves: !isUnsent, moment.pacing)
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
        var request = Request(
            dispatch: dispatch, link: dispatch.link, activity: activity, payload: payload,
            life: life(of: update, activity), fault: drawFault())
        if isUnsent {
            request.outcome = .unsent
            requests[dispatch.identifier] = request
            agenda.plan(
                .answer(request: dispatch.identifier), atMilliseconds: moment.realMilliseconds + random.between(1, 20))
            return
        }
        try checkStart(update, activity)
        rides[activity].truth.left(
            update.kind, nowMilliseconds: moment.pacing.nowMilliseconds,
            life: lifeLimitMilliseconds)
        requests[dispatch.identifier] = request
        agenda.plan(
            .arrive(request: dispatch.identifier), atMilliseconds: moment.realMilliseconds + random.between(5, 60))
        strikeConnection(of: request, link: dispatch.link)
    }

    mutating func arrive(_ identifier: UInt64) throws(Broken) {
        guard var request = requests[identifier] else { return }
        concerned = request.activity
        let answersAt = try meetProvider(&request)
        requests[identifier] = request
        agenda.plan(.answer(request: identifier), atMilliseconds: answersAt)
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
        if completion.fate == .orphaned {
            throw Broken(.creditsComeBack, "a lane that owns its partitions for ever calls an answer orphaned")
        }
        hear(completion, of: request)
        rides[activity].requests.removeAll { $0 == identifier }
    }
}
