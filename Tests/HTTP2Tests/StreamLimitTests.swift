import Testing

@testable import HTTP2

@Suite struct StreamLimitTests {
    private func fill(_ client: Client, from next: inout UInt64) {
        while client.send(next) { next += 1 }
    }

    @Test func oneStreamUntilTheOwnerSaysThatTheCredentialHolds() throws {
        let world = try World()
        world.serverSide.onRequest = { _ in }
        let (client, _) = world.connected(ClientConnection.Options())
        #expect(client.connection.peerStreamLimit == 1_000)
        #expect(client.connection.freeStreams == 1)
        #expect(client.send(1))
        #expect(!client.send(2))
        client.connection.unlockStreams()
        client.connection.unlockStreams()
        #expect(client.capacityChanges == 1)
        #expect(client.connection.freeStreams == 999)
        #expect(client.send(2))
    }

    @Test func nothingIsTakenBeforeSettings() throws {
        let world = try World()
        let client = world.client()
        #expect(client.connection.freeStreams == 0)
        #expect(!client.send(1))
        world.drive { client.isReady }
        #expect(client.connection.freeStreams == 1_000)
    }

    @Test func aLimitThatFallsToOneAndReturnsIsNeverExceeded() throws {
        let world = try World()
        world.serverSide.onRequest = { _ in }
        let (client, peer) = world.connected()
        var next: UInt64 = 0
        fill(client, from: &next)
        #expect(next == 1_000)
        world.drive { world.serverSide.requests.count == 1_000 }

        peer.announce(maxConcurrentStreams: 1)
        world.drive { world.serverSide.acknowledgedLimits.last == 1 }
        #expect(client.connection.streamLimit == 1)
        #expect(client.connection.freeStreams == 0)
        #expect(client.capacityChanges == 1)
        for request in world.serverSide.requests { _ = request.respond(status: 200) }
        world.drive { client.completions.count == 1_000 }

        client.onCompletion = { client, _, _, _ in sendOne(client) }
        world.serverSide.onRequest = { request in
            #expect(request.connection.openStreams == 1)
            _ = request.respond(status: 200)
        }
        sendOne(client)
        world.drive { client.completions.count == 1_050 }
        client.onCompletion = { _, _, _, _ in }
        world.serverSide.onRequest = { _ in }
        peer.announce(maxConcurrentStreams: 1_000)
        world.drive { client.connection.streamLimit == 1_000 }
        next = 2_000
        fill(client, from: &next)
        world.drive { peer.openStreams == 1_000 }
        #expect(peer.counters.streamsOverLimit == 0)
        #expect(peer.counters.peakStreams == 1_000)
    }

    private func sendOne(_ client: Client) { client.send(UInt64(10_000 + client.accepted.count)) }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func aLimitThatWandersUnderLoadIsNeverExceeded(seed: UInt64) throws {
        let world = try World()
        var random = seed
        func draw(_ bound: UInt64) -> UInt64 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (random >> 33) % bound
        }
        var held: [ServerRequest] = []
        world.serverSide.keepsRequests = false
        world.serverSide.onRequest = { held.append($0) }
        let (client, peer) = world.connected()
        var next: UInt64 = 0
        for _ in 0..<400 {
            if draw(4) == 0 { peer.announce(maxConcurrentStreams: UInt32(1 + draw(40))) }
            for _ in 0..<draw(30) where client.send(next) { next += 1 }
            for _ in 0..<draw(30) where !held.isEmpty {
                _ = held.remove(at: Int(draw(UInt64(held.count)))).respond(status: 200)
            }
            world.loop.runOnce(timeoutMilliseconds: 0)
        }
        world.serverSide.onRequest = { _ = $0.respond(status: 200) }
        for request in held { _ = request.respond(status: 200) }
        world.drive { client.isBalanced }
        #expect(peer.counters.streamsOverLimit == 0)
        // A request that the lower limit caught before it was framed is given back; all others were answered.
        #expect(
            client.tags(.answered(200, "")).count + client.tags(.notProcessed(.neverWritten)).count
                == client.accepted.count)
    }

    @Test func refusedStreamsAreUnprocessedAndSucceedWhenSentAgain() throws {
        let world = try World()
        world.serverSide.keepsRequests = false
        var seen = 0
        world.serverSide.onRequest = { request in
            seen += 1
            if seen % 3 == 0 {
                request.reset(errorCode: HTTP2Error.refusedStream)
            } else {
                _ = request.respond(status: 200)
            }
        }
        let (client, _) = world.connected()
        var refusals = 0
        var answered = Set<UInt64>()
        client.onCompletion = { client, tag, ending, _ in
            switch ending {
            case .notProcessed(.refusedStream):
                refusals += 1
                client.send(tag)
            case .answered: answered.insert(tag)
            default: Issue.record("\(tag): \(ending)")
            }
        }
        for tag in 0..<300 { client.send(UInt64(tag)) }
        world.drive { answered.count == 300 }
        #expect(refusals > 100)
        #expect(client.connection.state == .ready)
        #expect(client.connection.openStreams == 0)
    }

    @Test func theServerRefusesStreamsAboveItsLimit() throws {
        let world = try World()
        world.serverSide.onRequest = { _ in }
        let (client, peer) = world.connected()
        // As if the client had agreed to one and forgotten it.
        world.drive { world.serverSide.acknowledgedLimits == [1_000] }
        peer.acknowledgedStreamLimit = 1
        client.send(1)
        client.send(2)
        world.drive { client.endings[2] != nil }
        #expect(client.endings[2] == .notProcessed(.refusedStream))
        #expect(client.endings[1] == nil)
        #expect(peer.counters.streamsOverLimit == 1)
    }

    @Test func aStrictServerEndsTheConnectionInstead() throws {
        var options = Server.Options()
        options.refusal = .goAway
        let world = try World(options)
        world.serverSide.onRequest = { _ in }
        let (client, peer) = world.connected()
        world.drive { world.serverSide.acknowledgedLimits == [1_000] }
        peer.acknowledgedStreamLimit = 1
        client.send(1)
        client.send(2)
        world.drive { !client.closeReasons.isEmpty }
        #expect(client.endings[2] == .notProcessed(.goAway))
        #expect(client.endings[1] == .unknown(.connectionClosed))
        #expect(client.goAways.first?.errorCode == HTTP2Error.protocolError)
    }
}
