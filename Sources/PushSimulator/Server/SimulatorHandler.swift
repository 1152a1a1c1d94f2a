import HTTP2
import Sockets

/// The loop side of the simulator: takes requests from HTTP/2 to the core and answers back, and works the levers. Lives on the loop's thread.
final class SimulatorHandler: ServerHandler {
    /// What the loop holds of the handler, for as long as it runs: the loop never gives back what it was given.
    private final class Door {
        var handler: SimulatorHandler?
    }

    private enum Delayed {
        case request(ServerRequest, FaceRequest, SimulatorCore.Origin)
        case reset(ServerConnection)
    }

    private static let tickMilliseconds: Int64 = 20

    let shared: SimulatorShared
    let loop: EventLoop
    private let tls: SimulatorTLS
    private let backend: AppBackend?
    private(set) var peers: [UInt64: SimulatorPeer] = [:]
    private let door = Door()
    private var server: Server?
    private var delays: DelayLine<Delayed>?
    private var ticker: LoopTimer?
    private var connectionTimes: [String: [Int64]] = [:]
    private var wereUpdatesRefused = false

    private init(loop: EventLoop, shared: SimulatorShared, tls: SimulatorTLS, backend: AppBackend?) {
        self.loop = loop
        self.shared = shared
        self.tls = tls
        self.backend = backend
    }

    /// Called on the loop's thread before it runs.
    static func furnish(
        _ loop: EventLoop, shared: SimulatorShared, tls: SimulatorTLS, backend: AppBackend?
    ) -> Result<UInt16, SimulatorFault> {
        let handler = SimulatorHandler(loop: loop, shared: shared, tls: tls, backend: backend)
        let door = handler.door
        door.handler = handler
        loop.onWake { door.handler?.obey() }
        do {
            let server = try Server(
                loop: loop, address: shared.options.address, port: shared.options.port,
                tls: tls.context(shared.core.withLock(\.faults)),
                options: handler.serverOptions(), handler: handler)
            handler.run(server)
            return .success(server.port)
        } catch {
            return .failure(
                SimulatorFault(problem: "cannot listen on \(shared.options.address):\(shared.options.port): \(error)"))
        }
    }

    private func run(_ server: Server) {
        self.server = server
        delays = DelayLine(loop: loop) { [unowned self] delayed in
            switch delayed {
            case .request(let request, let content, let origin):
                shared.heldCount.subtract(1, ordering: .relaxed)
                process(request, content, origin)
            case .reset(let connection): reset(connection)
            }
        }
        ticker = loop.timer { [unowned self] in tick() }
        ticker?.schedule(atMilliseconds: loop.nowMilliseconds + SimulatorHandler.tickMilliseconds)
    }

    private func serverOptions() -> Server.Options {
        let (faults, maxBodyBytes) = shared.core.withLock { ($0.faults, $0.face.settings.maxBodyBytes) }
        var options = Server.Options()
        // Token authentication: one stream until the first accepted provider token.
        options.maxConcurrentStreams = 1
        options.maximumBodyBytes = maxBodyBytes
        options.refusal = shared.options.sendsAwayOverLimit ? .goAway : .refuseStream
        options.streamWindowBytes = faults.streamWindowBytes
        options.withholdsWindowUpdates = faults.withholdsWindowUpdates
        options.headerTableBytes = faults.headerTableBytes
        options.handshake = faults.hangsInHandshake ? .hang : .normal
        return options
    }

    // MARK: - Connections

    override func accepts(_ server: Server, from address: SocketAddress) -> Bool {
        guard let maxConnections = shared.options.maxConnectionsPerMinute else { return true }
        let host = SimulatorHandler.host(of: address)
        var times = (connectionTimes[host] ?? []).filter { $0 > loop.nowMilliseconds - 60_000 }
        // One that is turned away is not kept, or a flood would be.
        guard times.count < maxConnections else {
            shared.turnedAwayCount.add(1, ordering: .relaxed)
            return false
        }
        times.append(loop.nowMilliseconds)
        connectionTimes[host] = times
        return true
    }

    override func opened(_ connection: ServerConnection) {
        peers[connection.identifier] = SimulatorPeer(connection, nowMilliseconds: loop.nowMilliseconds)
        shared.connectionCount.store(peers.count, ordering: .relaxed)
        shared.openedCount.add(1, ordering: .relaxed)
        if shared.core.withLock({ $0.faults.isBlackHole }) { connection.isBlackHole = true }
    }

    override func closed(_ connection: ServerConnection, reason: CloseReason) {
        switch reason {
        case .drained, .endOfFile: break
        default: loseAnswers(on: connection)
        }
        peers[connection.identifier] = nil
        shared.connectionCount.store(peers.count, ordering: .relaxed)
    }

    // MARK: - Requests

    override func received(_ request: ServerRequest) {
        arrive(request, isBodyTooLarge: false)
    }

    override func bodyTooLarge(_ request: ServerRequest) {
        arrive(request, isBodyTooLarge: true)
    }

    override func streamClosed(_ request: ServerRequest, errorCode: UInt32) {
        guard request.label > 0, errorCode != HTTP2Error.noError else { return }
        shared.core.withLock { $0.journal.amend(request.label - 1, .fate(.lost)) }
    }

    private func arrive(_ request: ServerRequest, isBodyTooLarge: Bool) {
        let peer = peers[request.connection.identifier]
        peer?.lastRequestMilliseconds = loop.nowMilliseconds
        let content = FaceRequest(
            request, isBodyTooLarge: isBodyTooLarge,
            host: peer?.host ?? SimulatorHandler.host(of: request.connection.peer))
        var origin = SimulatorCore.Origin(
            connection: request.connection.identifier, stream: request.streamID, arrival: shared.clock.instant())
        if let peer, peer.takePriorityFrames() { origin.warnings = ["PRIORITY is ignored; do not send it"] }
        switch shared.core.withLock({ $0.admit() }) {
        case .refuseStream:
            _ = request.reset(errorCode: HTTP2Error.refusedStream)
            shared.core.withLock { $0.leaveUnprocessed(content, from: origin) }
        case .process(let afterMilliseconds) where afterMilliseconds > 0:
            delays?.hold(.request(request, content, origin), milliseconds: afterMilliseconds)
            shared.heldCount.add(1, ordering: .relaxed)
        case .process:
            process(request, content, origin)
        }
    }

    private func process(_ request: ServerRequest, _ content: FaceRequest, _ origin: SimulatorCore.Origin) {
        let peer = peers[origin.connection]
        let isReachable = request.isOpen && !request.connection.isBlackHole && peer != nil
        var face = peer?.face ?? FaceConnection()
        let processed = shared.core.withLock { core in
            let instant = shared.clock.instant(skewMilliseconds: core.faults.clockSkewMilliseconds)
            return core.process(content, on: &face, from: origin, at: instant, isReachable: isReachable)
        }
        peer?.face = face
        peer?.highestProcessedStream = max(peer?.highestProcessedStream ?? 0, request.streamID)
        guard isReachable, let peer else { return }
        request.label = processed.number + 1
        switch processed.delivery {
        case .whole:
            respond(request, processed.answer)
            peer.answered(processed.number, nowMilliseconds: loop.nowMilliseconds)
        case .resetBefore:
            reset(request.connection)
        case .resetAmid:
            respond(request, processed.answer)
            loseAnswers(on: request.connection)
            // Five bytes: not even the head of a frame.
            request.connection.cutTransport(afterOutputBytes: 5)
        case .resetAfter:
            _ = request.respondHeaders(status: processed.answer.status, fields: processed.answer.fields)
            delays?.hold(.reset(request.connection), milliseconds: 1)
        }
        for effect in processed.answer.effects { perform(effect, on: request.connection) }
    }

    private func respond(_ request: ServerRequest, _ answer: FaceAnswer) {
        _ = request.respond(status: answer.status, fields: answer.fields, body: answer.body)
    }

    private func perform(_ effect: ConnectionEffect, on connection: ServerConnection) {
        switch effect {
        case .streamLimit(let limit): connection.announce(maxConcurrentStreams: limit)
        case .goAway(let reason): sendAway(connection, reason: reason)
        }
    }

    // MARK: - Levers

    private func obey() {
        for order in shared.takeOrders() {
            switch order {
            case .faultsChanged: takeFaults()
            case .drain(let drain): for peer in peers.values { self.drain(peer, drain) }
            case .resetConnections: for peer in peers.values { reset(peer.connection) }
            case .stop(let closed): close(closed)
            case .leave(let closed): leave(closed)
            }
        }
    }

    private func takeFaults() {
        let faults = shared.core.withLock(\.faults)
        defer { wereUpdatesRefused = faults.refusedTokenUpdates == .standing }
        server?.options = serverOptions()
        server?.tls = tls.context(faults)
        for peer in peers.values {
            switch faults.refusedTokenUpdates {
            case .none: peer.face.refusesTokenUpdates = false
            case .standing where !wereUpdatesRefused: peer.face.refusesTokenUpdates = true
            default: break
            }
            if peer.connection.isBlackHole != faults.isBlackHole {
                loseAnswers(on: peer.connection)
                peer.connection.isBlackHole = faults.isBlackHole
            }
            if peer.face.hasAcceptedToken, peer.face.errorsInARow == 0, peer.face.streamLimit != faults.streamLimit {
                peer.face.streamLimit = faults.streamLimit
                peer.connection.announce(maxConcurrentStreams: faults.streamLimit)
            }
        }
    }

    private func drain(_ peer: SimulatorPeer, _ drain: Drain) {
        let connection = peer.connection
        let lowest = max(peer.highestProcessedStream, 0)
        // A client's streams have odd numbers.
        let last = max(lowest, connection.highestStreamID - 2 * drain.unprocessedStreams)
        let forgotten =
            delays?.remove { delayed in
                guard case .request(let request, _, _) = delayed else { return false }
                return request.connection === connection && request.streamID > last
            } ?? []
        shared.heldCount.subtract(forgotten.count, ordering: .relaxed)
        shared.core.withLock { core in
            for case .request(_, let content, let origin) in forgotten { core.leaveUnprocessed(content, from: origin) }
        }
        let shutdown = SimulatorHandler.debugData(reason: "Shutdown")
        if drain.isTwice { connection.goAway(debugData: shutdown) }
        connection.goAway(lastStreamID: last, debugData: shutdown)
        if drain.abandonsOpenStreams { connection.close() } else { connection.closeGracefully(debugData: shutdown) }
    }

    private func sendAway(_ connection: ServerConnection, reason: String) {
        connection.closeGracefully(debugData: SimulatorHandler.debugData(reason: reason))
    }

    private func reset(_ connection: ServerConnection) {
        loseAnswers(on: connection)
        connection.resetTransport()
    }

    /// What was answered a moment ago may have died on its way.
    private func loseAnswers(on connection: ServerConnection) {
        guard let peer = peers[connection.identifier] else { return }
        let underWay = peer.takeAnswersUnderWay(nowMilliseconds: loop.nowMilliseconds)
        shared.core.withLock { core in
            for number in underWay { core.journal.amend(number, .fate(.lost)) }
        }
    }

    // MARK: - Time

    private func tick() {
        let (reports, lines, hasPassed) = shared.core.withLock { core in
            let instant = shared.clock.instant(skewMilliseconds: core.faults.clockSkewMilliseconds)
            core.deliverOvertaken(at: instant)
            let hasPassed = core.passFaults(atMilliseconds: loop.nowMilliseconds)
            return (core.takeReports(atMilliseconds: instant.phoneMilliseconds), core.journal.takeLines(), hasPassed)
        }
        if hasPassed { takeFaults() }
        for report in reports {
            shared.options.onTokenReport?(report)
            backend?.tell(report)
        }
        shared.followers.publish(from: shared, hasNews: !reports.isEmpty, nowMilliseconds: loop.nowMilliseconds)
        write(lines)
        if let idleMilliseconds = shared.options.idleMilliseconds {
            for peer in peers.values where loop.nowMilliseconds - peer.lastRequestMilliseconds >= idleMilliseconds {
                sendAway(peer.connection, reason: "IdleTimeout")
                peer.lastRequestMilliseconds = .max / 2
            }
        }
        ticker?.schedule(atMilliseconds: loop.nowMilliseconds + SimulatorHandler.tickMilliseconds)
    }

    private func close(_ closed: Handover<Void>) {
        ticker?.cancel()
        server?.close()
        shared.order(.leave(closed))
    }

    private func leave(_ closed: Handover<Void>) {
        server = nil
        delays = nil
        peers = [:]
        shared.heldCount.store(0, ordering: .relaxed)
        let instant = shared.clock.instant()
        let lines = shared.core.withLock { core in
            core.deliverOvertaken(at: FaceInstant(realMilliseconds: .max, phoneMilliseconds: instant.phoneMilliseconds))
            return core.journal.takeLines()
        }
        write(lines)
        door.handler = nil
        closed.give(())
    }

    private func write(_ lines: [UInt8]) {
        guard !lines.isEmpty, let files = shared.files, !files.appendToJournal(lines) else { return }
        shared.unwrittenCount.add(lines.count { $0 == UInt8(ascii: "\n") }, ordering: .relaxed)
    }
}
