import Flow
import HTTP2
import Instruments
import LiveActivities

/// One worker's connections to one pool. Every connection stands in a slot; a slot whose connection has gone opens another, the first
/// replacement of a retiring one at once, failures after growing delays.
final class ConnectionPool: ClientHandler {
    let index: Int
    let settings: PoolSettings
    private unowned let core: WorkerCore
    private let log: Log
    private let reactions = ReactionTable()
    private var slots: [ConnectionSlot] = []
    /// On their way out: no new requests, their open ones still end.
    private var retiring: [ObjectIdentifier: ClientConnection] = [:]
    private var flights: [UInt64: Flight] = [:]
    private var orphans: [ObjectIdentifier: [UInt64]] = [:]
    private var request = RequestBuffer()
    private var template: (generation: UInt32, template: RequestTemplate)?
    private var reportedStreams = -1

    private struct Flight {
        let submittedAtMilliseconds: Int64
        let tokenGeneration: UInt32
    }

    init(index: Int, settings: PoolSettings, core: WorkerCore, log: Log) {
        self.index = index
        self.settings = settings
        self.core = core
        self.log = log
        super.init()
    }

    func start() {
        slots = (0..<core.options.connectionsPerPool).map { place in
            ConnectionSlot(
                timer: core.loop.timer { [unowned self] in open(place) },
                backoff: Backoff(
                    firstMilliseconds: core.options.reconnectDelayMilliseconds,
                    longestMilliseconds: core.options.longestReconnectDelayMilliseconds))
        }
        // Apple advises to open connections one after another; the next follows when one is ready.
        open(0)
    }

    // MARK: Requests

    func submit(_ job: Job) {
        guard let connection = freest else {
            core.instruments.requests.add(1, .unsent)
            core.report(.completed(identifier: job.identifier, outcome: .unsent))
            return
        }
        do throws(CredentialFault) {
            let generation = try prepare(job)
            let deadline = core.loop.nowMilliseconds + core.options.requestTimeoutMilliseconds
            guard connection.submit(request, tag: job.identifier, deadlineMilliseconds: deadline) else {
                core.instruments.requests.add(1, .unsent)
                core.report(.completed(identifier: job.identifier, outcome: .unsent))
                return
            }
            flights[job.identifier] = Flight(
                submittedAtMilliseconds: core.loop.nowMilliseconds, tokenGeneration: generation)
        } catch {
            log.error("the provider token cannot be signed", .error(error))
            core.report(
                .completed(
                    identifier: job.identifier,
                    outcome: .answered(
                        ProviderAnswer(status: 403, reason: .invalidProviderToken), providerTokenAgeSeconds: 0)))
        }
    }

    private var freest: ClientConnection? {
        var best: ClientConnection?
        for slot in slots {
            guard let connection = slot.connection, connection.freeStreams > (best?.freeStreams ?? 0) else { continue }
            best = connection
        }
        return best
    }

    /// Fills `request`; the template is made anew for each provider token.
    private func prepare(_ job: Job) throws(CredentialFault) -> UInt32 {
        let bearer = try settings.providerToken.bearer(
            monotonicMilliseconds: core.loop.nowMilliseconds, unixSeconds: UnixTime.seconds())
        if template?.generation != bearer.generation {
            template = (
                bearer.generation,
                RequestTemplate(
                    authority: settings.host,
                    fields: [
                        TemplateField("authorization", bearer.authorization),
                        TemplateField("apns-topic", settings.topic),
                        TemplateField("apns-push-type", "\(PushHeaders.pushType)"),
                    ])
            )
        }
        guard let template else { preconditionFailure("no template after it was made") }
        request.reset(template.template)
        withUnsafeTemporaryAllocation(byteCount: PushHeaders.longestPathBytes, alignment: 8) { path in
            let length = job.headers.writePath(into: path)
            request.setPath(UnsafeRawBufferPointer(rebasing: path[..<length]))
        }
        request.add("apns-priority", decimal: Int64(job.headers.priority))
        request.add("apns-expiration", decimal: job.headers.expirationSeconds, indexing: .neverIndexed)
        withUnsafeTemporaryAllocation(byteCount: PushHeaders.identifierBytes, alignment: 8) { identifier in
            job.headers.writeIdentifier(into: identifier)
            request.add("apns-id", UnsafeRawBufferPointer(identifier), indexing: .neverIndexed)
        }
        request.setBody(job.body)
        return bearer.generation
    }

    // MARK: Connections

    private func open(_ place: Int) {
        guard slots[place].connection == nil, !slots[place].isResolving else { return }
        slots[place].timer.cancel()
        slots[place].isResolving = true
        // Names are asked for afresh each time: APNs moves its load by DNS.
        core.resolver.resolve(host: settings.host, port: settings.port) { [unowned self] result in
            slots[place].isResolving = false
            switch result {
            case .success(let addresses):
                connect(place, to: addresses)
            case .failure(let fault):
                core.instruments.connections.add(1, .failed)
                log.warning("the provider's name cannot be resolved", .error(fault), .field("app", settings.app))
                openLater(place)
            }
        }
    }

    private func connect(_ place: Int, to addresses: [SocketAddress]) {
        var options = ClientConnection.Options()
        options.connectDeadlineMilliseconds = core.options.connectTimeoutMilliseconds
        options.pingAfterSilenceMilliseconds = core.options.pingAfterMilliseconds
        options.pingTimeoutMilliseconds = core.options.pingTimeoutMilliseconds
        options.maximumStreams = core.options.maxStreamsPerConnection
        let connection = ClientConnection(
            loop: core.loop, host: settings.host, addresses: addresses, tls: settings.tls, options: options,
            handler: self)
        connection.label = place
        slots[place].connection = connection
        slots[place].answers = 0
    }

    private func openLater(_ place: Int) {
        let delay = slots[place].backoff.failed(random: core.random.next())
        slots[place].timer.schedule(atMilliseconds: core.loop.nowMilliseconds + delay)
    }

    private func isCurrent(_ connection: ClientConnection) -> Bool {
        slots[connection.label].connection === connection
    }

    /// Takes the connection out of use; its slot opens another at once, unless this one never did any good.
    private func retire(_ connection: ClientConnection, isUseful: Bool? = nil) {
        guard isCurrent(connection) else { return }
        let place = connection.label
        slots[place].connection = nil
        retiring[ObjectIdentifier(connection)] = connection
        if isUseful ?? (slots[place].answers > 0) {
            slots[place].backoff.succeeded()
            open(place)
        } else {
            openLater(place)
        }
        connection.drain()
    }

    func reportStreams() {
        var count = 0
        for slot in slots {
            guard let connection = slot.connection, connection.state == .ready else { continue }
            count += connection.openStreams + connection.freeStreams
        }
        // Requests on retiring connections still count as outstanding on the lane's side.
        for connection in retiring.values { count += connection.openStreams }
        guard count != reportedStreams else { return }
        reportedStreams = count
        core.report(.streams(pool: index, count: count))
    }

    // MARK: What connections tell

    override func ready(_ connection: ClientConnection) {
        core.instruments.connections.add(1, .opened)
        log.info(
            "connected to the provider", .field("app", settings.app), .field("host", settings.host),
            .field("streamLimit", connection.streamLimit))
        if let next = slots.indices.first(where: {
            slots[$0].connection == nil && slots[$0].timer.deadlineMilliseconds == nil
        }) {
            open(next)
        }
        core.turnHasNews()
    }

    override func streamCapacityChanged(_ connection: ClientConnection) {
        core.turnHasNews()
    }

    override func completed(_ connection: ClientConnection, tag: UInt64, outcome: RequestOutcome) {
        core.turnHasNews()
        switch outcome {
        case .answered(let response):
            answered(connection, tag, response)
        case .notProcessed(let cause):
            finish(tag, .signalled(cause == .refusedStream ? .refusedStream : .notProcessed), .notProcessed)
        case .unknown(.connectionClosed):
            // Why it closed decides what this means, and that is told after the last completion.
            orphans[ObjectIdentifier(connection), default: []].append(tag)
        case .unknown(.reset(let errorCode)):
            finish(tag, .signalled(.streamReset(errorCode: errorCode)), .unknown)
        case .unknown(.deadline), .unknown(.cancelled):
            finish(tag, .signalled(.timedOut), .unknown)
        case .unknown(.malformedResponse):
            finish(tag, .signalled(.malformedAnswer), .unknown)
        }
    }

    private func answered(_ connection: ClientConnection, _ tag: UInt64, _ response: Response) {
        let answer = ProviderAnswer(
            status: response.status, body: response.body, retryAfter: response.field("retry-after"))
        let generation = flights[tag]?.tokenGeneration ?? 0
        let ageMilliseconds =
            settings.providerToken.ageMilliseconds(
                generation: generation, monotonicMilliseconds: core.loop.nowMilliseconds,
                unixSeconds: UnixTime.seconds()) ?? 0
        let reaction = reactions.reaction(
            to: answer, of: Attempt(event: .update, providerTokenAgeSeconds: ageMilliseconds / 1_000))
        if isCurrent(connection) {
            slots[connection.label].answers += 1
            if answer.isAccepted { slots[connection.label].backoff.succeeded() }
        }
        // Until the credential has been accepted APNs allows one stream (Apple, "Sending notification requests to APNs").
        if reaction.evidence == .accepted || reaction.evidence == .healthy { connection.unlockStreams() }
        core.instruments.answers.add(1, DeliveryInstruments.StatusClass(response.status))
        finish(
            tag, .answered(answer, providerTokenAgeSeconds: ageMilliseconds / 1_000),
            answer.isAccepted ? .accepted : .refused)
        perform(reaction, on: connection, tokenGeneration: generation)
    }

    private func finish(_ tag: UInt64, _ outcome: DispatchOutcome, _ ending: DeliveryInstruments.Ending) {
        core.instruments.requests.add(1, ending)
        if let flight = flights.removeValue(forKey: tag) {
            core.requestDuration.record(core.loop.nowMilliseconds - flight.submittedAtMilliseconds)
        }
        core.report(.completed(identifier: tag, outcome: outcome))
    }

    /// The part of a reaction that concerns connections and credential; the update's part is the lane's.
    private func perform(_ reaction: Reaction, on connection: ClientConnection, tokenGeneration: UInt32) {
        if reaction.credential == .renew { renew(tokenGeneration) }
        switch reaction.connection {
        case .keep, .reconnect: break
        case .retire:
            core.instruments.connections.add(1, .retired)
            retire(connection)
        case .close:
            connection.close()
        case .retireAll:
            core.instruments.connections.add(1, .retired)
            for slot in slots { if let connection = slot.connection { retire(connection, isUseful: false) } }
        }
    }

    private func renew(_ generation: UInt32) {
        do throws(CredentialFault) {
            let renewed = try settings.providerToken.expired(
                generation: generation, monotonicMilliseconds: core.loop.nowMilliseconds,
                unixSeconds: UnixTime.seconds())
            if renewed { core.instruments.credentialRenewals.add(1) }
        } catch {
            log.error("the provider token cannot be renewed", .error(error), .field("app", settings.app))
        }
    }

    override func goAway(
        _ connection: ClientConnection, lastStreamID: Int32, errorCode: UInt32, debugData: UnsafeRawBufferPointer
    ) {
        core.turnHasNews()
        core.instruments.connections.add(1, .goAway)
        slots[connection.label].sawGoAway.insert(ObjectIdentifier(connection))
        let reason = APNsReason(goAwayDebugData: debugData)
        log.info(
            "the provider closes a connection", .field("app", settings.app), .field("reason", reason?.name ?? "none"),
            .field("errorCode", errorCode))
        let reaction = reactions.reaction(to: .goAway(reason), of: Attempt(event: .update))
        perform(reaction, on: connection, tokenGeneration: 0)
    }

    override func closed(_ connection: ClientConnection, reason: CloseReason) {
        core.turnHasNews()
        let key = ObjectIdentifier(connection)
        let sawGoAway = slots[connection.label].sawGoAway.remove(key) != nil
        let signal: ConnectionSignal
        switch reason {
        case .pingTimeout: signal = .pingUnanswered
        case _ where sawGoAway: signal = .closedAfterGoAway
        default: signal = .connectionLost
        }
        for tag in orphans.removeValue(forKey: key) ?? [] { finish(tag, .signalled(signal), .unknown) }
        retiring[key] = nil
        guard isCurrent(connection) else { return }
        slots[connection.label].connection = nil
        closedUnasked(connection, reason)
    }

    private func closedUnasked(_ connection: ClientConnection, _ reason: CloseReason) {
        let place = connection.label
        let wasUseful = slots[place].answers > 0
        core.instruments.connections.add(1, wasUseful ? .lost : .failed)
        log.warning(
            "the connection to the provider is gone", .field("app", settings.app), .field("host", settings.host),
            .error(reason))
        if wasUseful { slots[place].backoff.succeeded() }
        openLater(place)
    }
}

/// A place for one connection of a pool, and how its attempts went.
struct ConnectionSlot {
    let timer: LoopTimer
    var backoff: Backoff
    var connection: ClientConnection?
    var isResolving = false
    /// Of the connection in use: what has done some good is replaced without delay.
    var answers = 0
    var sawGoAway: Set<ObjectIdentifier> = []

    init(timer: LoopTimer, backoff: Backoff) {
        self.timer = timer
        self.backoff = backoff
    }
}
