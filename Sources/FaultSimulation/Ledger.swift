import Flow
import LiveActivities
import Pacing
import Telemetry

/// The judge of what leaves for one activity: it remembers every push and knows the truth, and nothing of how pushes come about.
struct Ledger {
    private struct First {
        let content: ContentState
        let identifier: APNsIdentifier
        var hasLeft: Bool
    }

    private struct Send {
        let nowMilliseconds: Int64
        let life: Int
        let isUrgent: Bool
        let isEnd: Bool
    }

    let significance: Significance
    private var firsts: [UInt64: First] = [:]
    private var newestSequence: UInt64 = 0
    private var newestTimestampSeconds = Int64.min
    private var sends: [Send] = []
    private var lastLeft: (nowMilliseconds: Int64, life: Int)?

    private var settings: PacingSettings { significance.settings }

    init(_ settings: PacingSettings) {
        significance = Significance(settings: settings)
    }

    /// - Parameter leaves: false where the worker gives it back unsent.
    mutating func take(
        _ update: Update, _ payload: Payload, _ truth: Truth, leaves: Bool, _ moment: Instant
    ) -> Broken? {
        if update.kind != .end, truth.phase != .alive {
            return Broken(.nothingAfterEnd, "\(update.kind) \(update.sequence) leaves after the end")
        }
        if update.kind == .end, truth.phase != .ended {
            return Broken(.newestLeaves, "end \(update.sequence) leaves for an activity that goes on")
        }
        let isFirst = firsts[update.sequence] == nil
        if let broken = isFirst
            ? takeFirst(update, payload, truth, leaves: leaves)
            : takeAgain(update, payload, truth, leaves: leaves)
        {
            return broken
        }
        return leaves ? leave(update, payload, truth, isFirst: isFirst, moment) : nil
    }

    private mutating func takeFirst(
        _ update: Update, _ payload: Payload, _ truth: Truth, leaves: Bool
    ) -> Broken? {
        if update.sequence <= newestSequence {
            return Broken(.sequenceRises, "sequence \(update.sequence) after \(newestSequence)")
        }
        if payload.sequence != Int64(update.sequence) {
            return Broken(.sequenceRises, "the content-state carries \(payload.sequence) in push \(update.sequence)")
        }
        if firsts.values.contains(where: { $0.identifier == update.apnsIdentifier }) {
            return Broken(.retryIsTheSame, "the id of \(update.sequence) is that of another push")
        }
        if let mismatch = significance.mismatch(in: payload.contentState, beside: truth) {
            return Broken(.newestLeaves, "push \(update.sequence): \(mismatch)")
        }
        newestSequence = update.sequence
        firsts[update.sequence] = First(
            content: payload.contentState, identifier: update.apnsIdentifier, hasLeft: leaves)
        return nil
    }

    private mutating func takeAgain(
        _ update: Update, _ payload: Payload, _ truth: Truth, leaves: Bool
    ) -> Broken? {
        guard let first = firsts[update.sequence] else { return nil }
        if !first.hasLeft {
            return Broken(.sequenceRises, "sequence \(update.sequence) was given back unsent and is used again")
        }
        if first.content != payload.contentState {
            return Broken(.sequenceRises, "sequence \(update.sequence) names another content-state than before")
        }
        if first.identifier != update.apnsIdentifier {
            return Broken(.retryIsTheSame, "the retry of \(update.sequence) has another id")
        }
        if update.sequence != newestSequence {
            return Broken(.supersededIsNotSent, "\(update.sequence) is sent again after \(newestSequence)")
        }
        if let fault = significance.fault(in: payload.contentState, beside: truth) {
            return Broken(.supersededIsNotSent, "\(update.sequence) is sent again though \(fault)")
        }
        return nil
    }

    private mutating func leave(
        _ update: Update, _ payload: Payload, _ truth: Truth, isFirst: Bool, _ moment: Instant
    ) -> Broken? {
        if payload.timestampSeconds <= newestTimestampSeconds {
            return Broken(.timestampsRise, "timestamp \(payload.timestampSeconds) after \(newestTimestampSeconds)")
        }
        if payload.timestampSeconds * 1_000 > moment.wallMilliseconds + 5_000 {
            return Broken(.timestampsRise, "timestamp \(payload.timestampSeconds) is far ahead of the clock")
        }
        newestTimestampSeconds = payload.timestampSeconds
        defer { lastLeft = (moment.nowMilliseconds, truth.life) }
        // A retry is the same update, so it counts once.
        guard isFirst else { return nil }
        return pace(
            Send(
                nowMilliseconds: moment.nowMilliseconds, life: truth.life, isUrgent: update.isUrgent,
                isEnd: update.kind == .end))
    }

    // MARK: Cadence

    private mutating func pace(_ send: Send) -> Broken? {
        if !send.isUrgent, let lastLeft, lastLeft.life == send.life,
            send.nowMilliseconds < lastLeft.nowMilliseconds + settings.minIntervalMilliseconds
        {
            return Broken(
                .cadenceHolds,
                "a routine update leaves \(send.nowMilliseconds - lastLeft.nowMilliseconds) ms after the last push")
        }
        sends.append(send)
        let limits: (burst: Int64, intervalMilliseconds: Int64)
        switch settings.profile {
        case .unlimited: return nil
        case .standard: limits = (4, 60_000)
        // The device may switch between both: the wider one bounds them.
        case .frequent, .auto: limits = (8, 15_000)
        }
        var routine: Int64 = 0
        var all: Int64 = 0
        for earlier in sends.reversed() where !earlier.isEnd {
            all += 1
            if !earlier.isUrgent { routine += 1 }
            let window = send.nowMilliseconds - earlier.nowMilliseconds
            let routineBound =
                limits.burst + window / limits.intervalMilliseconds
                + window / (settings.staleAfterMilliseconds - settings.refreshLeadMilliseconds)
            // A new life finds the gates of urgent updates open.
            let bound =
                routineBound + limits.burst + window / settings.urgentMinIntervalMilliseconds
                + Int64(send.life - earlier.life)
            if routine > routineBound || all > bound {
                return Broken(
                    .cadenceHolds,
                    "\(routine) routine updates and \(all) in all within \(window) ms, \(routineBound) and \(bound) are allowed"
                )
            }
        }
        return nil
    }
}
