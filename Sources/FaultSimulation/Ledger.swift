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
    /// Owners follow one another: a new one may have forgotten what was suppressed, and not have read what the last one had.
    let mayForget: Bool
    /// Owners' clocks differ by so much at most.
    let slackMilliseconds: Int64
    private var firsts: [UInt64: First] = [:]
    private var newestSequence: UInt64 = 0
    private var newestTimestampSeconds = Int64.min
    private var sends: [Send] = []
    private var lastLeft: (nowMilliseconds: Int64, life: Int)?
    /// When an owner took over that could not know of the newest push.
    private var forgivenAtMilliseconds: [Int64] = []

    private var settings: PacingSettings { significance.settings }

    init(_ settings: PacingSettings, mayForget: Bool = false, slackMilliseconds: Int64 = 0) {
        significance = Significance(settings: settings)
        self.mayForget = mayForget
        self.slackMilliseconds = slackMilliseconds
    }

    /// What is wrong with a content-state that leaves, or that an ended card shows.
    func mismatch(in told: ContentState, beside truth: Truth) -> String? {
        mayForget ? significance.fault(in: told, beside: truth) : significance.mismatch(in: told, beside: truth)
    }

    /// A new owner cannot know of so many of the newest updates: the cadence need not count them.
    mutating func forgiveNewest(_ count: Int, atMilliseconds milliseconds: Int64) {
        forgivenAtMilliseconds += Array(repeating: milliseconds, count: count)
        lastLeft = sends.dropLast(count).last.map { ($0.nowMilliseconds, $0.life) }
    }

    /// - Parameters:
    ///   - views: the truth as it was when its owner knew the least that it must know, and all that came after; the newest last.
    ///   - leaves: false where the worker gives it back unsent.
    mutating func take(
        _ update: Update, _ payload: Payload, _ views: some Collection<Truth>, leaves: Bool, _ moment: Instant
    ) -> Broken? {
        let isFirst = firsts[update.sequence] == nil
        var found: Broken?
        var life: Int?
        for truth in views {
            if let fault = isFirst ? fault(inFirst: update, payload, truth) : fault(inAgain: update, payload, truth) {
                // What its owner surely knew says more than what came after.
                found = found ?? fault
            } else {
                life = truth.life
                break
            }
        }
        guard let life else { return found }
        return record(update, payload, life: life, isFirst: isFirst, leaves: leaves, moment)
    }

    /// Of a push whose owner may have read records in another order: what it tells is not judged.
    mutating func takeUnseen(
        _ update: Update, _ payload: Payload, leaves: Bool, _ moment: Instant
    ) -> Broken? {
        let isFirst = firsts[update.sequence] == nil
        if isFirst, let broken = faultOfNumber(update, payload) { return broken }
        if !isFirst, let broken = faultOfRetry(update, payload) { return broken }
        return record(update, payload, life: 1, isFirst: isFirst, leaves: leaves, moment)
    }

    private mutating func record(
        _ update: Update, _ payload: Payload, life: Int, isFirst: Bool, leaves: Bool, _ moment: Instant
    ) -> Broken? {
        if isFirst {
            newestSequence = update.sequence
            firsts[update.sequence] = First(
                content: payload.contentState, identifier: update.apnsIdentifier, hasLeft: leaves)
        }
        return leaves ? leave(update, payload, life: life, isFirst: isFirst, moment) : nil
    }

    private func faultOfKind(_ update: Update, _ truth: Truth) -> Broken? {
        if update.kind != .end, truth.phase != .alive {
            return Broken(.nothingAfterEnd, "\(update.kind) \(update.sequence) leaves after the end")
        }
        if update.kind == .end, truth.phase != .ended {
            return Broken(.newestLeaves, "end \(update.sequence) leaves for an activity that goes on")
        }
        return nil
    }

    private func fault(inFirst update: Update, _ payload: Payload, _ truth: Truth) -> Broken? {
        if let broken = faultOfKind(update, truth) { return broken }
        if let broken = faultOfNumber(update, payload) { return broken }
        return mismatch(in: payload.contentState, beside: truth).map {
            Broken(.newestLeaves, "push \(update.sequence): \($0)")
        }
    }

    private func faultOfNumber(_ update: Update, _ payload: Payload) -> Broken? {
        if update.sequence <= newestSequence {
            return Broken(.sequenceRises, "sequence \(update.sequence) after \(newestSequence)")
        }
        if payload.sequence != Int64(update.sequence) {
            return Broken(.sequenceRises, "the content-state carries \(payload.sequence) in push \(update.sequence)")
        }
        if firsts.values.contains(where: { $0.identifier == update.apnsIdentifier }) {
            return Broken(.retryIsTheSame, "the id of \(update.sequence) is that of another push")
        }
        return nil
    }

    private func fault(inAgain update: Update, _ payload: Payload, _ truth: Truth) -> Broken? {
        if let broken = faultOfKind(update, truth) { return broken }
        if let broken = faultOfRetry(update, payload) { return broken }
        if let fault = significance.fault(in: payload.contentState, beside: truth) {
            return Broken(.supersededIsNotSent, "\(update.sequence) is sent again though \(fault)")
        }
        return nil
    }

    private func faultOfRetry(_ update: Update, _ payload: Payload) -> Broken? {
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
        return nil
    }

    private mutating func leave(
        _ update: Update, _ payload: Payload, life: Int, isFirst: Bool, _ moment: Instant
    ) -> Broken? {
        if payload.timestampSeconds <= newestTimestampSeconds {
            return Broken(.timestampsRise, "timestamp \(payload.timestampSeconds) after \(newestTimestampSeconds)")
        }
        if payload.timestampSeconds * 1_000 > moment.wallMilliseconds + 5_000 + slackMilliseconds {
            return Broken(.timestampsRise, "timestamp \(payload.timestampSeconds) is far ahead of the clock")
        }
        newestTimestampSeconds = payload.timestampSeconds
        defer { lastLeft = (moment.nowMilliseconds, life) }
        // A retry is the same update, so it counts once.
        guard isFirst else { return nil }
        return pace(
            Send(
                nowMilliseconds: moment.nowMilliseconds, life: life, isUrgent: update.isUrgent,
                isEnd: update.kind == .end))
    }

    // MARK: Cadence

    private mutating func pace(_ send: Send) -> Broken? {
        if !send.isUrgent, let lastLeft, lastLeft.life == send.life,
            send.nowMilliseconds < lastLeft.nowMilliseconds + settings.minIntervalMilliseconds - slackMilliseconds
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
            let window = send.nowMilliseconds - earlier.nowMilliseconds + slackMilliseconds
            let forgiven = forgivenAtMilliseconds.reduce(0) { $0 + ($1 >= earlier.nowMilliseconds ? 1 : 0) }
            let routineBound =
                limits.burst + Int64(forgiven) + window / limits.intervalMilliseconds
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
