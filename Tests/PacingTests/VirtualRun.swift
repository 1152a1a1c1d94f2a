import Telemetry
import Testing

@testable import Pacing

/// Runs a shard in virtual time as `plan` does: timers before a record fire first, and each send is answered at once.
/// After every step the accounting is checked: activity events read = decisions + pending.
final class VirtualRun {
    struct Send: CustomStringConvertible {
        let update: Update
        let seconds: Double

        var description: String {
            "\(seconds): \(update.kind) #\(update.sequence) \(update.reasons.names)"
        }
    }

    let shard: Shard
    private(set) var sends: [Send] = []
    private(set) var faults: [EventFault] = []
    private(set) var nowMilliseconds = EventBuilder.epochMilliseconds
    /// The wall clock is so far ahead of `now`.
    var wallSkewMilliseconds: Int64 = 0
    /// How the provider answers.
    var answer: (Update) -> Settlement? = { _ in .accepted }
    /// No credits, no sends.
    var hasCredits = true

    init(_ settings: PacingSettings = .defaults, planTargets: Bool = true) {
        shard = Shard(settings: ShardSettings(default: settings, planTargets: planTargets, hashSeed: 42))
    }

    init(_ settings: ShardSettings, journal: Journal? = nil) {
        shard = Shard(settings: settings, journal: journal)
    }

    var seconds: Double { Double(nowMilliseconds - EventBuilder.epochMilliseconds) / 1000 }
    var updates: [Update] { sends.map(\.update) }
    var last: Update? { sends.last?.update }
    var instant: Instant {
        Instant(nowMilliseconds: nowMilliseconds, wallMilliseconds: nowMilliseconds + wallSkewMilliseconds)
    }

    /// At its own timestamp, unless `at` says otherwise.
    func apply(
        _ event: Event, at seconds: Double? = nil, offset: Int64 = -1, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        advance(toMilliseconds: seconds.map(EventBuilder.milliseconds) ?? event.timestampMilliseconds, sourceLocation)
        faults += shard.apply(event, offset: offset, at: instant).faults
        check(sourceLocation)
        dispatch(sourceLocation)
    }

    /// Fires what is due before then; at that very instant records come first.
    func advance(to seconds: Double, sourceLocation: SourceLocation = #_sourceLocation) {
        advance(toMilliseconds: EventBuilder.milliseconds(seconds), sourceLocation)
    }

    /// Fires also what is due exactly then.
    func settle(at seconds: Double, sourceLocation: SourceLocation = #_sourceLocation) {
        advance(to: seconds, sourceLocation: sourceLocation)
        fire(sourceLocation)
    }

    /// The end of the recording: the clock runs on while something waits that time alone releases.
    func finish(sourceLocation: SourceLocation = #_sourceLocation) {
        shard.finish(at: instant)
        check(sourceLocation)
        while let due = shard.nextDueMilliseconds {
            nowMilliseconds = max(nowMilliseconds, due)
            fire(sourceLocation)
        }
    }

    func dispatch(_ sourceLocation: SourceLocation = #_sourceLocation) {
        guard hasCredits else { return }
        while shard.ready(pool: 0) != nil {
            if let update = shard.take(pool: 0, at: instant) {
                check(sourceLocation)
                sends.append(Send(update: update, seconds: seconds))
                if let settlement = answer(update) { shard.settle(update.ticket, settlement, at: instant) }
            }
            check(sourceLocation)
        }
    }

    func retake(_ ticket: Ticket, sourceLocation: SourceLocation = #_sourceLocation) -> Update? {
        let update = shard.retake(ticket, at: instant)
        check(sourceLocation)
        if let update { sends.append(Send(update: update, seconds: seconds)) }
        dispatch(sourceLocation)
        return update
    }

    func settle(_ update: Update, _ settlement: Settlement, sourceLocation: SourceLocation = #_sourceLocation) {
        shard.settle(update.ticket, settlement, at: instant)
        check(sourceLocation)
        dispatch(sourceLocation)
    }

    /// All decisions that are not zero, pending among them.
    var decisions: [String: UInt64] {
        var counts: [String: UInt64] = [:]
        for decision in Decision.allCases where shard.decisions[decision] > 0 {
            counts[decision.name] = shard.decisions[decision]
        }
        if shard.decisions.pending > 0 { counts["pending"] = shard.decisions.pending }
        return counts
    }

    private func advance(toMilliseconds target: Int64, _ sourceLocation: SourceLocation) {
        while let due = shard.nextDueMilliseconds, due < target {
            nowMilliseconds = max(nowMilliseconds, due)
            fire(sourceLocation)
        }
        nowMilliseconds = max(nowMilliseconds, target)
    }

    private func fire(_ sourceLocation: SourceLocation) {
        shard.fire(at: instant)
        check(sourceLocation)
        dispatch(sourceLocation)
    }

    private func check(_ sourceLocation: SourceLocation) {
        let counts = shard.decisions
        if counts.activityEvents != counts.decided + counts.pending {
            Issue.record(
                "read \(counts.activityEvents), decided \(counts.decided), pending \(counts.pending): \(decisions)",
                sourceLocation: sourceLocation)
        }
    }
}
