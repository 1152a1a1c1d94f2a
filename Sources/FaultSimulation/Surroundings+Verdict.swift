import Flow
import Telemetry

extension Surroundings {
    func waitsForTarget(_ ride: Ride) -> Bool {
        // A new owner sends the end to the dead token once more, and drops the good one as it comes after the end.
        ride.truth.phase != .unknown && (ride.truth.token == nil || (scenario.isForGroup && ride.truth.hasLateToken))
    }

    /// What is wrong with what the phone of an activity shows, with everything settled; nil where it is right.
    func verdict(of activity: Int) -> Broken? {
        let ride = rides[activity]
        // Nobody listens where the provider called the token dead, the app never reported one, or it reported one too late.
        guard let token = ride.truth.token, let card = ride.cards[ride.truth.life], card.token == token,
            let record = provider.tokens[token], record.goneAtMilliseconds == nil, record.stale == nil,
            !ride.wasRefused, !waitsForTarget(ride)
        else { return nil }
        if ride.truth.alert != nil { return Broken(.alertIsTold, "the newest alert never left") }
        if ride.truth.phase == .ended {
            if !card.isEnded { return Broken(.newestStateIsTold, "the activity has ended, the phone does not know") }
            return ride.ledger.mismatch(in: card.shown, beside: ride.truth).map {
                Broken(.newestStateIsTold, "the end tells an old state: \($0)")
            }
        }
        if card.isEnded { return Broken(.newestStateIsTold, "the phone thinks that the activity has ended") }
        return ride.ledger.significance.fault(in: card.shown, beside: ride.truth).map {
            Broken(.newestStateIsTold, $0)
        }
    }
}
