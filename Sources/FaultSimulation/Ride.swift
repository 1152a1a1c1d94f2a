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
    /// In this life, what the provider last took for good, as far as the lane knows.
    var told: Payload?
    /// On the real clock: from when what was put off may go again.
    var hold: (target: PushTarget, sequence: UInt64, holdsNewer: Bool, untilMilliseconds: Int64)?
    var lastReportMilliseconds: Int64 = 0
    /// By start token: the lives whose start left for it.
    var startedLives: [PushToken: Set<Int>] = [:]

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
