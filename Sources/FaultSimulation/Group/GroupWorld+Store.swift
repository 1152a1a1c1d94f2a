import Flow
import Pacing

extension GroupWorld {
    /// After so long without an answer a client drops its connection.
    static let timeoutMilliseconds: Int64 = 3_000
    /// A replica lags by so long at most.
    static let lagMilliseconds: Int64 = 4_000

    // MARK: What a member asks

    mutating func ask(_ node: Node, _ identifier: UInt64, _ request: StoreRequest) throws(Broken) {
        if let effect = request.effect, dies(node, before: effect.made) { return }
        let now = realMilliseconds
        let ask = Node.Ask(
            identifier: identifier, request: request, madeAtMilliseconds: now,
            settles: referee.settled(by: request, of: node.index, script.names), knows: known(to: node, request))
        node.asks.append(ask)
        if request.isWorthNoting {
            note(nil, [40, Int64(node.index), Int64(request.partition ?? -1)], "\(node.name) asks: \(request.summary)")
        }
        if case .save = request, let milliseconds = node.freezesOnSaveMilliseconds {
            node.freezesOnSaveMilliseconds = nil
            freeze(node, forMilliseconds: milliseconds)
            node.heldUpUntilMilliseconds = now + milliseconds
        }
        guard storeWeather.isUp(now) else {
            agenda.plan(
                .group(.timedOut(node: node.index, ask: identifier)), atMilliseconds: now + random.between(1, 500))
            return
        }
        let done = max(node.newestDoneMilliseconds, now + delay())
        let heard = max(node.newestHeardMilliseconds, done + delay())
        node.newestDoneMilliseconds = done
        node.newestHeardMilliseconds = heard
        agenda.plan(.group(.done(node: node.index, ask: identifier)), atMilliseconds: done)
        if heard > now + GroupWorld.timeoutMilliseconds {
            agenda.plan(
                .group(.timedOut(node: node.index, ask: identifier)),
                atMilliseconds: now + GroupWorld.timeoutMilliseconds)
        }
        agenda.plan(.group(.heard(node: node.index, ask: identifier)), atMilliseconds: heard)
    }

    private mutating func delay() -> Int64 {
        let usual = random.between(group.storeMilliseconds.lowerBound, group.storeMilliseconds.upperBound)
        return storeWeather.isSlow(realMilliseconds) ? usual + random.between(200, 1_500) : usual
    }

    private func known(to node: Node, _ request: StoreRequest) -> [(activity: Int, order: Int)] {
        guard case .save(let partition, _, let batch) = request else { return [] }
        let order = order(knownBy: node, Int(partition))
        return batch.activities(script.names).map { ($0, order) }
    }

    // MARK: What the store does

    mutating func storeDoes(_ node: Node, _ identifier: UInt64) throws(Broken) {
        // Its connection is gone, or it died: what was under way then has been decided.
        guard let place = node.asks.firstIndex(where: { $0.identifier == identifier }) else { return }
        guard node.asks[place].answer == nil else { return }
        if node.heldUpUntilMilliseconds > realMilliseconds {
            agenda.plan(
                .group(.done(node: node.index, ask: identifier)), atMilliseconds: node.heldUpUntilMilliseconds)
            return
        }
        if let effect = node.asks[place].request.effect, node.isRunning, dies(node, before: effect.done) { return }
        try storeDoes(node, at: place)
    }

    /// At one instant, whatever becomes of the one who asked.
    private mutating func storeDoes(_ node: Node, at place: Int) throws(Broken) {
        let ask = node.asks[place]
        let now = realMilliseconds
        if now < storeWeather.refusesUntilMilliseconds, ask.request.isRefused(storeWeather.refusal) {
            node.asks[place].answer = .failed(.refusesWrites)
            return
        }
        if group.losesWrites {
            storeHistory.append((store, now))
            if storeHistory.count > 12 { storeHistory.removeFirst() }
        }
        referee.willDo(ask.request, store)
        let answer = store.answer(ask.request, from: node.name, atMilliseconds: now)
        node.asks[place].answer = answer
        try referee.done(ask, answer, store, log, &rides, atUnixMilliseconds: unixMilliseconds)
        guard ask.request.isWorthNoting else { return }
        note(
            nil, [41, Int64(node.index), Int64(ask.request.partition ?? -1)],
            "the store does for \(node.name): \(ask.request.summary): \(answer.summary)")
    }

    mutating func hears(_ node: Node, _ identifier: UInt64) throws(Broken) {
        guard let place = node.asks.firstIndex(where: { $0.identifier == identifier }),
            let answer = node.asks[place].answer
        else { return }
        if let effect = node.asks[place].request.effect, dies(node, before: effect.heard) { return }
        node.asks.remove(at: place)
        node.member.answer(identifier, answer, at: node.read(atMilliseconds: realMilliseconds))
        touch(node)
    }

    /// A member's connection ends: of what was sent the store does the first few, and nobody is told which.
    mutating func loseStore(_ node: Node) throws(Broken) {
        try decideUnderWay(node)
        let lost = node.asks
        node.asks = []
        node.newestDoneMilliseconds = realMilliseconds
        node.newestHeardMilliseconds = realMilliseconds
        note(nil, [42, Int64(node.index), Int64(lost.count)], "\(node.name) loses its connection to the store")
        let moment = node.read(atMilliseconds: realMilliseconds)
        for ask in lost { node.member.answer(ask.identifier, .failed(.unavailable), at: moment) }
        touch(node)
    }

    /// What was sent and not done is done in part, in its order, and the rest is lost.
    mutating func decideUnderWay(_ node: Node) throws(Broken) {
        let waiting = node.asks.indices.filter { node.asks[$0].answer == nil }
        guard storeWeather.isUp(realMilliseconds), !waiting.isEmpty else { return }
        for place in waiting.prefix(random.below(waiting.count + 1)) { try storeDoes(node, at: place) }
    }
}

extension StoreRequest {
    /// Nil for what changes nothing that lasts.
    fileprivate var effect: (made: Effect, done: Effect, heard: Effect)? {
        switch self {
        case .beat, .leave: nil
        case .claim: (.claimMade, .claimDone, .claimHeard)
        case .renew: (.renewMade, .renewDone, .renewHeard)
        case .release: (.releaseMade, .releaseDone, .releaseHeard)
        case .load, .loadDue: (.loadMade, .loadDone, .loadHeard)
        case .save(_, _, let batch):
            batch.positions.contains { $0 != nil }
                ? (.commitMade, .commitDone, .commitHeard) : (.saveMade, .saveDone, .saveHeard)
        }
    }

    fileprivate func isRefused(_ refusal: StoreWeather.Refusal) -> Bool {
        switch self {
        case .load, .loadDue: false
        case .renew, .release, .leave: refusal == .readOnly
        case .beat, .claim, .save: true
        }
    }

    var isWorthNoting: Bool {
        switch self {
        case .beat, .renew: false
        default: true
        }
    }

    /// For people.
    var summary: String {
        switch self {
        case .beat: "beat"
        case .leave: "leave"
        case .claim(let partition): "claim \(partition)"
        case .renew(let partition, let epoch, _): "renew \(partition) as \(epoch)"
        case .release(let partition, let epoch, _): "release \(partition) as \(epoch)"
        case .load(let partition, let epoch, let keys):
            "load \(partition) as \(epoch): \(keys.map { String(decoding: $0.identifier, as: UTF8.self) })"
        case .loadDue(let partition, let epoch, let from, let through, _):
            "load what is due in \(partition) as \(epoch): \(from) to \(through)"
        case .save(let partition, let epoch, let batch):
            "save \(partition) as \(epoch): \(batch.names), to \(batch.positions.map { $0.map { String($0.offset) } ?? "-" })"
        }
    }
}

extension StoreAnswer {
    /// For people.
    var summary: String {
        switch self {
        case .alive(let members, _): "alive \(members)"
        case .claimed(let claim): "claimed as \(claim.epoch)"
        case .held(let member, let milliseconds): "held by \(member) for \(milliseconds) ms"
        case .loaded(let checkpoints): "loaded \(checkpoints.map { String(decoding: $0.identifier, as: UTF8.self) })"
        case .failed(let failure): "failed, \(failure)"
        case .left: "left"
        case .renewed: "renewed"
        case .released: "released"
        case .saved: "saved"
        case .lost: "lost"
        case .behind: "behind"
        case .forgotten: "forgotten"
        }
    }
}

extension CheckpointBatch {
    func activities(_ names: Names) -> [Int] {
        entries.compactMap { names.texts.firstIndex(of: String(decoding: bytes[$0.identifier], as: UTF8.self)) }
    }

    fileprivate var names: [String] { entries.map { String(decoding: bytes[$0.identifier], as: UTF8.self) } }
}
