import Telemetry

/// Tokens that came before the event that begins their activity.
struct EarlyTokens {
    struct EarlyToken {
        var token: PushToken?
        var registeredAtMilliseconds: Int64
        var frequentUpdates: Bool?
        var receivedAtMilliseconds: Int64
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
        receivedAtMilliseconds: Int64
    ) {
        guard tokens[identifier] == nil else { return }
        tokens[identifier] = EarlyToken(
            token: token, registeredAtMilliseconds: registeredAtMilliseconds, frequentUpdates: frequentUpdates,
            receivedAtMilliseconds: receivedAtMilliseconds)
        order.append((identifier, receivedAtMilliseconds))
    }

    mutating func keep(
        _ event: Event, token: PushToken?, frequentUpdates: Bool?, nowMilliseconds now: Int64
    ) {
        forgetOld(now)
        let identifier = Array(event.identifier)
        let before = tokens[identifier]
        tokens[identifier] = EarlyToken(
            token: token ?? before?.token, registeredAtMilliseconds: event.timestampMilliseconds,
            frequentUpdates: frequentUpdates ?? before?.frequentUpdates, receivedAtMilliseconds: now)
        if before?.receivedAtMilliseconds != now { order.append((identifier, now)) }
        if heldPlaces > 2 * EarlyTokens.limit { forgetSuperseded() }
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
