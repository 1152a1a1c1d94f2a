import Telemetry

/// May it go now? All gates of an activity but the last one, the dispatch credit.
enum Opening: Equatable {
    case open
    /// By time alone, at the earliest then.
    case at(milliseconds: Int64)
    /// Waits for an answer or for a target.
    case shut
}

struct Gates {
    /// How far the aps timestamp may run ahead of the wall clock.
    static let timestampLeadMilliseconds: Int64 = 5_000
    /// A wall clock that was set back may be put right at any time, and no event says so.
    static let longestTimestampWaitMilliseconds: Int64 = 60_000

    let record: ActivityRecord
    /// Live as long as the shard, and so longer than its gates are looked at.
    unowned(unsafe) let rules: PacingRules
    let moment: Instant
    /// Of routine updates, after a take-over.
    let turnMilliseconds: Int64
    #if PLANTED_DEFECTS
        var endOvertakes = false
    #endif

    /// For an update that is judged urgent or routine; an end has its own rules.
    func opening(isUrgent: Bool) -> Opening {
        var opens = max(moment.nowMilliseconds, timestampOpens)
        if let flight = record.flight {
            switch flight.phase {
            case .inFlight:
                #if PLANTED_DEFECTS
                    if endOvertakes, record.isEnding { break }
                #endif
                return .shut
            case .waiting(let holdsNewer): if holdsNewer { return .shut }
            case .lapsed: break
            }
        }
        let turn = turn(isUrgent: isUrgent)
        // Numbers are asked for when the turn has come: until then the store has enough to do.
        guard turn < .max, !awaitsStore || turn > moment.nowMilliseconds else { return .shut }
        guard record.target != nil || record.flight?.update.kind == .start else { return .shut }
        if !record.isEnding { opens = max(opens, isUrgent ? urgentOpens : max(routineOpens, turn)) }
        return opens <= moment.nowMilliseconds ? .open : .at(milliseconds: opens)
    }

    /// For the retry of an update that was taken.
    var retryOpening: Opening {
        if record.startNote == .wanted { return .shut }
        return timestampOpens <= moment.nowMilliseconds ? .open : .at(milliseconds: timestampOpens)
    }

    func awaitsTurn(isUrgent: Bool) -> Bool { turn(isUrgent: isUrgent) > moment.nowMilliseconds }

    func turn(isUrgent: Bool) -> Int64 { isUrgent || record.isEnding ? .min : turnMilliseconds }

    /// No number is promised any more, or a start is being noted.
    var awaitsStore: Bool { record.stored.pointee.numbersLeft == 0 || record.startNote == .wanted }

    var timestampOpens: Int64 {
        guard record.lastTimestampSeconds > .min else { return moment.nowMilliseconds }
        let least = (record.lastTimestampSeconds + 1) * 1000 - Gates.timestampLeadMilliseconds
        let wait = min(max(0, least - moment.wallMilliseconds), Gates.longestTimestampWaitMilliseconds)
        return moment.nowMilliseconds + wait
    }

    private var lastSent: Int64? {
        // A stored time ahead of now counts as now.
        record.lastSentAtMilliseconds.map { min($0, moment.nowMilliseconds) }
    }

    var urgentOpens: Int64 {
        record.bucket.refill(nowMilliseconds: moment.nowMilliseconds)
        guard record.bucket.isExhausted, let limits = record.bucket.limits, let lastSent else {
            return moment.nowMilliseconds
        }
        return min(
            lastSent + rules.settings.urgentMinIntervalMilliseconds,
            record.bucket.reaches(-limits.burst + 1, nowMilliseconds: moment.nowMilliseconds))
    }

    private var routineOpens: Int64 { max(bucketOpens, intervalOpens) }

    var intervalOpens: Int64 {
        lastSent.map { $0 + rules.settings.minIntervalMilliseconds } ?? moment.nowMilliseconds
    }

    /// For a routine update.
    var bucketOpens: Int64 {
        record.bucket.refill(nowMilliseconds: moment.nowMilliseconds)
        var opens = record.bucket.reaches(1, nowMilliseconds: moment.nowMilliseconds)
        if let lastSent, let limits = record.bucket.limits {
            // So long after the last send the phone is about to call the activity stale: an empty bucket no longer holds.
            let lenient = max(
                lastSent + rules.refreshAfterMilliseconds,
                record.bucket.reaches(-limits.burst + 1, nowMilliseconds: moment.nowMilliseconds))
            opens = min(opens, lenient)
        }
        return opens
    }
}
