extension Reaction {
    /// Our fault, whatever the server's health.
    static let refusal = Reaction(update: .refused, evidence: .healthy)
    static let misconfigured = Reaction(update: .refused, evidence: .healthy, alarm: .configuration)

    static func gone(_ answer: ProviderAnswer) -> Reaction {
        Reaction(
            update: .targetGone, token: .gone(atMilliseconds: answer.timestampMilliseconds), evidence: .healthy)
    }

    /// Nothing of this credential can succeed, and no token is to blame.
    static func credentialFault(_ answer: ProviderAnswer, connection: ConnectionFate) -> Reaction {
        Reaction(
            update: .awaitCredential, connection: connection, credential: .pause, evidence: .sickCredential,
            alarm: .credential, leastPauseMilliseconds: answer.leastDelayMilliseconds)
    }
}

extension Reaction.UpdateFate {
    static let atOnce = Reaction.UpdateFate.retry(afterMilliseconds: 0, holdsNewer: false)
}

extension ProviderAnswer {
    var leastDelayMilliseconds: Int64 { (retryAfterSeconds ?? 0) * 1_000 }
}

extension ReactionTable {
    /// A connection that has seen an expired token stays refused, so another one and once more in every case. Minting is allowed
    /// from 20 minutes on and helps from then on; but a token that APNs should still take means that one of the two clocks is
    /// wrong.
    func providerTokenExpired(_ answer: ProviderAnswer, _ attempt: Attempt) -> Reaction {
        let alarm: Reaction.Alarm? = attempt.providerTokenAgeSeconds < providerTokenLifeSeconds ? .clock : nil
        guard attempt.connectionRefusals == 0 else {
            var fault = Reaction.credentialFault(answer, connection: .retire)
            fault.alarm = alarm ?? .credential
            return fault
        }
        return Reaction(
            update: .atOnce, connection: .retire,
            credential: attempt.providerTokenAgeSeconds >= renewalFloorSeconds ? .renew : .keep, evidence: .none,
            alarm: alarm, counts: .connectionRefusal)
    }

    /// Slows this target alone: double its usual interval, and again with each further answer of the kind.
    func throttled(_ answer: ProviderAnswer, _ attempt: Attempt) -> Reaction {
        let grown = Delay.doubled(
            max(1_000, attempt.usualIntervalMilliseconds), times: attempt.throttles + 1,
            atMost: longestThrottleMilliseconds)
        let milliseconds = max(spread(grown, attempt), answer.leastDelayMilliseconds)
        return Reaction(
            update: .retry(afterMilliseconds: milliseconds, holdsNewer: true), evidence: .healthy, counts: .throttle)
    }

    func serverError(_ answer: ProviderAnswer, _ attempt: Attempt) -> Reaction {
        Reaction(
            update: held(answer, attempt), evidence: .sickServer, counts: .serverError,
            leastPauseMilliseconds: answer.leastDelayMilliseconds)
    }

    /// Apple: try again after 15 minutes, with growing delays. Newer content need not wait.
    func held(_ answer: ProviderAnswer, _ attempt: Attempt) -> Reaction.UpdateFate {
        .retry(
            afterMilliseconds: max(hold(times: attempt.serverErrors, attempt), answer.leastDelayMilliseconds),
            holdsNewer: false)
    }

    /// A second copy of an update or end carries a newer timestamp and the same state: it changes nothing. A second start could
    /// begin a second activity.
    func unknownOutcome(_ attempt: Attempt) -> Reaction.UpdateFate {
        if attempt.event == .start { return .startUnknown }
        guard attempt.unknownOutcomes < unknownOutcomeLimit else {
            return .retry(
                afterMilliseconds: hold(times: attempt.unknownOutcomes - unknownOutcomeLimit, attempt),
                holdsNewer: false)
        }
        return .retry(afterMilliseconds: repeatDelay(attempt.unknownOutcomes, attempt), holdsNewer: false)
    }

    /// At once, then after growing delays.
    func repeatDelay(_ earlier: Int, _ attempt: Attempt) -> Int64 {
        guard earlier > 0 else { return 0 }
        return spread(
            Delay.doubled(repeatDelayMilliseconds, times: earlier - 1, atMost: serverErrorHoldMilliseconds), attempt)
    }

    private func hold(times: Int, _ attempt: Attempt) -> Int64 {
        spread(
            Delay.doubled(
                serverErrorHoldMilliseconds, times: times,
                atMost: max(longestHoldMilliseconds, serverErrorHoldMilliseconds)),
            attempt)
    }

    /// Longer by up to an eighth and never shorter, so that what was refused together does not come back together.
    private func spread(_ milliseconds: Int64, _ attempt: Attempt) -> Int64 {
        milliseconds + Delay.share(of: milliseconds / 8, random: attempt.random)
    }
}
