import Telemetry

/// Tokens that came before the event that begins their activity.
struct EarlyTokens {
    struct EarlyToken {
        var token: PushToken?
        var registeredAtMilliseconds: Int64
        var frequentUpdates: Bool?
        var receivedAtMilliseconds: Int64
        var revocation: Revocation?
    }

    /// At the limit the oldest is forgotten: its activity then waits for its token to be reported again.
    static let limit = 65_536

    private let keptMilliseconds: Int64
    /// By the bytes of the id.
    private var tokens: [[UInt8]: EarlyToken] = [:]
    /// Ids in the order of their first token, the first `forgotten` of them gone.
    private var order: [(identifier: [UInt8], receivedAtMilliseconds: Int64)] = []
    private var forgotten = 0

    init(keptMilliseconds: Int64) {
        self.keptMilliseconds = keptMilliseconds
    }

    var count: Int { tokens.count }

    var identifiers: some Sequence<[UInt8]> { tokens.keys }

    subscript(identifier: [UInt8]) -> EarlyToken? { tokens[identifier] }

    /// What is in memory already is newer, and stays.
    mutating func restore(
        _ identifier: [UInt8], token: PushToken?, registeredAtMilliseconds: Int64, frequentUpdates: Bool?,
        receivedAtMilliseconds: Int64, revocation: Revocation?
    ) {
        guard tokens[identifier] == nil else { return }
        tokens[identifier] = EarlyToken(
            token: token, registeredAtMilliseconds: registeredAtMilliseconds, frequentUpdates: frequentUpdates,
            receivedAtMilliseconds: receivedAtMilliseconds, revocation: revocation)
        order.append((identifier, receivedAtMilliseconds))
    }

    /// - Returns: false where a later registration is kept: then nothing of this one counts.
    mutating func keep(_ event: Event, nowMilliseconds now: Int64) -> Bool {
        forgetOld(now)
        let identifier = Array(event.identifier)
        let before = tokens[identifier]
        var early =
            before
            ?? EarlyToken(registeredAtMilliseconds: .min, receivedAtMilliseconds: now)
        guard early.take(event.detail, atMilliseconds: event.timestampMilliseconds) else { return false }
        early.receivedAtMilliseconds = now
        tokens[identifier] = early
        if before?.receivedAtMilliseconds != now { order.append((identifier, now)) }
        if heldPlaces > 2 * EarlyTokens.limit { forgetSuperseded() }
        return true
    }

    /// Places in the order, those of tokens that came again meanwhile included.
    var heldPlaces: Int { order.count - forgotten }

    /// An app that reports its token over and over, to an activity that never begins, must not fill the memory.
    private mutating func forgetSuperseded() {
        order = order[forgotten...].filter {
            tokens[$0.identifier]?.receivedAtMilliseconds == $0.receivedAtMilliseconds
        }
        forgotten = 0
    }

    mutating func hasToken(_ identifier: UnsafeRawBufferPointer, nowMilliseconds now: Int64) -> Bool {
        guard !tokens.isEmpty else { return false }
        forgetOld(now)
        return tokens[Array(identifier)]?.token != nil
    }

    mutating func claim(_ identifier: UnsafeRawBufferPointer, nowMilliseconds now: Int64) -> EarlyToken? {
        guard !tokens.isEmpty else { return nil }
        forgetOld(now)
        return tokens.removeValue(forKey: Array(identifier))
    }

    private mutating func forgetOld(_ now: Int64) {
        while forgotten < order.count {
            let oldest = order[forgotten]
            let isOld = now - oldest.receivedAtMilliseconds > keptMilliseconds
            guard isOld || tokens.count >= EarlyTokens.limit else { break }
            // A later token of the same id has its own place in the order.
            if tokens[oldest.identifier]?.receivedAtMilliseconds == oldest.receivedAtMilliseconds {
                tokens[oldest.identifier] = nil
            }
            forgotten += 1
        }
        if forgotten > 1024, forgotten * 2 > order.count {
            order.removeFirst(forgotten)
            forgotten = 0
        }
    }
}

extension EarlyTokens.EarlyToken {
    /// - Returns: false where a later registration stands.
    fileprivate mutating func take(_ detail: EventDetail?, atMilliseconds time: Int64) -> Bool {
        var named: PushToken?
        if case .updateToken(let token)? = detail?.target { named = token }
        if detail?.isRevoked == true {
            var revocation = self.revocation ?? Revocation()
            revocation.takeBack(named, atMilliseconds: time)
            self.revocation = revocation
            if registeredAtMilliseconds <= time, named == nil || named == token { token = nil }
        } else if let named {
            guard time >= registeredAtMilliseconds,
                revocation?.covers(named, registeredAtMilliseconds: time) != true
            else { return false }
            token = named
            registeredAtMilliseconds = time
            if revocation?.isOver(atMilliseconds: time) == true { revocation = nil }
        }
        frequentUpdates = detail?.frequentUpdates ?? frequentUpdates
        return true
    }
}
