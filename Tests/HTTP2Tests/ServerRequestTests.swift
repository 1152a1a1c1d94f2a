import Testing

@testable import HTTP2

@Suite struct ServerRequestTests {
    /// Requests one after the other, each sent when the one before is answered.
    private func sendInTurn(_ tags: ClosedRange<UInt64>, _ world: World, _ client: Client) {
        for tag in tags {
            client.send(tag, path: "/\(tag)", body: "body \(tag)")
            world.drive { client.endings[tag] != nil }
            // The stream is closed when the answer has left.
            world.settle()
        }
    }

    @Test func `A request that nobody keeps serves again, and shows nothing of the one before`() throws {
        let world = try World()
        world.serverSide.keepsRequests = false
        var seen: [(object: ObjectIdentifier, label: Int, text: String)] = []
        world.serverSide.onRequest = { request in
            seen.append(
                (
                    ObjectIdentifier(request), request.label,
                    "\(text(request.path)!) \(text(request.body)!) \(request.fieldCount) \(request.isOpen)"
                ))
            request.label = 5
            #expect(request.respond(status: 200, fields: [("a", "b")], body: [1, 2, 3]))
            #expect(!request.respond(status: 200))
        }
        let (client, connection) = world.connected()
        sendInTurn(1...3, world, client)

        #expect(seen.map(\.text) == (1...3).map { "/\($0) body \($0) 4 true" })
        #expect(seen.map(\.label) == [0, 0, 0])
        #expect(Set(seen.map(\.object)).count == 1)
        #expect(connection.openStreams == 0)
    }

    @Test func `One that is kept stays as it was while others come`() throws {
        let world = try World()
        let (client, connection) = world.connected()
        sendInTurn(1...5, world, client)

        let kept = world.serverSide.requests
        #expect(kept.map { text($0.path) } == (1...5).map { "/\($0)" })
        #expect(kept.map { text($0.body) } == (1...5).map { "body \($0)" })
        #expect(kept.map(\.streamID) == [1, 3, 5, 7, 9])
        #expect(kept.allSatisfy { !$0.isOpen && $0.connection === connection })
        #expect(!kept[0].respond(status: 200))
    }

    @Test func `Those that are open end in the order in which they came when the connection does`() throws {
        let world = try World()
        world.serverSide.keepsRequests = false
        var answers = 0
        world.serverSide.onRequest = { request in
            answers += 1
            // The second stream closes amid the others.
            if answers == 2 { _ = request.respond(status: 200) }
        }
        let (client, connection) = world.connected()
        for tag: UInt64 in 1...4 { client.send(tag) }
        world.drive { client.endings[2] != nil }
        world.settle()
        #expect(connection.openStreams == 3)
        connection.resetTransport()
        world.drive { !world.serverSide.closeReasons.isEmpty }
        #expect(world.serverSide.closedStreams == [3, 1, 5, 7])
        #expect(connection.openStreams == 0)
    }
}
