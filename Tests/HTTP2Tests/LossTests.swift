import CNghttp2
import Testing

@testable import HTTP2

/// Connections that are lost with requests in flight.
@Suite struct LossTests {
    private func held(_ options: ClientConnection.Options = .quick) throws -> (World, Client, ServerConnection) {
        let world = try World()
        world.serverSide.onRequest = { _ in }
        let (client, peer) = world.connected(options)
        client.send(1)
        world.drive { world.serverSide.requests.count == 1 }
        world.settle()
        return (world, client, peer)
    }

    private func expectLost(
        _ world: World, _ client: Client, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        world.drive { !client.closeReasons.isEmpty }
        #expect(client.endings[1] == .unknown(.connectionClosed), sourceLocation: sourceLocation)
        #expect(client.isBalanced, sourceLocation: sourceLocation)
        #expect(client.closeReasons.count == 1, sourceLocation: sourceLocation)
        #expect(client.completionsAfterClose == 0, sourceLocation: sourceLocation)
    }

    @Test func aResetBeforeTheAnswerIsUnknown() throws {
        let (world, client, peer) = try held()
        peer.resetTransport()
        expectLost(world, client)
        #expect(client.closeReasons == [.reset(errorNumber: 104)])
    }

    @Test(arguments: [1, 5, 9, 12]) func aCutAmidTheAnswersHeadersIsUnknown(bytes: Int) throws {
        let (world, client, peer) = try held()
        _ = world.serverSide.requests[0].respond(
            status: 200, fields: [("apns-id", "0a0b0c0d-0000-0000-0000-000000000000")])
        peer.cutTransport(afterOutputBytes: bytes)
        expectLost(world, client)
        #expect(client.closeReasons == [.endOfFile])
    }

    @Test func aResetAfterTheAnswersHeadersIsUnknown() throws {
        let (world, client, peer) = try held()
        _ = world.serverSide.requests[0].respondHeaders(status: 200)
        world.settle()
        #expect(client.completions.isEmpty)
        peer.resetTransport()
        expectLost(world, client)
    }

    @Test func anEndOfTheStreamIsUnknown() throws {
        let (world, client, peer) = try held()
        peer.close()
        expectLost(world, client)
        #expect(client.closeReasons == [.endOfFile])
    }

    @Test func answersBeforeTheEndAreStillHeard() throws {
        let (world, client, peer) = try held()
        _ = world.serverSide.requests[0].respond(status: 200)
        peer.close()
        world.drive { !client.closeReasons.isEmpty }
        #expect(client.endings[1] == .answered(200, ""))
    }

    @Test(arguments: [HTTP2Error.internalError, HTTP2Error.cancel, HTTP2Error.enhanceYourCalm])
    func aStreamResetWithAnyOtherCodeIsUnknown(code: UInt32) throws {
        let (world, client, _) = try held()
        world.serverSide.requests[0].reset(errorCode: code)
        world.drive { client.endings[1] != nil }
        #expect(client.endings[1] == .unknown(.reset(errorCode: code)))
        #expect(client.connection.state == .ready)
    }

    @Test func refusalAfterTheAnswerHasBegunIsNoRefusal() throws {
        let (world, client, _) = try held()
        let request = world.serverSide.requests[0]
        _ = request.respondHeaders(status: 200)
        world.settle()
        request.reset(errorCode: HTTP2Error.refusedStream)
        world.drive { client.endings[1] != nil }
        #expect(client.endings[1] == .unknown(.reset(errorCode: HTTP2Error.refusedStream)))
    }

    @Test(arguments: [[(":status", "200")], [("content-length", "5")]])
    func anAnswerThatBreaksTheRulesIsUnknown(fields: [(String, String)]) throws {
        let (world, client, _) = try held()
        _ = world.serverSide.requests[0].respond(status: 200, fields: fields, body: [1, 2, 3])
        world.drive { client.endings[1] != nil }
        #expect(client.endings[1] == .unknown(.malformedResponse))
        #expect(client.connection.state == .ready)
    }

    @Test func anInterimAnswerIsNotTheAnswer() throws {
        let (world, client, peer) = try held()
        var early = nghttp2_nv.copied(
            name: StaticString(":status").buffer, value: StaticString("103").buffer, flags: 0)
        nghttp2_submit_headers(peer.session, 0, world.serverSide.requests[0].streamID, nil, &early, 1, nil)
        _ = world.serverSide.requests[0].respond(status: 404)
        world.drive { client.endings[1] != nil }
        #expect(client.endings[1] == .answered(404, ""))
    }

    @Test func aBlackHoleIsFoundByPing() throws {
        var options = ClientConnection.Options.quick
        options.pingAfterSilenceMilliseconds = 20
        options.pingTimeoutMilliseconds = 40
        let (world, client, peer) = try held(options)
        peer.isBlackHole = true
        expectLost(world, client)
        #expect(client.closeReasons == [.pingTimeout])
        #expect(client.connection.statistics.pingsSent >= 1)
    }

    @Test func anIdleBlackHoleIsFoundToo() throws {
        let world = try World()
        var options = ClientConnection.Options.quick
        options.idlePingMilliseconds = 20
        options.pingTimeoutMilliseconds = 40
        let (client, peer) = world.connected(options)
        peer.isBlackHole = true
        world.drive { !client.closeReasons.isEmpty }
        #expect(client.closeReasons == [.pingTimeout])
    }

    @Test func aSlowServerThatAnswersPingsIsLeftAlone() throws {
        var options = ClientConnection.Options.quick
        options.pingAfterSilenceMilliseconds = 5
        options.pingTimeoutMilliseconds = 10_000
        let (world, client, peer) = try held(options)
        world.drive { peer.counters.pings >= 3 }
        _ = world.serverSide.requests[0].respond(status: 200)
        world.drive { client.endings[1] != nil }
        #expect(client.endings[1] == .answered(200, ""))
        #expect(client.connection.state == .ready)
    }

    @Test func tooManyPingsAreAnsweredByGoingAway() throws {
        var serverOptions = Server.Options()
        serverOptions.maximumPingsPerSecond = 2
        let world = try World(serverOptions)
        var options = ClientConnection.Options.quick
        options.idlePingMilliseconds = 1
        let (client, _) = world.connected(options)
        world.drive { !client.closeReasons.isEmpty }
        #expect(client.goAways.last?.errorCode == HTTP2Error.enhanceYourCalm)
    }

    @Test func aSocketClosedAmidWritingDoesNotEndTheProcess() throws {
        let (world, client, peer, _) = try clogged()
        peer.resetTransport()
        world.drive { !client.closeReasons.isEmpty }
        #expect(client.isBalanced)
        #expect(!client.tags(.unknown(.connectionClosed)).isEmpty)
    }

    @Test func aPeerThatDoesNotReadBoundsWhatIsTaken() throws {
        let (world, client, peer, taken) = try clogged()
        // No queue in front of a full socket: nothing is taken, though streams are free.
        #expect(client.connection.openStreams < client.connection.streamLimit)
        #expect(client.connection.freeStreams == 0)
        #expect(client.connection.transport!.output.count <= 2 * OutputBuffer.recordBytes)
        let changes = client.capacityChanges
        peer.isBlackHole = false
        world.drive { client.isBalanced }
        #expect(client.tags(.answered(200, "")).count == taken)
        #expect(client.capacityChanges > changes)
        #expect(client.connection.freeStreams > 0)
    }

    /// A server that reads nothing, and a client whose socket is full amid a record.
    private func clogged() throws -> (World, Client, ServerConnection, taken: Int) {
        var options = Server.Options()
        options.connectionWindowBytes = 1 << 30
        options.maximumBodyBytes = 1 << 20
        let world = try World(options)
        let (client, peer) = world.connected()
        world.settle()
        peer.isBlackHole = true
        let body = String(repeating: "x", count: 60_000)
        var tag: UInt64 = 0
        world.drive {
            if client.connection.freeStreams > 0, client.send(tag, body: body) { tag += 1 }
            return client.connection.isWriteBlocked
        }
        return (world, client, peer, Int(tag))
    }

    @Test func aClientThatVanishesAmidAnswersDoesNotEndTheServer() throws {
        let world = try World()
        world.serverSide.onRequest = { _ = $0.respond(status: 200, body: [UInt8](repeating: 65, count: 60_000)) }
        let (client, _) = world.connected()
        for tag in 0..<100 { client.send(UInt64(tag)) }
        world.drive { client.completions.count >= 3 }
        client.connection.close()
        world.drive { world.serverSide.closeReasons.count == 1 }
        #expect(world.server.connections.isEmpty)
        let second = world.client()
        world.drive { second.isReady }
    }
}
