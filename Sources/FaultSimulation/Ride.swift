import Flow
import Pacing
import Telemetry

/// One activity of a world: the truth, the phone, and what is under way between them.
struct Ride {
    let name: Int
    let partition: Int32
    var truth = Truth()
    /// By life: what the phone shows.
    var cards: [Int: Card] = [:]
    var ledger: Ledger
    /// Requests that have no answer so far: one at most, which is a promise.
    var requests: [UInt64] = []
    var isEndUnderWay = false
    var waitsForRetry = false
    /// Something was applied that waits.
    var isHeld = false
    /// The newest answer refused for good what it was to tell.
    var wasRefused = false
    /// No end can reach the card any more: a new life began before.
    var lastReportMilliseconds: Int64 = 0

    var situation: Situation {
        if !requests.isEmpty || waitsForRetry {
            if isEndUnderWay { return .ending }
            if requests.isEmpty { return isHeld ? .waitingRetryBehind : .waitingRetry }
            return isHeld ? .inFlightBehind : .inFlight
        }
        if isHeld { return .held }
        return truth.phase == .ended ? .ended : .idle
    }
}
