import Flow
import Telemetry

extension World {
    /// With everything settled: does each phone know what it should?
    ///
    /// - Returns: the activity whose promise was broken, if one was.
    func verdict() -> (activity: Int?, broken: Broken)? {
        for activity in rides.indices {
            if let broken = verdict(of: activity) ?? startVerdict(of: activity) { return (activity, broken) }
        }
        if pending > 0, !rides.contains(where: { waitsForTarget($0) }) {
            return (nil, Broken(.settles, "\(pending) activity events are pending, though nothing is waited for"))
        }
        return nil
    }

    /// The phone has a start token in the end, and the registry answers: what was to begin on it has.
    private func startVerdict(of activity: Int) -> Broken? {
        let ride = rides[activity]
        guard ride.truth.phase == .alive, ride.truth.awaitsUser, !ride.truth.hasLeft, !ride.wasRefused else {
            return nil
        }
        return Broken(.newestStateIsTold, "its phone has a start token, and no start has left for it")
    }

    /// Whenever nothing is under way and nothing waits, the phones have been told all that counts.
    mutating func checkTold() throws(Broken) {
        guard hasNews, requests.isEmpty, pending == 0 else { return }
        hasNews = false
        for shard in lane.eachShard {
            let statistics = shard.statistics
            if statistics.waitingUpdates > 0 || statistics.unsettledUpdates > 0 { return }
        }
        for activity in rides.indices {
            let ride = rides[activity]
            guard ride.truth.phase != .unknown, ride.truth.token != nil, !ride.wasRefused,
                let told = ride.told?.contentState ?? ride.cards[ride.truth.life]?.shown
            else { continue }
            concerned = activity
            if ride.truth.phase == .ended, ride.told?.event != "end" {
                throw Broken(.newestStateIsTold, "the activity has ended, and nothing waits to tell it")
            }
            if ride.truth.alert != nil { throw Broken(.alertIsTold, "the newest alert never left, and nothing waits") }
            if let fault = ride.ledger.significance.fault(in: told, beside: ride.truth) {
                throw Broken(.newestStateIsTold, "nothing waits though \(fault)")
            }
        }
    }
}
