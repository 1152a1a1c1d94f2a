import Flow
import LiveActivities
import Pacing

/// How an activity stands now, a sentence a line; the first one says why nothing moves, or what is about to.
struct SituationText {
    private typealias Words = ExplanationWords

    let explanation: LaneExplanation
    private let decisions: DecisionText

    init(_ explanation: LaneExplanation, isPlayed: Bool) {
        self.explanation = explanation
        decisions = DecisionText(explanation: explanation, isPlayed: isPlayed)
    }

    private var situation: ActivitySituation { explanation.activity.situation }

    var lines: [String] {
        [verdict] + ([told, position, underWay, outage, bucket, target, next, life].compactMap(\.self))
    }

    // MARK: Why nothing moves

    var verdict: String {
        if case .ended(let time) = situation.stage {
            return "It ended at \(Words.time(time)): nothing is told any more."
        }
        if situation.isWaiting { return waiting }
        if let underWay = situation.underWay {
            return underWay.phase == .inFlight
                ? "A push is under way, and nothing else speaks for another."
                : "Nothing newer than what waits to be sent again (#\(underWay.sequence))."
        }
        if situation.gates.contains(where: { $0.kind == .userToken }) {
            return "Nobody to tell: no push-to-start token is registered for its user, or only one that is dead."
        }
        if situation.target == nil {
            return
                "Nobody to tell: the app has not registered an update token, and no token event has brought one."
        }
        guard situation.latest != nil else { return "Nothing to tell: no position has been taken so far." }
        if situation.holdsPosition {
            return
                "Nothing to tell yet: the newest position is implausible, and is held aside until another bears it out."
        }
        if let meters = situation.distanceMeters, let threshold = situation.thresholdMeters, meters <= threshold {
            return "Nothing to tell: the newest position is inside the deadband, and no field that counts has changed."
        }
        return situation.isUnchanged
            ? "Nothing to tell: the content-state would be the same."
            : "Nothing waits; the next event is judged against what the phone shows."
    }

    private var waiting: String {
        let reasons = situation.reasons.words
        if !situation.gates.isEmpty {
            let level = situation.bucket?.level ?? 0
            let gates = situation.gates.map { decisions.gate($0, level: level) }
            return "It waits to tell \(reasons): \(gates.joined(separator: "; "))."
        }
        let since = situation.readySinceMilliseconds.map { " since \(Words.time($0))" } ?? ""
        return "It is ready to tell \(reasons)\(since): \(credit)."
    }

    /// What is missing where all gates are open.
    private var credit: String {
        switch explanation.ownership {
        case .catchingUp: return "its partition was taken over, and nothing leaves before it has caught up"
        case .draining: return "its partition is being handed over, and only what is urgent leaves"
        case .lapsed: return "the right to send for its partition was not renewed in time: is Redis answering?"
        case .sends: break
        }
        if explanation.breaker != .closed {
            return "the breaker of its pool is open, and only single probes leave"
        }
        if explanation.freeStreams == 0 {
            return explanation.streams == 0
                ? "there is no connection to the provider"
                : "all \(explanation.streams) streams to the provider are in use"
        }
        return "it leaves with the next turn"
    }

    // MARK: How it stands

    private var told: String? {
        guard let last = situation.lastSentAtMilliseconds else {
            return situation.beganOnPhone
                ? "told: nothing so far; the phone shows the state of its activity.started"
                : "told: nothing so far"
        }
        return "told: #\(situation.sequence) at \(Words.time(last))"
    }

    private var position: String? {
        guard situation.latest != nil, let time = situation.latestTimestampMilliseconds else { return nil }
        let newest = "position: the newest one taken is of \(Words.time(time))"
        guard let meters = situation.distanceMeters, let threshold = situation.thresholdMeters else {
            return "\(newest); the phone shows none"
        }
        return
            "\(newest), \(Words.meters(meters)) from the one that the phone shows; the deadband is \(Words.meters(threshold)) (\(rule))"
    }

    private var rule: String {
        switch situation.thresholdRule {
        case .surer: "pacing.deadbandMeters: the newer one is much more accurate"
        case .accuracies: "the sum of both accuracies, pacing.accuracyAware"
        case .ceiling: "pacing.deadbandCeilingMeters, for poor accuracies"
        case .smallestWhileWaiting: "the smallest since an update waits"
        case .deadband, nil: "pacing.deadbandMeters"
        }
    }

    private var underWay: String? {
        guard let flight = situation.underWay else { return nil }
        let push = "#\(flight.sequence), attempt \(flight.attempt) at \(Words.time(flight.sentAtMilliseconds))"
        switch flight.phase {
        case .inFlight: return "under way: \(push), no answer yet"
        case .lapsed: return "to be sent again: \(push); its time has come"
        case .waiting:
            let when = explanation.retryAtMilliseconds.map { " at \(Words.time($0))" } ?? ", its time has come"
            return "to be sent again\(when): \(push)"
        }
    }

    private var outage: String? {
        guard explanation.breaker != .closed, let outage = explanation.outages.last else { return nil }
        let probe = explanation.probeAtMilliseconds.map { "the next probe at \(Words.time($0))" } ?? "a probe is out"
        return "breaker: open since \(Words.time(outage.openedAtMilliseconds)) (\(outage.words)); \(probe)"
    }

    private var bucket: String? {
        guard let bucket = situation.bucket else { return "cadence: unlimited (pacing.profile)" }
        let next = bucket.nextTokenAtMilliseconds.map { ", the next one at \(Words.time($0))" } ?? ", full"
        let profile =
            situation.settings.profile == .auto
            ? "pacing.profile auto, frequent updates \(situation.frequentUpdates ? "on" : "not reported")"
            : "pacing.profile \(situation.settings.profile.rawValue)"
        return
            "cadence: \(bucket.level) of \(bucket.burst) tokens, one each \(Words.option(bucket.intervalMilliseconds))\(next) (\(profile))"
    }

    private var target: String? {
        if let target = situation.target {
            let since = situation.targetRegisteredAtMilliseconds.map { ", registered at \(Words.time($0))" } ?? ""
            return "goes to: \(target.words)\(since)"
        }
        if let gone = situation.goneTarget { return "goes to: nobody; the provider called the \(gone.words) dead" }
        return "goes to: nobody, no update token is known"
    }

    private var next: String? {
        guard !situation.isWaiting, situation.settings.refresh, situation.stage == .active,
            let time = situation.quietUntilMilliseconds, time > explanation.activity.atMilliseconds
        else { return nil }
        return situation.hasEventSinceSend
            ? "next: a refresh at \(Words.time(time)), before the card turns stale (pacing.staleAfter, pacing.refreshLead)"
            : "next: a refresh at \(Words.time(time)) if an event comes until then; without one the card turns stale (pacing.staleAfter)"
    }

    private var life: String? {
        situation.lifeEndsAtMilliseconds.map { "life: ends at \(Words.time($0)) (pacing.maxActivityLife)" }
    }
}

extension Outage {
    var words: String { "\(cause == .credential ? "the credential is refused" : "the provider is sick"): \(answer)" }
}
