import Telemetry

/// The newest token by the time of its registration, whatever came first; and what was taken back, so that a registration which was held up
/// on its way does not bring it back. `Script.slot` is the same in Redis.
struct TokenSlot {
    private(set) var token: PushToken?
    /// Of the newest registration, or of a taking back that named no token. Without a token, one has to be newer than that.
    private(set) var atMilliseconds: Int64?
    /// The token that was taken back by name last: one that was here before one that was not.
    private var gone: (token: PushToken, atMilliseconds: Int64)?

    /// - Returns: false where a later one is on file.
    mutating func keep(_ new: PushToken, atMilliseconds at: Int64) -> Bool {
        if let atMilliseconds, atMilliseconds > at || (token == nil && atMilliseconds == at) { return false }
        if let gone, gone.token == new, gone.atMilliseconds >= at { return false }
        token = new
        atMilliseconds = at
        return true
    }

    /// - Parameter named: nil for whatever was registered until then.
    /// - Returns: false where a later one is on file.
    mutating func takeBack(_ named: PushToken?, untilMilliseconds until: Int64) -> Bool {
        let isHere = token != nil && (named == nil || named == token)
        if isHere, let atMilliseconds, atMilliseconds > until { return false }
        if isHere { token = nil }
        guard let named else {
            atMilliseconds = max(atMilliseconds ?? until, until)
            return true
        }
        if isHere || gone.map({ $0.atMilliseconds <= until }) ?? true { gone = (named, until) }
        return true
    }

    /// The activity is over; its token with it.
    mutating func forget() { token = nil }
}
