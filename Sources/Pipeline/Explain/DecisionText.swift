import Flow
import Pacing

/// What was decided, in a sentence that names the option to change.
struct DecisionText {
    private typealias Words = ExplanationWords

    let explanation: LaneExplanation
    /// In a plan every push counts as accepted.
    let isPlayed: Bool

    private var settings: PacingSettings { explanation.activity.situation.settings }

    func text(_ decision: ExplainedDecision) -> String {
        switch decision.what {
        case .began(let beginning): began(beginning)
        case .insideDeadband(let distance): inside(distance, decision.count)
        case .dropped(let drop): dropped(drop, decision.count)
        case .heldAside(let drop):
            "\(Words.events(decision.count, "position", "positions")) held aside as implausible: \(speed(drop)); the next position decides"
        case .applied:
            "\(Words.events(decision.count, "event", "events")) that changed nothing the phone shows: nothing is told for that"
        case .waits(let wait): waits(wait, decision)
        case .decided(let decision, let distance): decided(decision, distance)
        case .sent(let send): sent(send)
        case .answered(let answer): "#\(answer.sequence): \(self.answer(answer))"
        case .target(let change): target(change)
        case .ended(let ending): ended(ending)
        }
    }

    private func began(_ beginning: Beginning) -> String {
        switch beginning {
        case .start: "begun by its activity.started"
        case .firstEvent: "begun by its first event: no activity.started had come (pacing.autoStart)"
        case .newLife: "begun anew: an activity.started with a target of its own came after the end"
        case .takenOver:
            "loaded from its checkpoint, as after a take-over: what was decided before is not known to this process"
        }
    }

    private func inside(_ distance: ExplainedDecision.Distance, _ count: Int) -> String {
        let events = Words.events(count, "position", "positions")
        let most = count == 1 ? "" : "at most "
        return
            "\(events) inside the deadband: \(most)\(Words.meters(distance.meters)) of \(Words.meters(distance.thresholdMeters)) from the one that the phone shows (\(rule(distance)))"
    }

    /// The option that gave the threshold.
    private func rule(_ distance: ExplainedDecision.Distance) -> String {
        if distance.thresholdMeters <= settings.deadbandMeters { return "pacing.deadbandMeters" }
        return distance.thresholdMeters >= settings.deadbandCeilingMeters
            ? "pacing.deadbandCeilingMeters, for poor accuracies" : "the sum of both accuracies, pacing.accuracyAware"
    }

    private func dropped(_ drop: ExplainedDecision.Drop, _ count: Int) -> String {
        let positions = Words.events(count, "position", "positions")
        let events = Words.events(count, "event", "events")
        let value = drop.value ?? 0
        let limit = drop.limit ?? 0
        let worst = count == 1 ? "" : "up to "
        return switch drop.decision {
        case .afterEnd:
            "\(events) dropped: the activity has ended (after_end); an activity.started with a new target begins it anew"
        case .duplicate:
            "\(events) dropped as duplicate: an eventId or a position time that was here before, or a record read again"
        case .outOfOrder:
            "\(positions) dropped as out_of_order: \(worst)\(Words.duration(Int64(value))) older than the newest one"
        case .nullIsland:
            "\(positions) dropped as null_island: latitude and longitude 0, a receiver without a fix (pacing.allowNullIsland)"
        case .inaccurate:
            "\(positions) dropped as inaccurate: accuracy \(worst)\(Words.meters(value)), \(Words.meters(limit)) is the limit (pacing.maxAccuracyMeters)"
        case .future:
            "\(positions) dropped as future: \(worst)\(Words.duration(Int64(value))) ahead of the clock, \(Words.option(Int64(limit))) is the limit (pacing.maxFuture); compare the producer's clock"
        case .tooOld:
            "\(positions) dropped as too_old: \(worst)\(Words.duration(Int64(value))) old, \(Words.option(Int64(limit))) is the limit (pacing.maxAge)"
        case .implausible:
            drop.value == nil
                ? "\(positions) that had been held aside dropped as implausible: no later one bore \(count == 1 ? "it" : "them") out"
                : "\(positions) dropped as implausible: \(speed(drop))"
        case .deadLetter:
            "\(events) refused: see waypulse dlq list --activity \(explanation.activity.activityIdentifier)"
        default: "\(events) dropped: \(drop.decision.name)"
        }
    }

    private func speed(_ drop: ExplainedDecision.Drop) -> String {
        "\(Words.decimal(drop.value ?? 0, places: 0)) m/s from the last one taken, \(Words.decimal(drop.limit ?? 0, places: 1)) m/s is the limit (pacing.maxSpeedMetersPerSecond)"
    }

    private func waits(_ wait: ExplainedDecision.Wait, _ decision: ExplainedDecision) -> String {
        var text = "\(wait.isUrgent ? "urgent" : "routine") update waits (\(wait.reasons.words)"
        if wait.reasons.contains(.distance), let distance = wait.distance {
            text += ": \(Words.meters(distance.meters)), deadband \(Words.meters(distance.thresholdMeters))"
        }
        text += ")"
        if decision.count > 1 { text += ", \(Words.events(decision.count, "event", "events")) in it" }
        let gates = wait.gates.map { gate($0, level: wait.level) }
        return "\(text): \(gates.joined(separator: "; "))"
    }

    /// Which gate is shut, and what opens it.
    func gate(_ gate: ExplainedGate, level: Int) -> String {
        let opens = gate.opensAtMilliseconds.map { ", open at \(Words.time($0))" } ?? ""
        return switch gate.kind {
        case .inFlight: "the push before it is not answered yet, and one is under way at a time"
        case .retry: "the push before it is to be sent again first"
        case .turn:
            opens.isEmpty
                ? "its partition was taken over and has not caught up yet"
                : "its partition was taken over, and routine updates leave in turn\(opens)"
        case .numbers: "the store has not confirmed the checkpoint that reserves its number: is Redis answering?"
        case .startNote: "the store has not confirmed the note that a start is about to leave: is Redis answering?"
        case .startCount: "the registry has not said whether its phone takes another start: is Redis answering?"
        case .startBudget:
            "its phone has had pacing.startBudget starts within pacing.startBudgetWindow, and would drop another without a word\(opens)"
        case .userToken: "no push-to-start token is registered for its user, or only one that is dead"
        case .replaced: "the activity that it replaces is ended first"
        case .target: "the app has not registered an update token, and no token event has brought one"
        case .timestamp:
            "aps.timestamp, which must rise with each push, would run more than 5 s ahead of the clock\(opens)"
        case .minInterval: "pacing.minInterval is \(Words.option(settings.minIntervalMilliseconds))\(opens)"
        case .bucket: "the cadence bucket has \(level) tokens, and 1 is needed (pacing.profile)\(opens)"
        case .urgentMinInterval:
            "the cadence bucket is exhausted at \(level), so pacing.urgentMinInterval, \(Words.option(settings.urgentMinIntervalMilliseconds)), holds\(opens)"
        }
    }

    private func decided(_ decision: Decision, _ distance: ExplainedDecision.Distance?) -> String {
        let away = distance.map { ", \(Words.meters($0.meters)) away" } ?? ""
        return switch decision {
        case .returned: "what waited is told no more (returned): the phone is right again\(away)"
        case .unchanged:
            "what waited is told no more (unchanged)\(away): the content-state would be the same; pacing.positionFields says what of a position is written"
        default: "what waited is told no more: \(decision.name)"
        }
    }

    private func sent(_ send: ExplainedDecision.Send) -> String {
        var text = send.attempt > 1 ? "sent again, attempt \(send.attempt)" : "sent"
        text += " #\(send.sequence): \(send.kind.word) for \(send.reasons.words)"
        if send.reasons.contains(.distance), let distance = send.distance {
            text += " (\(Words.meters(distance.meters)), deadband \(Words.meters(distance.thresholdMeters)))"
        }
        text += ", priority \(send.priority)"
        // Everything waits for a turn of the lane.
        if send.creditMilliseconds >= 100 {
            text += ", after \(Words.duration(send.creditMilliseconds)) without a free stream"
        }
        let identifier = APNsIdentifier(activity: explanation.activity.activityIdentifier, sequence: send.sequence)
        text += ", apns-id \(identifier)"
        if isPlayed { return text }
        return "\(text): \(send.answer.map(answer) ?? "no answer is known")"
    }

    /// What the provider said, and what followed.
    func answer(_ answer: JournalAnswer) -> String {
        let reason = explanation.reason(answer)
        let said =
            answer.status == 0
            ? (reason ?? "no answer") : "\(answer.status)\(reason.map { " \($0)" } ?? "")"
        let took = " after \(Words.duration(answer.tookMilliseconds))"
        return switch answer.fate {
        case .accepted: "accepted (\(said))\(took)"
        case .refused:
            "refused for good (\(said))\(took): the phone shows what it did before, and the update is a dead letter"
        case .targetGone: "\(said)\(took): the token is gone, and nothing leaves before the app registers another"
        case .held where answer.holdMilliseconds == 0:
            "\(said)\(took): the credential is refused; it goes again when the breaker lets it"
        case .held:
            "\(said)\(took): the same content waits \(Words.duration(answer.holdMilliseconds)) (delivery.serverErrorHold for 5xx), newer content may go before"
        case .sendAgain: "not processed (\(said))\(took): it goes again at once"
        case .startUnknown:
            "\(said)\(took): whether a card was started is not known, and a start is never repeated; what came since waits for the card's token"
        case .unsent: "never left: no stream was free after all"
        case .unpushable:
            "not sent, as APNs or the phone would not take it (\(said)): see waypulse dlq list --stage push"
        }
    }

    private func target(_ change: TargetChange) -> String {
        switch change {
        case .updateToken: "an update token came: pushes go to it from now on"
        case .newUpdateToken: "another update token came: the newest state is told to it"
        case .startToken: "a start token came: a start is to be pushed to it"
        case .channel: "a broadcast channel was named: pushes go to it from now on"
        }
    }

    private func ended(_ ending: Ending) -> String {
        switch ending {
        case .event: "ended by an activity.ended: its final state is told, and nothing after it"
        case .lifeLimit: "ended by its age: pacing.maxActivityLife has passed"
        case .unsendable: "its end cannot be told: it never had a card or a token"
        }
    }
}
