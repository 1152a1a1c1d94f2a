import Telemetry

/// Update tokens that were taken back: a report of one counts only if it is not older than that.
struct Revocation: Equatable {
    /// The newest that was named.
    var token: PushToken?
    var tokenAtMilliseconds = Int64.min
    /// Whatever was registered until then.
    var allAtMilliseconds = Int64.min

    /// - Parameter token: nil for all.
    mutating func takeBack(_ token: PushToken?, atMilliseconds time: Int64) {
        if let token {
            guard time >= tokenAtMilliseconds else { return }
            self.token = token
            tokenAtMilliseconds = time
        } else {
            allAtMilliseconds = max(allAtMilliseconds, time)
        }
    }

    /// At equal time the later record wins, and this one is there already.
    func covers(_ token: PushToken, registeredAtMilliseconds time: Int64) -> Bool {
        time < allAtMilliseconds || (token == self.token && time < tokenAtMilliseconds)
    }

    /// Whether a token that was registered then makes it superfluous.
    func isOver(atMilliseconds time: Int64) -> Bool { time >= max(tokenAtMilliseconds, allAtMilliseconds) }
}
