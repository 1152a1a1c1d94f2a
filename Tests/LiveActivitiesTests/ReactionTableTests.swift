import LiveActivities
import Testing

@Suite("Each answer and its reaction")
struct ReactionTableTests {
    private let table = ReactionTable()
    private let quarterHour: Int64 = 900_000

    private func reaction(
        _ status: Int, _ reason: APNsReason? = nil, retryAfter: Int64? = nil, timestamp: Int64? = nil,
        _ event: Push.Event = .update, _ change: (inout Attempt) -> Void = { _ in }
    ) -> Reaction {
        var attempt = Attempt(event: event)
        change(&attempt)
        return table.reaction(
            to: ProviderAnswer(
                status: status, reason: reason, timestampMilliseconds: timestamp, retryAfterSeconds: retryAfter),
            of: attempt)
    }

    private func held(_ milliseconds: Int64, retryAfterMilliseconds: Int64 = 0) -> Reaction {
        Reaction(
            update: .retry(afterMilliseconds: milliseconds, holdsNewer: false), evidence: .sickServer,
            counts: .serverError, leastPauseMilliseconds: retryAfterMilliseconds)
    }

    @Test("200 settles")
    func accepted() {
        #expect(reaction(200) == Reaction(update: .accepted, evidence: .accepted))
    }

    @Test(
        "our own faults are dead-lettered and blame neither token nor server",
        arguments: [
            (400, APNsReason.badCollapseId), (400, .badExpirationDate), (400, .badMessageId), (400, .badPriority),
            (400, .duplicateHeaders), (400, .invalidPushType), (400, .missingDeviceToken), (400, .payloadEmpty),
            (404, .badPath), (405, .methodNotAllowed), (413, .payloadTooLarge),
        ])
    func fix(row: (status: Int, reason: APNsReason)) {
        #expect(reaction(row.status, row.reason) == Reaction(update: .refused, evidence: .healthy))
    }

    @Test("a wrong topic is a matter of configuration", arguments: [APNsReason.badTopic, .missingTopic])
    func topic(reason: APNsReason) {
        #expect(
            reaction(400, reason) == Reaction(update: .refused, evidence: .healthy, alarm: .configuration))
    }

    @Test(
        "a bad token is suspect, never simply forgotten, and its push not sent again",
        arguments: [APNsReason.badDeviceToken, .deviceTokenNotForTopic])
    func badToken(reason: APNsReason) {
        #expect(reaction(400, reason) == Reaction(update: .refused, token: .suspect, evidence: .healthy))
    }

    @Test(
        "a dead token is left to the rule of times",
        arguments: [APNsReason.expiredToken, .unregistered, .unknown("New")])
    func gone(reason: APNsReason) {
        #expect(
            reaction(410, reason, timestamp: 2_000)
                == Reaction(update: .targetGone, token: .gone(atMilliseconds: 2_000), evidence: .healthy))
        #expect(
            reaction(410, reason)
                == Reaction(update: .targetGone, token: .gone(atMilliseconds: nil), evidence: .healthy))
    }

    @Test(
        "a credential fault pauses all that uses it; the update waits, no token is to blame",
        arguments: [
            APNsReason.badCertificate, .badCertificateEnvironment, .invalidProviderToken, .missingProviderToken,
            .badEnvironmentKeyIdInToken,
        ])
    func credential(reason: APNsReason) {
        #expect(
            reaction(403, reason)
                == Reaction(
                    update: .awaitCredential, connection: .retireAll, credential: .pause, evidence: .sickCredential,
                    alarm: .credential))
    }

    @Test("a push that is forbidden is never sent again")
    func forbidden() {
        #expect(
            reaction(403, .forbidden)
                == Reaction(
                    update: .refused, connection: .retireAll, credential: .pause, evidence: .sickCredential,
                    alarm: .credential))
    }

    @Test("a topic that the identity may not push to needs a new connection: the app may have been added lately")
    func topicDisallowed() {
        #expect(
            reaction(400, .topicDisallowed)
                == Reaction(
                    update: .awaitCredential, connection: .retire, credential: .pause, evidence: .sickCredential,
                    alarm: .credential))
    }

    @Test("an old provider token is renewed, and the update goes once more on a fresh connection")
    func expired() {
        #expect(
            reaction(403, .expiredProviderToken) { $0.providerTokenAgeSeconds = 3_600 }
                == Reaction(
                    update: .retry(afterMilliseconds: 0, holdsNewer: false), connection: .retire, credential: .renew,
                    evidence: .none, counts: .connectionRefusal))
    }

    @Test("a provider token that should still be good tells of a wrong clock; it is renewed if that is allowed")
    func expiredYoung() {
        for (age, credential) in [(0, Reaction.CredentialFate.keep), (1_199, .keep), (1_200, .renew), (3_599, .renew)] {
            #expect(
                reaction(403, .expiredProviderToken) { $0.providerTokenAgeSeconds = Int64(age) }
                    == Reaction(
                        update: .retry(afterMilliseconds: 0, holdsNewer: false), connection: .retire,
                        credential: credential, evidence: .none, alarm: .clock, counts: .connectionRefusal))
        }
    }

    @Test("expired again: no loop, the credential pauses")
    func expiredTwice() {
        for (age, alarm) in [(0, Reaction.Alarm.clock), (4_000, .credential)] {
            let again = reaction(403, .expiredProviderToken) {
                $0.providerTokenAgeSeconds = Int64(age)
                $0.connectionRefusals = 1
            }
            #expect(
                again
                    == Reaction(
                        update: .awaitCredential, connection: .retire, credential: .pause, evidence: .sickCredential,
                        alarm: alarm))
        }
    }

    @Test(
        "too many token changes, or an unrelated key: another connection with the same token, then a pause; never a new token",
        arguments: [(429, APNsReason.tooManyProviderTokenUpdates), (403, .unrelatedKeyIdInToken)])
    func anotherConnection(row: (status: Int, reason: APNsReason)) {
        #expect(
            reaction(row.status, row.reason)
                == Reaction(
                    update: .retry(afterMilliseconds: 0, holdsNewer: false), connection: .retire, evidence: .none,
                    counts: .connectionRefusal))
        #expect(
            reaction(row.status, row.reason) { $0.connectionRefusals = 1 }
                == Reaction(
                    update: .awaitCredential, connection: .retire, credential: .pause, evidence: .sickCredential,
                    alarm: .credential))
    }

    @Test("too many pushes to one token slow that one alone, twice as much each time; the newest waits too")
    func throttled() {
        for (throttles, milliseconds) in [(0, 30_000), (1, 60_000), (2, 120_000), (5, 900_000), (90, 900_000)] {
            let found = reaction(429, .tooManyRequests) {
                $0.usualIntervalMilliseconds = 15_000
                $0.throttles = throttles
            }
            #expect(
                found
                    == Reaction(
                        update: .retry(afterMilliseconds: Int64(milliseconds), holdsNewer: true), evidence: .healthy,
                        counts: .throttle))
        }
        #expect(
            reaction(429, .tooManyRequests, retryAfter: 45).update
                == .retry(afterMilliseconds: 45_000, holdsNewer: true))
    }

    @Test(
        "a server's fault holds the same content a quarter of an hour, then longer, at most four hours",
        arguments: [(500, APNsReason.internalServerError), (503, .serviceUnavailable)])
    func serverError(row: (status: Int, reason: APNsReason)) {
        for (errors, hold) in [(0, quarterHour), (1, 2 * quarterHour), (2, 4 * quarterHour), (9, 16 * quarterHour)] {
            #expect(reaction(row.status, row.reason) { $0.serverErrors = errors } == held(hold))
        }
        #expect(reaction(row.status, row.reason, .start) == held(quarterHour))
    }

    @Test("retry-after lengthens a hold and never shortens it")
    func retryAfter() {
        #expect(
            reaction(503, .serviceUnavailable, retryAfter: 1_800) == held(1_800_000, retryAfterMilliseconds: 1_800_000))
        #expect(reaction(503, .serviceUnavailable, retryAfter: 5) == held(quarterHour, retryAfterMilliseconds: 5_000))
    }

    @Test("holds are spread by up to an eighth, never shortened")
    func spread() {
        #expect(reaction(500, .internalServerError) { $0.random = .max } == held(quarterHour * 9 / 8))
        #expect(reaction(500, .internalServerError) { $0.random = .max / 2 } == held(quarterHour * 17 / 16))
    }

    @Test("the hold is a setting")
    func shortHold() {
        var table = ReactionTable()
        table.serverErrorHoldMilliseconds = 50
        #expect(
            table.reaction(to: ProviderAnswer(status: 500), of: Attempt(event: .end, serverErrors: 2)).update
                == .retry(afterMilliseconds: 200, holdsNewer: false))
    }

    @Test("a server that shuts down: another connection, and the hold as for any 503")
    func shutdown() {
        var expected = held(quarterHour)
        expected.connection = .retire
        #expect(reaction(503, .shutdown) == expected)
    }

    @Test("a connection that was idle too long: another one, the update goes again")
    func idleTimeout() {
        func expected(_ milliseconds: Int64) -> Reaction {
            Reaction(
                update: .retry(afterMilliseconds: milliseconds, holdsNewer: false), connection: .retire,
                evidence: .none,
                counts: .connectionRefusal)
        }
        #expect(reaction(400, .idleTimeout) == expected(0))
        #expect(reaction(400, .idleTimeout) { $0.connectionRefusals = 1 } == expected(1_000))
        #expect(reaction(400, .idleTimeout) { $0.connectionRefusals = 3 } == expected(4_000))
    }

    @Test("without a known reason the status decides", arguments: [nil, APNsReason.unknown("Novel")] as [APNsReason?])
    func statusClass(reason: APNsReason?) {
        for status in [302, 400, 404, 405, 413, 418, 499] {
            #expect(reaction(status, reason) == Reaction(update: .refused, evidence: .healthy))
        }
        #expect(reaction(403, reason).credential == .pause)
        #expect(reaction(429, reason).counts == .throttle)
        #expect(reaction(410, reason).update == .targetGone)
        for status in [500, 502, 503, 504, 599] { #expect(reaction(status, reason) == held(quarterHour)) }
        #expect(reaction(200, reason).update == .accepted)
        #expect(reaction(0, reason, .start).update == .startUnknown)
    }

    @Test("the reason goes before the status")
    func reasonFirst() {
        #expect(reaction(500, .badDeviceToken).token == .suspect)
        #expect(reaction(400, .unregistered).update == .targetGone)
    }
}

@Suite("Each signal of the connection and its reaction")
struct ConnectionReactionTests {
    private let table = ReactionTable()

    private func reaction(
        _ signal: ConnectionSignal, _ event: Push.Event = .update, unknownOutcomes: Int = 0
    ) -> Reaction {
        table.reaction(to: signal, of: Attempt(event: event, unknownOutcomes: unknownOutcomes))
    }

    @Test("what APNs never saw goes again at once, a start too, and counts nothing")
    func notProcessed() {
        for event in Push.Event.allCases {
            #expect(
                reaction(.connectFailed, event)
                    == Reaction(update: .sendAgain, connection: .reconnect, evidence: .none))
            #expect(reaction(.refusedStream, event) == Reaction(update: .sendAgain, evidence: .none))
            #expect(
                reaction(.streamReset(errorCode: 7), event) == Reaction(update: .sendAgain, evidence: .none))
            #expect(
                reaction(.notProcessed, event)
                    == Reaction(update: .sendAgain, connection: .retire, evidence: .none))
        }
    }

    @Test(
        "an unknown outcome: updates and ends go again, a start does not",
        arguments: [
            (ConnectionSignal.streamReset(errorCode: 2), Reaction.ConnectionFate.keep, Breaker.Evidence.sickServer),
            (.timedOut, .keep, .sickServer), (.malformedAnswer, .keep, .sickServer),
            (.closedAfterGoAway, .reconnect, .none), (.connectionLost, .reconnect, .lostConnection),
            (.pingUnanswered, .close, .lostConnection),
        ])
    func unknown(row: (signal: ConnectionSignal, connection: Reaction.ConnectionFate, evidence: Breaker.Evidence)) {
        func expected(_ update: Reaction.UpdateFate) -> Reaction {
            Reaction(update: update, connection: row.connection, evidence: row.evidence, counts: .unknownOutcome)
        }
        #expect(reaction(row.signal, .update) == expected(.retry(afterMilliseconds: 0, holdsNewer: false)))
        #expect(reaction(row.signal, .end) == expected(.retry(afterMilliseconds: 0, holdsNewer: false)))
        #expect(reaction(row.signal, .start) == expected(.startUnknown))
    }

    @Test("the same content, unknown again and again, goes ever more rarely")
    func unknownRepeatedly() {
        let delays: [(earlier: Int, milliseconds: Int64)] = [
            (0, 0), (1, 1_000), (2, 2_000), (5, 16_000), (6, 900_000), (7, 1_800_000), (500, 14_400_000),
        ]
        for (earlier, milliseconds) in delays {
            #expect(
                reaction(.timedOut, unknownOutcomes: earlier).update
                    == .retry(afterMilliseconds: milliseconds, holdsNewer: false))
        }
    }

    @Test("GOAWAY retires the connection, and its reason may stop the credential")
    func goAway() {
        let plain = Reaction(update: .unaffected, connection: .retire, evidence: .none)
        #expect(reaction(.goAway(nil)) == plain)
        #expect(reaction(.goAway(.shutdown)) == plain)
        #expect(reaction(.goAway(.idleTimeout)) == plain)
        #expect(reaction(.goAway(.unknown("Rebalance"))) == plain)
        #expect(reaction(.goAway(.badDeviceToken)) == plain)
        #expect(
            reaction(.goAway(.badCertificateEnvironment))
                == Reaction(
                    update: .unaffected, connection: .retireAll, credential: .pause, evidence: .sickCredential,
                    alarm: .credential))
    }

    @Test("a lower stream limit touches nothing that is open")
    func streamLimit() {
        #expect(reaction(.streamLimitLowered) == Reaction(update: .unaffected, evidence: .none))
    }

    @Test("what came of an attempt is counted for the next one")
    func counting() {
        var attempt = Attempt(event: .update)
        attempt.count(table.reaction(to: ProviderAnswer(status: 500), of: attempt).counts)
        attempt.count(table.reaction(to: ProviderAnswer(status: 429), of: attempt).counts)
        attempt.count(table.reaction(to: .timedOut, of: attempt).counts)
        attempt.count(table.reaction(to: .timedOut, of: attempt).counts)
        attempt.count(table.reaction(to: ProviderAnswer(status: 400, reason: .idleTimeout), of: attempt).counts)
        attempt.count(table.reaction(to: .refusedStream, of: attempt).counts)
        #expect(
            [attempt.serverErrors, attempt.throttles, attempt.unknownOutcomes, attempt.connectionRefusals]
                == [1, 1, 2, 1])
    }
}
