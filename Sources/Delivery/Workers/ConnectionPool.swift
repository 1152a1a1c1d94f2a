import Flow
import HTTP2
import Instruments
import LiveActivities
import Sockets

/// One worker's connections to one pool: hands jobs to the freest, reports what becomes of them, and keeps as many open as it is told to.
///
/// What an answer or a signal means stands in `ReactionTable`; here its connection's and its credential's part is performed, the update's
/// part is the lane's.
final class ConnectionPool: ClientHandler {
    private let index: Int
    let settings: PoolSettings
    // Unchecked: the core owns its pools, and each push asks for it several times.
    unowned(unsafe) let core: WorkerCore
    let log: Log
    private let reactions = ReactionTable()
    var connections: [PooledConnection] = []
    var staging: Staging
    var pause: LoopTimer?
    private let flights = FlightTable()
    // At a fixed address: the checks of an object's would be paid for three times a push.
    private let request: UnsafeMutablePointer<PushRequest>
    private let credentials: PoolCredentials
    private var preparedBatch: UInt64 = 0
    /// Pushes that were accepted in this turn and are not counted yet.
    private var uncountedAcceptances: Int64 = 0
    private let gauges: (connections: GaugeWriter<NoLabel>, streams: GaugeWriter<NoLabel>)
    private var reportedStreams = 0
    var isClosed = false

    /// Of a provider token's hour ten minutes are left when it is renewed.
    private static let clockToleranceSeconds: Int64 = 60
    /// Labels a connection on which a push was accepted, and that asked for nothing else.
    private static let provenLabel = 1

    init(index: Int, settings: PoolSettings, core: WorkerCore, log: Log) {
        self.index = index
        self.settings = settings
        self.core = core
        self.log = log
        request = .allocate(capacity: 1)
        request.initialize(to: PushRequest(settings))
        credentials = PoolCredentials(settings.providerToken)
        staging = Staging(
            backoff: Backoff(
                firstMilliseconds: core.options.reconnectDelayMilliseconds,
                longestMilliseconds: core.options.longestReconnectDelayMilliseconds))
        gauges = (core.instruments.openConnections.writer(), core.instruments.streams.writer())
        super.init()
    }

    deinit {
        request.deinitialize(count: 1)
        request.deallocate()
    }

    func start() {
        pause = core.loop.timer { [unowned self] in
            staging.resume()
            openNext()
        }
        openNext()
    }

    /// Closes every connection at the end of this turn; their requests are reported then.
    func close() {
        isClosed = true
        pause?.cancel()
        for member in connections { member.connection.close() }
    }

    // MARK: Requests

    func submit(_ job: Job, body: UnsafeRawBufferPointer) {
        let core = core
        guard freest != nil else { return core.giveBack(job) }
        do throws(CredentialFault) {
            try prepareBatch()
            guard let member = freest else { return core.giveBack(job) }
            if member.bearerGeneration == 0 { carry(on: member) }
            request.pointee.write(job, body: body)
            let now = core.loop.nowMilliseconds
            let flight = flights.insert(
                Flight(
                    identifier: job.identifier, submittedAtMilliseconds: now,
                    bearerGeneration: credentials.generation))
            let isTaken = member.connection.submit(
                request.pointee.buffer, tag: flight,
                deadlineMilliseconds: now + core.options.requestTimeoutMilliseconds)
            if !isTaken {
                _ = flights.remove(flight)
                core.giveBack(job)
            }
            // Its stream ids are used up.
            if member.connection.state == .draining { retire(member) }
        } catch {
            log.error("the provider token cannot be signed", .error(error), .field("app", settings.app))
            // As if the provider had refused it: the lane pauses the credential and probes.
            let answer = ProviderAnswer(status: 403, reason: .invalidProviderToken)
            core.instruments.requests.add(1, .refused)
            core.report(
                .completed(identifier: job.identifier, outcome: .answered(answer, providerTokenAgeSeconds: 0)))
        }
    }

    private var freest: PooledConnection? {
        if connections.count == 1 {
            let only = connections[0]
            return only.stage == .inUse && only.connection.freeStreams > 0 ? only : nil
        }
        var best: PooledConnection?
        var bestStreams = 0
        for member in connections where member.stage == .inUse {
            let streams = member.connection.freeStreams
            if streams > bestStreams { (best, bestStreams) = (member, streams) }
        }
        return best
    }

    /// The lock and the clock are asked once a batch.
    private func prepareBatch() throws(CredentialFault) {
        guard preparedBatch != core.batch else { return }
        let isOther = try credentials.renew()
        request.pointee.prepare(credentials.current)
        preparedBatch = core.batch
        if isOther { changeBearer() }
    }

    /// Another provider token has taken over. A connection that has seen the one before for less than 20 minutes must not see this one:
    /// APNs would answer `TooManyProviderTokenUpdates`, and go on doing so; nor one that was opened with another key.
    private func changeBearer() {
        for member in connections where member.stage == .inUse && member.bearerGeneration != 0 {
            if credentials.mayFollow(
                generation: member.bearerGeneration, carriedSinceMilliseconds: member.carriesSinceMilliseconds)
            {
                carry(on: member)
            } else {
                retire(member)
            }
        }
    }

    private func carry(on member: PooledConnection) {
        member.bearerGeneration = credentials.generation
        member.carriesSinceMilliseconds = credentials.steadyMilliseconds
    }

    private func finish(_ tag: UInt64, _ outcome: DispatchOutcome, _ ending: DeliveryInstruments.Ending) {
        core.instruments.requests.add(1, ending)
        let flight = flights.remove(tag)
        core.requestDuration.record(core.loop.nowMilliseconds - flight.submittedAtMilliseconds)
        core.report(.completed(identifier: flight.identifier, outcome: outcome))
    }

    /// As `answered`, where the reaction to a 200 is known and asks for nothing.
    private func accepted(_ tag: UInt64) {
        // Each use of an unowned reference counts.
        let core = core
        uncountedAcceptances += 1
        let flight = flights.remove(tag)
        core.requestDuration.record(core.loop.nowMilliseconds - flight.submittedAtMilliseconds)
        let ageSeconds = credentials.ageSeconds(generation: flight.bearerGeneration)
        core.report(
            .completed(
                identifier: flight.identifier,
                outcome: .answered(ProviderAnswer(status: 200), providerTokenAgeSeconds: ageSeconds)))
    }

    /// At the end of a turn that brought something: what was put off is counted, and what was looked at once is looked at anew.
    func endTurn() {
        credentials.forgetAge()
        if uncountedAcceptances > 0 {
            core.instruments.requests.add(uncountedAcceptances, .accepted)
            core.instruments.answers.add(uncountedAcceptances, .success)
            uncountedAcceptances = 0
        }
        reportStreams()
    }

    /// What is under way counts as long as it is not reported, for so the lane counts; a stream that HTTP/2 has not let go of yet is
    /// neither free nor under way.
    private func reportStreams() {
        var count = flights.count
        var inUse: Int64 = 0
        for member in connections where member.stage == .inUse {
            inUse += 1
            count += member.connection.freeStreams
        }
        gauges.connections.set(inUse)
        gauges.streams.set(Int64(count))
        guard count != reportedStreams else { return }
        reportedStreams = count
        core.report(.streams(pool: index, count: count))
    }

    // MARK: What connections tell

    private func member(_ connection: ClientConnection) -> PooledConnection {
        guard let member = connections.first(where: { $0.connection === connection }) else {
            preconditionFailure("a connection to \(connection.host) spoke after it had closed")
        }
        return member
    }

    override func ready(_ connection: ClientConnection) {
        let member = member(connection)
        guard member.stage == .opening else { return }
        member.stage = .inUse
        member.readyAtMilliseconds = core.loop.nowMilliseconds
        core.turnHasNews()
        core.instruments.connections.add(1, .opened)
        log.info(
            "connected to the provider", .field("app", settings.app), .field("host", settings.host),
            .field("streamLimit", connection.peerStreamLimit))
        staging.opened()
        schedule()
    }

    override func streamCapacityChanged(_ connection: ClientConnection) {
        core.turnHasNews()
    }

    override func completed(_ connection: ClientConnection, tag: UInt64, outcome: RequestOutcome) {
        if connection.label == Self.provenLabel, case .answered(let response) = outcome, response.status == 200,
            response.body.isEmpty
        {
            return accepted(tag)
        }
        let member = member(connection)
        switch outcome {
        case .answered(let response):
            answered(member, tag, response)
        case .notProcessed(.refusedStream):
            finish(tag, .signalled(.refusedStream), .notProcessed)
        case .notProcessed(.goAway):
            finish(tag, .signalled(unprocessedSignal(member)), .notProcessed)
        case .notProcessed(.neverWritten):
            finish(tag, .signalled(.notProcessed), .notProcessed)
        case .unknown(.connectionClosed):
            // Not reported yet, and so still under way: `closed` follows in the same turn.
            member.orphans.append(tag)
        case .unknown(.reset(HTTP2Error.refusedStream)), .unknown(.malformedResponse):
            // Refused after it had begun to answer: then it was processed all the same.
            finish(tag, .signalled(.malformedAnswer), .unknown)
        case .unknown(.reset(let errorCode)):
            finish(tag, .signalled(.streamReset(errorCode: errorCode)), .unknown)
        case .unknown(.deadline), .unknown(.cancelled):
            finish(tag, .signalled(.timedOut), .unknown)
        }
    }

    private func answered(_ member: PooledConnection, _ tag: UInt64, _ response: Response) {
        let generation = flights.flight(tag).bearerGeneration
        let answer = ProviderAnswer(
            status: response.status, body: response.body, retryAfter: response.field("retry-after"))
        let ageSeconds = credentials.ageSeconds(generation: generation)
        let reaction = reactions.reaction(to: answer, of: Attempt(event: .update, providerTokenAgeSeconds: ageSeconds))
        if reaction.evidence == .accepted || reaction.evidence == .healthy {
            prove(member)
            // Until it has accepted the credential APNs allows one stream, whatever its SETTINGS say.
            member.connection.unlockStreams()
        }
        core.instruments.answers.add(1, DeliveryInstruments.StatusClass(response.status))
        finish(
            tag, .answered(answer, providerTokenAgeSeconds: ageSeconds), answer.isAccepted ? .accepted : .refused)
        if let date = response.field("date") { compareClocks(date) }
        if reaction.credential == .renew { replace(credentials.bearer(generation: generation)) }
        if reaction.evidence == .sickCredential { settings.providerToken.noteRefused(generation: generation) }
        perform(reaction.connection, on: member)
        if answer.status == 200, reaction.connection == .keep, reaction.credential == .keep {
            member.connection.label = Self.provenLabel
        }
    }

    /// Not documented for APNs, and a cheap check where it comes: a clock that is wrong by minutes shows as a provider token that is refused.
    private func compareClocks(_ date: UnsafeRawBufferPointer) {
        guard let theirs = HTTPDate.unixSeconds(date) else { return }
        let ahead = settings.providerToken.unixSeconds - theirs
        core.instruments.clockAhead.set(ahead)
        guard abs(ahead) >= Self.clockToleranceSeconds else { return }
        log.warning(
            "this machine's clock and the provider's differ", .field("app", settings.app),
            .field("aheadSeconds", ahead), .hint("compare this machine's clock with a time server"))
    }

    private func perform(_ fate: Reaction.ConnectionFate, on member: PooledConnection) {
        switch fate {
        // Of one that is gone `closed` tells.
        case .keep, .reconnect: break
        case .retire: retire(member)
        case .close: member.connection.close()
        case .retireAll:
            // Each of a thousand answers asks for it; only those that stood with the first are meant, not what came in their place.
            guard member.stage != .retiring else { return }
            retire(member, replacesAtOnce: false)
            for other in connections where other.stage == .inUse { retire(other, replacesAtOnce: false) }
        }
    }

    private func replace(_ expired: ProviderToken.Bearer) {
        do throws(CredentialFault) {
            guard try settings.providerToken.replaceExpired(expired) else { return }
            core.instruments.credentialRenewals.add(1)
            log.warning(
                "the provider called the provider token expired; there is a new one", .field("app", settings.app))
        } catch {
            log.error("the provider token cannot be renewed", .error(error), .field("app", settings.app))
        }
    }

    override func goAway(
        _ connection: ClientConnection, lastStreamID: Int32, errorCode: UInt32, debugData: UnsafeRawBufferPointer
    ) {
        let member = member(connection)
        let reason = APNsReason(goAwayDebugData: debugData)
        member.goAwayReason = member.goAwayReason ?? reason
        if !member.sawGoAway {
            member.sawGoAway = true
            core.instruments.connections.add(1, .goAway)
            log.info(
                "the provider sends a connection away", .field("app", settings.app),
                .field("reason", reason?.name ?? "none"), .field("errorCode", errorCode))
        }
        perform(reactions.reaction(to: .goAway(reason), of: Attempt(event: .update)).connection, on: member)
    }

    /// Above the last-stream-id. Where the reason lies with the credential the lane has to know: it would send again and again.
    private func unprocessedSignal(_ member: PooledConnection) -> ConnectionSignal {
        let signal = ConnectionSignal.goAway(member.goAwayReason)
        let evidence = reactions.reaction(to: signal, of: Attempt(event: .update)).evidence
        return evidence == .sickCredential ? signal : .notProcessed
    }

    override func closed(_ connection: ClientConnection, reason: CloseReason) {
        let member = member(connection)
        connections.removeAll { $0 === member }
        core.turnHasNews()
        let signal: ConnectionSignal =
            switch reason {
            case .pingTimeout: .pingUnanswered
            case _ where member.sawGoAway: .closedAfterGoAway
            default: .connectionLost
            }
        for tag in member.orphans { finish(tag, .signalled(signal), .unknown) }
        guard !isClosed, member.stage != .retiring else { return }
        log.warning(
            member.stage == .opening
                ? "no connection to the provider" : "the connection to the provider is lost",
            .field("app", settings.app), .field("host", settings.host), .error(reason))
        let now = core.loop.nowMilliseconds
        if member.stage == .opening {
            core.instruments.connections.add(1, .failed)
            staging.failed(atMilliseconds: now, random: core.random.next())
        } else {
            core.instruments.connections.add(1, .lost)
            _ = hasDoneGood(member)
            staging.lost(atMilliseconds: now, random: core.random.next())
        }
        schedule()
    }
}
