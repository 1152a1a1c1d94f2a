import LiveActivities
import Pacing
import Telemetry

extension Lane {
    /// After so many turns without being processed the same content waits a little, so that a server that refuses all is not hammered.
    static let freeSendAgains = 10
    static let firstSendAgainDelayMilliseconds: Int64 = 100
    static let longestSendAgainDelayMilliseconds: Int64 = 5_000

    /// The answer to a dispatch. Each identifier is completed once; a second time, or an unknown one, gives nil and changes nothing.
    public func complete(_ identifier: UInt64, _ outcome: DispatchOutcome, at moment: Moment) -> Completion? {
        let completion = settle(identifier, outcome, at: moment)
        if let completion { explain(completion, outcome, at: moment) }
        return completion
    }

    private func settle(_ identifier: UInt64, _ outcome: DispatchOutcome, at moment: Moment) -> Completion? {
        guard let flight = inFlight.remove(identifier) else { return nil }
        hasNews = true
        pools[flight.pool].release(link: flight.link)
        let isOrphan = standings[flight.shard].incarnation != flight.incarnation
        if !isOrphan { standings[flight.shard].inFlight -= 1 }
        switch outcome {
        case .unsent:
            _ = record(.none, of: flight, at: moment)
            if !isOrphan { shards[flight.shard].settle(flight.update.ticket, .unsent, at: moment.pacing) }
            return Completion(
                dispatch: flight, fate: .unsent, reason: nil, alarm: nil, breaker: nil, isSuspicionAlarming: false)
        case .answered(let answer, let ageSeconds):
            let reaction = settings.reactions.reaction(
                to: answer, of: attempt(flight, providerTokenAgeSeconds: ageSeconds))
            var completion = perform(reaction, on: flight, reason: answer.reason, at: moment)
            completion.answer = answer
            return completion
        case .signalled(let signal):
            return perform(
                settings.reactions.reaction(to: signal, of: attempt(flight, providerTokenAgeSeconds: 0)), on: flight,
                reason: nil, at: moment)
        }
    }

    private func attempt(_ flight: Dispatch, providerTokenAgeSeconds: Int64) -> Attempt {
        Attempt(
            event: flight.update.kind.event, serverErrors: flight.tries.serverErrors,
            unknownOutcomes: flight.tries.unknownOutcomes, connectionRefusals: flight.tries.connectionRefusals,
            throttles: throttles.isEmpty ? 0 : throttles[flight.update.activityIdentifier]?.count ?? 0,
            usualIntervalMilliseconds: settings.shard.minIntervalMilliseconds(
                attributesType: flight.update.attributesType),
            providerTokenAgeSeconds: providerTokenAgeSeconds, random: random.next())
    }

    private func record(
        _ evidence: Breaker.Evidence, of flight: Dispatch, leastPauseMilliseconds: Int64 = 0, at moment: Moment
    ) -> Breaker.Change? {
        pools[flight.pool].breaker.record(
            evidence, permit: flight.permit, atMilliseconds: moment.realMilliseconds, random: random.next(),
            leastPauseMilliseconds: leastPauseMilliseconds)
    }

    private func perform(
        _ reaction: Reaction, on flight: Dispatch, reason: APNsReason?, at moment: Moment
    ) -> Completion {
        let isOrphan = standings[flight.shard].incarnation != flight.incarnation
        var evidence = reaction.evidence
        var mayForget = false
        if reaction.token == .suspect, !isOrphan {
            mayForget = pools[flight.pool].tokenRefused(flight.update.target.deviceToken)
            if pools[flight.pool].suspicion.isWave { evidence = .refusedTokens }
        }
        let change = record(
            evidence, of: flight, leastPauseMilliseconds: reaction.leastPauseMilliseconds, at: moment)
        if reaction.counts == .throttle {
            // One that has gone with its partition would be kept for ever.
            if !isOrphan {
                throttles[flight.update.activityIdentifier, default: Throttle(shard: flight.shard)].count += 1
            }
        } else if !throttles.isEmpty,
            reaction.update == .accepted || reaction.update == .refused || reaction.update == .targetGone
        {
            throttles[flight.update.activityIdentifier] = nil
        }
        let fate = settle(flight, reaction, mayForget: mayForget, isWave: evidence == .refusedTokens, at: moment)
        return Completion(
            dispatch: flight, fate: fate, reason: reason, alarm: reaction.alarm, breaker: change,
            isSuspicionAlarming: reaction.token == .suspect && pools[flight.pool].suspicion.isAlarming)
    }

    /// - Parameters:
    ///   - mayForget: the token was refused, and may be taken for dead.
    ///   - isWave: it was refused with all the others, so that neither it nor the update is to blame.
    private func settle(
        _ flight: Dispatch, _ reaction: Reaction, mayForget: Bool, isWave: Bool, at moment: Moment
    ) -> Completion.Fate {
        let ticket = flight.update.ticket
        let shard = shards[flight.shard]
        if standings[flight.shard].incarnation != flight.incarnation { return .orphaned }
        switch reaction.update {
        case .accepted:
            pools[flight.pool].accepted(flight.update.target)
            shard.settle(ticket, .accepted, at: moment.pacing)
            return .accepted
        case .refused where isWave:
            // Others probe meanwhile; what was refused is asked again when somebody may have mended the configuration.
            let milliseconds = settings.reactions.serverErrorHoldMilliseconds
            hold(flight, milliseconds: milliseconds, holdsNewer: false, after: reaction, at: moment)
            return .held(milliseconds: milliseconds)
        case .refused:
            if mayForget {
                shard.forgetStartToken(of: ticket, goneAtMilliseconds: flight.update.takenAt.wallMilliseconds)
            }
            shard.settle(ticket, mayForget ? .targetGone : .refused, at: moment.pacing)
            return mayForget ? .targetGone : .refused
        case .targetGone:
            return settleGone(flight, reaction, at: moment)
        case .startUnknown:
            shard.settle(ticket, .unknownStart, at: moment.pacing)
            return .startUnknown
        case .awaitCredential:
            // The pool's breaker is open: it decides when, so nothing is waited for here.
            hold(flight, milliseconds: 0, holdsNewer: false, after: reaction, at: moment)
            return .held(milliseconds: 0)
        case .sendAgain, .unaffected:
            hold(flight, milliseconds: sendAgainDelay(flight.tries), holdsNewer: false, after: reaction, at: moment)
            return .sendAgain
        case .retry(let milliseconds, let holdsNewer):
            hold(flight, milliseconds: milliseconds, holdsNewer: holdsNewer, after: reaction, at: moment)
            return .held(milliseconds: milliseconds)
        }
    }

    /// A 410 speaks of the time before it: a token that the app has reported since is alive, and its state is tried again later.
    private func settleGone(_ flight: Dispatch, _ reaction: Reaction, at moment: Moment) -> Completion.Fate {
        let update = flight.update
        var goneAtMilliseconds: Int64?
        if case .gone(let milliseconds) = reaction.token { goneAtMilliseconds = milliseconds }
        // By now it may have been reported anew, or another may have taken its place: that one is not to blame.
        let registeredAt = shards[flight.shard].targetRegisteredAtMilliseconds(of: update.ticket)
        let mayForget =
            registeredAt.map {
                GoneToken.mayBeForgotten(
                    registeredAtMilliseconds: $0, goneAtMilliseconds: goneAtMilliseconds, isStillOnFile: true,
                    wasSentAtMilliseconds: update.takenAt.wallMilliseconds)
            } ?? true
        if mayForget {
            shards[flight.shard].forgetStartToken(
                of: update.ticket, goneAtMilliseconds: goneAtMilliseconds ?? update.takenAt.wallMilliseconds)
            shards[flight.shard].settle(update.ticket, .targetGone, at: moment.pacing)
            return .targetGone
        }
        // The app has reported the very same token since the push left: the answer is of the time before, and the state goes to it once more.
        if registeredAt != update.targetRegisteredAtMilliseconds {
            shards[flight.shard].settle(update.ticket, .targetGone, at: moment.pacing)
            return .sendAgain
        }
        let milliseconds = settings.reactions.serverErrorHoldMilliseconds
        hold(flight, milliseconds: milliseconds, holdsNewer: false, after: reaction, at: moment)
        return .held(milliseconds: milliseconds)
    }

    private func sendAgainDelay(_ tries: Tries) -> Int64 {
        let beyond = tries.notProcessed - Lane.freeSendAgains
        guard beyond >= 0 else { return 0 }
        return min(
            Lane.longestSendAgainDelayMilliseconds, Lane.firstSendAgainDelayMilliseconds << Int64(min(beyond, 10)))
    }

    private func hold(
        _ flight: Dispatch, milliseconds: Int64, holdsNewer: Bool, after reaction: Reaction, at moment: Moment
    ) {
        var tries = flight.tries
        tries.count(reaction)
        let ticket = flight.update.ticket
        shards[flight.shard].settle(ticket, .retry(holdsNewer: holdsNewer), at: moment.pacing)
        pools[flight.pool].retries.add(
            RetryQueue.Waiting(
                ticket: ticket, shard: flight.shard, isUrgent: flight.update.isUrgent, tries: tries,
                notBeforeMilliseconds: moment.realMilliseconds + milliseconds, order: nextRetryOrder))
        nextRetryOrder += 1
    }
}
