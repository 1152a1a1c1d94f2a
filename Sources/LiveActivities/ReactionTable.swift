/// The one table from answers and signals to reactions.
///
/// Sources: Apple, "Handling notification responses from APNs" and "Handling error responses from Apple Push Notification
/// service"; RFC 9113, sections 6.8 and 8.7, for signals of the connection.
public struct ReactionTable: Sendable {
    /// `delivery.serverErrorHold`: the same content is not repeated before this after a 5xx. Apple asks for 15 minutes.
    public var serverErrorHoldMilliseconds: Int64 = 15 * 60_000
    /// To which the hold grows.
    public var longestHoldMilliseconds: Int64 = 4 * 3_600_000
    /// To which a throttled target is slowed.
    public var longestThrottleMilliseconds: Int64 = 15 * 60_000
    /// What may go again at once the first time waits so long the second time, and doubles from there.
    public var repeatDelayMilliseconds: Int64 = 1_000
    /// After so many unknown outcomes the same content is held as after a 5xx.
    public var unknownOutcomeLimit = 6
    /// A provider token is not to be replaced sooner than this.
    public var renewalFloorSeconds: Int64 = 20 * 60
    /// APNs takes a provider token for an hour.
    public var providerTokenLifeSeconds: Int64 = 60 * 60

    public init() {}

    /// The reason decides; an unknown one, or none, leaves it to the status class.
    public func reaction(to answer: ProviderAnswer, of attempt: Attempt) -> Reaction {
        if answer.isAccepted { return Reaction(update: .accepted, evidence: .accepted) }
        switch answer.reason {
        case nil, .unknown: return reaction(toStatusOf: answer, attempt)
        case .some(let reason): return reaction(to: reason, answer, attempt)
        }
    }

    private func reaction(to reason: APNsReason, _ answer: ProviderAnswer, _ attempt: Attempt) -> Reaction {
        switch reason {
        case .badCollapseId, .badExpirationDate, .badMessageId, .badPriority, .duplicateHeaders, .invalidPushType,
            .missingDeviceToken, .payloadEmpty, .badPath, .methodNotAllowed, .payloadTooLarge:
            return .refusal
        case .badTopic, .missingTopic:
            return .misconfigured
        case .badDeviceToken, .deviceTokenNotForTopic:
            return Reaction(update: .refused, token: .suspect, evidence: .healthy)
        case .expiredToken, .unregistered:
            return .gone(answer)
        case .tooManyRequests:
            return throttled(answer, attempt)
        case .topicDisallowed:
            // The connection learnt its bundle ids at the first push: an app that was added later needs a new one.
            return .credentialFault(answer, connection: .retire)
        case .badCertificate, .badCertificateEnvironment, .invalidProviderToken, .missingProviderToken,
            .badEnvironmentKeyIdInToken:
            return .credentialFault(answer, connection: .retireAll)
        case .forbidden:
            // On Apple's list of what is never sent again.
            var fault = Reaction.credentialFault(answer, connection: .retireAll)
            fault.update = .refused
            return fault
        case .expiredProviderToken:
            return providerTokenExpired(answer, attempt)
        case .tooManyProviderTokenUpdates, .unrelatedKeyIdInToken:
            // Another connection with the same token may do (for too many updates a new token would make it worse).
            return attempt.connectionRefusals == 0
                ? Reaction(update: .atOnce, connection: .retire, evidence: .none, counts: .connectionRefusal)
                : .credentialFault(answer, connection: .retire)
        case .idleTimeout:
            return Reaction(
                update: .retry(afterMilliseconds: repeatDelay(attempt.connectionRefusals, attempt), holdsNewer: false),
                connection: .retire, evidence: .none, counts: .connectionRefusal)
        case .shutdown:
            var error = serverError(answer, attempt)
            error.connection = .retire
            return error
        case .internalServerError, .serviceUnavailable:
            return serverError(answer, attempt)
        case .unknown:
            return reaction(toStatusOf: answer, attempt)
        }
    }

    private func reaction(toStatusOf answer: ProviderAnswer, _ attempt: Attempt) -> Reaction {
        switch answer.status {
        case 403: .credentialFault(answer, connection: .retireAll)
        case 410: .gone(answer)
        case 429: throttled(answer, attempt)
        case 300...499: .refusal
        case 500...599: serverError(answer, attempt)
        default: reaction(to: .malformedAnswer, of: attempt)
        }
    }

    public func reaction(to signal: ConnectionSignal, of attempt: Attempt) -> Reaction {
        switch signal {
        case .connectFailed:
            // The back-off of connecting is pause enough; the breaker judges answers.
            Reaction(update: .sendAgain, connection: .reconnect, evidence: .none)
        case .refusedStream, .streamReset(errorCode: 7):
            Reaction(update: .sendAgain, evidence: .none)
        case .notProcessed:
            Reaction(update: .sendAgain, connection: .retire, evidence: .none)
        case .goAway(let reason):
            reaction(toGoAway: reason, attempt)
        case .streamReset, .malformedAnswer, .timedOut:
            Reaction(update: unknownOutcome(attempt), evidence: .sickServer, counts: .unknownOutcome)
        case .closedAfterGoAway:
            Reaction(update: unknownOutcome(attempt), connection: .reconnect, evidence: .none, counts: .unknownOutcome)
        case .connectionLost:
            Reaction(
                update: unknownOutcome(attempt), connection: .reconnect, evidence: .lostConnection,
                counts: .unknownOutcome)
        case .pingUnanswered:
            Reaction(
                update: unknownOutcome(attempt), connection: .close, evidence: .lostConnection, counts: .unknownOutcome)
        case .streamLimitLowered:
            Reaction(update: .unaffected, evidence: .none)
        }
    }

    /// The part of the reason's reaction that concerns the connection and what it authenticated with.
    private func reaction(toGoAway reason: APNsReason?, _ attempt: Attempt) -> Reaction {
        var reaction = Reaction(update: .unaffected, connection: .retire, evidence: .none)
        guard let reason else { return reaction }
        if case .unknown = reason { return reaction }
        let asAnswer = self.reaction(to: ProviderAnswer(status: 0, reason: reason), of: attempt)
        reaction.credential = asAnswer.credential
        reaction.alarm = asAnswer.alarm
        if asAnswer.connection == .retireAll { reaction.connection = .retireAll }
        if asAnswer.evidence == .sickCredential { reaction.evidence = .sickCredential }
        return reaction
    }
}
