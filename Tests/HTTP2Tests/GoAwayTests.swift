import Testing

@testable import HTTP2

@Suite struct GoAwayTests {
    /// Fifty requests that the server holds: tags 0…49 on streams 1, 3, … 99.
    private func loaded() throws -> (World, Client, ServerConnection) {
        let world = try World()
        world.serverSide.onRequest = { _ in }
        let (client, peer) = world.connected()
        for tag in 0..<50 { client.send(UInt64(tag)) }
        world.drive { world.serverSide.requests.count == 50 }
        return (world, client, peer)
    }

    private func stream(ofTag tag: Int) -> Int32 { Int32(2 * tag + 1) }

    private func answerAll(_ world: World) {
        for request in world.serverSide.requests { _ = request.respond(status: 200) }
    }

    @Test func amidALoadExactlyTheStreamsAboveTheIdAreUnprocessed() throws {
        let (world, client, peer) = try loaded()
        peer.goAway(lastStreamID: stream(ofTag: 19), debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
        world.drive { client.completions.count == 30 }
        #expect(client.tags(.notProcessed(.goAway)) == Array(20..<50))
        #expect(client.connection.state == .draining)
        #expect(client.connection.freeStreams == 0)
        #expect(!client.send(99))
        #expect(client.goAways.map(\.lastStreamID) == [39])
        #expect(client.goAways.map(\.errorCode) == [HTTP2Error.noError])
        #expect(client.goAways.map(\.text) == [#"{"reason":"Shutdown"}"#])

        answerAll(world)
        world.drive { !client.closeReasons.isEmpty }
        #expect(client.tags(.answered(200, "")) == Array(0..<20))
        #expect(client.closeReasons == [.drained])
        #expect(client.isBalanced)
    }

    @Test func theLowerOfTwoIdsCounts() throws {
        let (world, client, peer) = try loaded()
        peer.goAway(lastStreamID: stream(ofTag: 29))
        world.drive { client.completions.count == 20 }
        peer.goAway(lastStreamID: stream(ofTag: 9))
        world.drive { client.completions.count == 40 }
        #expect(client.tags(.notProcessed(.goAway)) == Array(10..<50))
        #expect(client.goAways.map(\.lastStreamID) == [59, 19])
        answerAll(world)
        world.drive { !client.closeReasons.isEmpty }
        #expect(client.tags(.answered(200, "")) == Array(0..<10))
        #expect(client.isBalanced)
    }

    @Test func aGoAwayInTwoStepsFirstOnlyStopsNewStreams() throws {
        let (world, client, peer) = try loaded()
        // As RFC 9113 section 6.8 advises: the highest id at first, the true one a round trip later.
        peer.goAway(lastStreamID: .max)
        world.drive { client.connection.state == .draining }
        world.settle()
        #expect(client.completions.isEmpty)
        peer.goAway(lastStreamID: stream(ofTag: 39))
        world.drive { client.completions.count == 10 }
        #expect(client.tags(.notProcessed(.goAway)) == Array(40..<50))
        answerAll(world)
        world.drive { !client.closeReasons.isEmpty }
        #expect(client.tags(.answered(200, "")) == Array(0..<40))
    }

    @Test func streamsBelowTheIdThatAreNeverAnsweredAreUnknown() throws {
        let (world, client, peer) = try loaded()
        peer.goAway(lastStreamID: stream(ofTag: 19))
        world.drive { client.completions.count == 30 }
        peer.close()
        world.drive { !client.closeReasons.isEmpty }
        #expect(client.tags(.unknown(.connectionClosed)) == Array(0..<20))
        #expect(client.tags(.notProcessed(.goAway)) == Array(20..<50))
        #expect(client.closeReasons == [.endOfFile])
        #expect(client.completionsAfterClose == 0)
    }

    @Test func anErrorOfTheWholeConnectionLeavesNobodyWaiting() throws {
        let (world, client, peer) = try loaded()
        peer.goAway(
            lastStreamID: 0, errorCode: HTTP2Error.protocolError,
            debugData: Array(#"{"reason":"BadCertificateEnvironment"}"#.utf8))
        peer.close()
        world.drive { !client.closeReasons.isEmpty }
        #expect(client.tags(.notProcessed(.goAway)) == Array(0..<50))
        #expect(client.goAways.first?.text == #"{"reason":"BadCertificateEnvironment"}"#)
        #expect(client.isBalanced)
    }

    @Test func aRequestTakenAfterTheGoAwayLeftIsUnprocessed() throws {
        let (world, client, peer) = try loaded()
        peer.goAway(lastStreamID: stream(ofTag: 49))
        // In the same turn, before the client can know.
        client.send(50)
        world.drive { client.endings[50] != nil }
        guard case .notProcessed = client.endings[50] else {
            Issue.record("\(client.endings[50]!)")
            return
        }
        answerAll(world)
        world.drive { !client.closeReasons.isEmpty }
        #expect(client.tags(.answered(200, "")).count == 50)
    }

    @Test func aGracefulCloseAnswersWhatIsOpen() throws {
        let (world, client, peer) = try loaded()
        peer.closeGracefully()
        world.settle()
        #expect(client.completions.isEmpty)
        answerAll(world)
        world.drive { !client.closeReasons.isEmpty && !world.serverSide.closeReasons.isEmpty }
        #expect(client.tags(.answered(200, "")).count == 50)
        #expect(client.closeReasons == [.drained])
    }

    @Test func aServerThatGoesAwayEveryThreeStreamsGetsEverythingInTheEnd() throws {
        let total: UInt64 = 900
        let world = try World()
        world.serverSide.keepsRequests = false
        var processed: [String: Int] = [:]
        world.serverSide.onRequest = { request in
            processed[text(request.path)!, default: 0] += 1
            request.connection.label += 1
            if request.connection.label == 3 { request.connection.goAway(lastStreamID: request.streamID) }
            _ = request.respond(status: 200)
        }
        var waiting = Array((0..<total).reversed())
        var answered = 0
        var clients: [Client] = []
        func connect() {
            let client = world.client()
            client.onCompletion = { _, tag, ending, _ in
                switch ending {
                case .answered: answered += 1
                case .notProcessed: waiting.append(tag)
                case .unknown: Issue.record("\(tag): \(ending)")
                }
            }
            clients.append(client)
        }
        connect()
        while answered < total {
            let client = clients.last!
            world.drive { client.isReady || !client.closeReasons.isEmpty }
            for _ in 0..<20 where !waiting.isEmpty {
                let tag = waiting.removeLast()
                if !client.send(tag, path: "/3/device/\(tag)") { waiting.append(tag) }
            }
            world.drive { client.isBalanced }
            if client.connection.state != .ready { connect() }
        }
        #expect(processed.count == total)
        #expect(processed.values.allSatisfy { $0 == 1 })
        #expect(clients.count >= 300)
        #expect(clients.allSatisfy { $0.isBalanced })
    }
}
