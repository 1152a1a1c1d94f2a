import Testing

@testable import HTTP2

@Suite struct DeadlineTests {
    @Test func aRequestPastItsDeadlineIsResetAndItsStreamFreed() throws {
        let world = try World()
        world.serverSide.onRequest = { _ in }
        let (client, peer) = world.connected()
        client.send(1, within: 40)
        client.send(2, within: 60_000)
        world.drive { client.endings[1] != nil }
        #expect(client.endings[1] == .unknown(.deadline))
        #expect(client.endings[2] == nil)
        world.drive { peer.openStreams == 1 }
        #expect(peer.counters.resetsReceived == 1)
        #expect(client.connection.openStreams == 1)
        // The late answer goes nowhere, and the other still comes.
        #expect(!world.serverSide.requests[0].respond(status: 200))
        #expect(world.serverSide.requests[1].respond(status: 200))
        world.drive { client.endings[2] != nil }
        #expect(client.completions == [1, 2])
    }

    @Test func eachRequestHasItsOwnDeadline() throws {
        let world = try World()
        world.serverSide.onRequest = { _ in }
        let (client, _) = world.connected()
        client.send(1, within: 60_000)
        client.send(2, within: 20)
        client.send(3, within: 60_000)
        client.send(4, within: 40)
        world.drive { client.completions.count == 2 }
        #expect(client.tags(.unknown(.deadline)) == [2, 4])
        for request in world.serverSide.requests { _ = request.respond(status: 200) }
        world.drive { client.isBalanced }
        #expect(client.tags(.answered(200, "")) == [1, 3])
    }

    @Test func anAnswerInTimeIsNotFollowedByADeadline() throws {
        let world = try World()
        let (client, _) = world.connected()
        client.send(1)
        world.drive { client.endings[1] != nil }
        client.send(2, within: 20)
        world.drive { client.endings[2] != nil }
        world.settle()
        #expect(client.isBalanced)
        #expect(client.endings[1] == .answered(200, ""))
    }

    @Test func aWindowThatIsNeverOpenedEndsInDeadlinesAndNotInADeadlock() throws {
        var options = Server.Options()
        options.streamWindowBytes = 10
        options.withholdsWindowUpdates = true
        let world = try World(options)
        let (client, peer) = world.connected()
        for tag in 0..<50 { client.send(UInt64(tag), body: String(repeating: "x", count: 500), within: 50) }
        world.drive { client.completions.count == 50 }
        #expect(client.tags(.unknown(.deadline)).count == 50)
        #expect(world.serverSide.requests.isEmpty)
        world.drive { peer.openStreams == 0 }
        #expect(client.connection.openStreams == 0)
        #expect(client.connection.state == .ready)
        // A body that fits goes through.
        client.send(99, body: "0123456789")
        world.drive { client.endings[99] != nil }
        #expect(client.endings[99] == .answered(200, ""))
    }

    @Test func aRequestThatWasNotFramedYetIsKnownToBeUnprocessedAtItsDeadline() throws {
        let world = try World()
        let (client, _) = world.connected()
        client.send(1, within: -60_000)
        client.connection.expireRequests()
        world.drive { client.endings[1] != nil }
        #expect(client.endings[1] == .notProcessed(.neverWritten))
        world.settle()
        #expect(world.serverSide.requests.isEmpty)
        #expect(client.connection.openStreams == 0)
    }
}
