import Flow
import LiveActivities
import Pacing
import Telemetry

extension GroupWorld {
    /// Of a push on its way: who sends it, as what, and what it must have known then.
    struct Push {
        let node: Int
        let dispatch: UInt64
        let partition: Int32
        let epoch: Epoch
        let knownOrder: Int
        let takenAtUnixMilliseconds: Int64
    }

    // MARK: At the member

    /// - Returns: whether something was handed to a worker.
    mutating func send(from node: Node, _ moment: Moment) throws(Broken) -> Bool {
        var hasSent = false
        while node.isRunning, let dispatch = node.lane.next(at: moment, body: &body) {
            hasSent = true
            if dies(node, before: .handed) { return true }
            try hand(dispatch, node)
        }
        return hasSent
    }

    private mutating func hand(_ dispatch: Dispatch, _ node: Node) throws(Broken) {
        let update = dispatch.update
        guard let activity = script.names.texts.firstIndex(of: update.activityIdentifier) else {
            throw Broken(.pushIsGood, "a push for \(update.activityIdentifier), which nobody knows")
        }
        concerned = activity
        guard let payload = Payload(body) else { throw Broken(.pushIsGood, "a phone cannot read \(body.text)") }
        let link = node.firstLink + dispatch.link
        let open = requests.values.count { $0.link == link }
        if open >= toldStreams[link] {
            throw Broken(.creditsComeBack, "link \(link) has \(open) streams in use and gets another push")
        }
        let identifier = takeIdentifier()
        var request = Request(
            dispatch: dispatch, link: link, activity: activity, payload: payload,
            life: life(of: update, activity), fault: drawFault())
        // Until it is submitted it can only come back unsent.
        request.outcome = .unsent
        requests[identifier] = request
        pushes[identifier] = Push(
            node: node.index, dispatch: dispatch.identifier, partition: dispatch.partition, epoch: dispatch.epoch,
            knownOrder: max(order(knownBy: node, Int(dispatch.partition)), referee.savedOrder(activity)),
            takenAtUnixMilliseconds: unixMilliseconds)
        note(
            activity, [2, Int64(node.index), Int64(update.sequence), Int64(update.attempt), update.timestampSeconds],
            "\(node.name) hands over \(update.kind) \(update.sequence) attempt \(update.attempt): \(update.reasons.names.joined(separator: ", "))"
        )
        if let milliseconds = node.freezesOnHandMilliseconds {
            node.freezesOnHandMilliseconds = nil
            freeze(node, forMilliseconds: milliseconds)
        }
        let wait = random.between(group.handOverMilliseconds.lowerBound, group.handOverMilliseconds.upperBound)
        if wait == 0 {
            try submit(identifier)
        } else {
            agenda.plan(.group(.submit(request: identifier)), atMilliseconds: realMilliseconds + wait)
        }
    }

    mutating func submit(_ identifier: UInt64) throws(Broken) {
        guard var request = requests[identifier], let push = pushes[identifier] else { return }
        let node = nodes[push.node]
        guard node.state != .gone else { return forget(identifier) }
        if isPut(off: .group(.submit(request: identifier)), by: node) { return }
        let moment = node.read(atMilliseconds: realMilliseconds)
        let activity = request.activity
        concerned = activity
        let mayLeave = node.lane.maySend(
            partition: push.partition, epoch: push.epoch, at: moment.realMilliseconds)
        if dies(node, before: mayLeave ? .left : .fenced) { return }
        let isUnsent = requests.values.count { $0.link == request.link && !$0.isUnsent } >= trueStreams[request.link]
        if !mayLeave || isUnsent || strikes(.unsent, percent: 8) {
            if !mayLeave { note(activity, [32, Int64(node.index)], "\(node.name) may not send \(request.sequence)") }
            agenda.plan(.answer(request: identifier), atMilliseconds: realMilliseconds + random.between(1, 20))
            return
        }
        request.outcome = nil
        pushCount += 1
        note(
            activity, [33, Int64(node.index), Int64(request.sequence), request.payload.timestampSeconds],
            "\(node.name) sends \(request.payload.event) \(request.sequence), timestamp \(request.payload.timestampSeconds)"
        )
        try referee.left(
            request, push, identifier, &rides[activity],
            storeRefuses: realMilliseconds < storeWeather.refusesUntilMilliseconds)
        rides[activity].requests.append(identifier)
        rides[activity].waitsForRetry = false
        rides[activity].isEndUnderWay = request.dispatch.update.kind == .end
        requests[identifier] = request
        if request.dispatch.update.kind == .start, case .onceAStartHasLeft? = node.doom {
            node.doom = .afterEffects(random.below(4))
        }
        agenda.plan(
            .arrive(request: identifier), atMilliseconds: realMilliseconds + random.between(5, 60))
        strikeConnection(of: request, link: request.link)
    }

    // MARK: The way there and back

    mutating func arrive(_ identifier: UInt64) throws(Broken) {
        guard var request = requests[identifier] else { return }
        concerned = request.activity
        let answersAt = try meetProvider(&request)
        if request.isTaken { try referee.taken(request, rides[request.activity]) }
        requests[identifier] = request
        agenda.plan(.answer(request: identifier), atMilliseconds: answersAt)
    }

    mutating func answer(_ identifier: UInt64) throws(Broken) {
        guard let request = requests[identifier], let outcome = request.outcome else { return }
        try complete(identifier, outcome)
    }

    mutating func complete(_ identifier: UInt64, _ outcome: DispatchOutcome) throws(Broken) {
        guard let request = requests[identifier], let push = pushes[identifier] else { return }
        let node = nodes[push.node]
        if case .paused(let until) = node.state {
            requests[identifier]?.outcome = outcome
            agenda.plan(.answer(request: identifier), atMilliseconds: until)
            return
        }
        forget(identifier)
        guard node.isRunning, !dies(node, before: .answered) else { return }
        let activity = request.activity
        concerned = activity
        if case .unsent = outcome { cover(.unsent, activity) }
        guard
            let completion = node.lane.complete(
                push.dispatch, outcome, at: node.read(atMilliseconds: realMilliseconds))
        else { throw Broken(.creditsComeBack, "\(node.name) does not know dispatch \(push.dispatch)") }
        hear(completion, of: request)
        referee.answered(identifier, completion, activity)
        touch(node)
    }

    private mutating func forget(_ identifier: UInt64) {
        guard let request = requests.removeValue(forKey: identifier) else { return }
        pushes[identifier] = nil
        rides[request.activity].requests.removeAll { $0 == identifier }
    }

    func tell(streams: Int, link: Int) {
        guard let node = nodes.last(where: { $0.firstLink <= link }), node.state != .gone else { return }
        node.lane.setStreams(streams, link: link - node.firstLink)
        if node.isRunning { touch(node) }
    }
}

extension Request {
    var sequence: UInt64 { dispatch.update.sequence }
    var isUnsent: Bool { if case .unsent? = outcome { true } else { false } }
}
