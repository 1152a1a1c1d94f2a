/// Decides when a pool opens its next connection: one after another, at once in place of one that did some good, and after growing delays
/// while they fail.
///
/// Apple treats connections that come and go as an attack, and advises to open several gradually ("Sending notification requests to APNs").
struct Staging {
    enum State: Equatable {
        case idle
        /// One is on its way; the next waits for what becomes of it.
        case opening
        case pausing(untilMilliseconds: Int64)
    }

    private(set) var state = State.idle
    private var backoff: Backoff

    init(backoff: Backoff) {
        self.backoff = backoff
    }

    mutating func begin() {
        precondition(state == .idle, "another connection while \(state)")
        state = .opening
    }

    mutating func opened() {
        guard state == .opening else { return }
        state = .idle
    }

    /// To stand is not enough: a server that accepts connections and does nothing else must not be met anew without delay.
    mutating func didGood() {
        backoff.succeeded()
    }

    /// The one on its way did not get there.
    mutating func failed(atMilliseconds now: Int64, random: UInt64) {
        state = .pausing(untilMilliseconds: now + backoff.failed(random: random))
    }

    /// One that stood is gone. Several that go together count as one, and so does what goes while another is on its way.
    mutating func lost(atMilliseconds now: Int64, random: UInt64) {
        guard state == .idle else { return }
        failed(atMilliseconds: now, random: random)
    }

    /// The server sends a good one away, so it is there: no pause, but the next failure's is as long as it would have been.
    mutating func replacesGoodOne() {
        guard case .pausing = state else { return }
        state = .idle
    }

    /// The pause is over.
    mutating func resume() {
        guard case .pausing = state else { return }
        state = .idle
    }
}
