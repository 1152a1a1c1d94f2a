import Flow
import Instruments
import Pacing

/// Carries a lane's plain counts into the registry a few times a second, so that counting an event costs no more than an addition.
struct DecisionPublisher {
    private let instruments: LaneInstruments
    private var published = DecisionTotals()
    private var handedOver: UInt64 = 0
    private var forgotten: UInt64 = 0

    init(_ instruments: LaneInstruments) {
        self.instruments = instruments
    }

    mutating func publish(_ lane: Lane, clockSteps: Int) {
        var totals = DecisionTotals()
        var activities = 0
        totals.add(lane.formerDecisions)
        for shard in lane.eachShard {
            totals.add(shard.decisions)
            activities += shard.activityCount
        }
        for (decision, label) in zip(Decision.allCases, LaneInstruments.DecisionLabel.allCases)
        where totals[decision] > published[decision] {
            instruments.decisions.add(Int64(totals[decision] - published[decision]), label)
        }
        instruments.decisions.add(Int64(lane.handedOverEvents - handedOver), .handedOver)
        // Those that were handed over were read here, too.
        instruments.activityEvents.add(
            Int64(totals.activityEvents + lane.handedOverEvents) - Int64(published.activityEvents + handedOver))
        handedOver = lane.handedOverEvents
        instruments.weekRollovers.add(Int64(totals.weekRollovers - published.weekRollovers))
        published = totals
        instruments.pending.set(Int64(totals.pending))
        instruments.activities.set(Int64(activities))
        instruments.inFlight.set(Int64(lane.inFlightCount))
        instruments.waitingRetries.set(Int64(lane.retryCount))
        instruments.breakerOpen.set(Int64(lane.openBreakers))
        instruments.clockSteps.set(Int64(clockSteps))
        guard let journal = lane.journal else { return }
        instruments.explainBytes.set(Int64(journal.byteCount))
        instruments.explainEntries.set(Int64(journal.entryCount))
        instruments.explainForgotten.add(Int64(journal.forgottenEntries - forgotten))
        forgotten = journal.forgottenEntries
    }
}
