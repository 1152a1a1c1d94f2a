import CNghttp2
import Testing

@testable import HTTP2

@Suite struct FlowControlTests {
    @Test func lateBodiesOfCancelledStreamsAreGivenBackToTheConnectionsWindow() throws {
        let world = try World()
        world.serverSide.onRequest = { _ in }
        let (client, peer) = world.connected()
        let window = Int(client.connection.options.connectionWindowBytes)
        let body = [UInt8](repeating: 65, count: 40_000)
        for tag in 0..<200 {
            client.send(UInt64(tag))
            world.drive { world.serverSide.requests.count == tag + 1 }
            // In one turn: the client gives up, and the server, which cannot know yet, answers in full.
            #expect(world.serverSide.requests[tag].respond(status: 400, body: body))
            client.connection.cancel(tag: UInt64(tag))
            world.drive { peer.openStreams == 0 && client.connection.openStreams == 0 }
            world.loop.runOnce(timeoutMilliseconds: 0)
        }
        world.settle()
        // Eight windows' worth has gone by.
        #expect(client.connection.statistics.bytesRead > 4 * UInt64(window))
        // Every byte has been returned, or waits at the client to be returned with the next half window.
        let unreturned = client.connection.statistics.unreturnedWindowBytes
        #expect(Int(nghttp2_session_get_remote_window_size(peer.session)) + unreturned == window)
        #expect(unreturned < window / 2)

        world.serverSide.onRequest = { _ = $0.respond(status: 400, body: body) }
        client.send(1_000)
        world.drive { client.endings[1_000] != nil }
        #expect(client.endings[1_000] == .answered(400, String(repeating: "A", count: 40_000)))
        #expect(client.isBalanced)
    }

    @Test func bodiesLargerThanAllWindowsGetThrough() throws {
        var options = Server.Options()
        options.streamWindowBytes = 1_000
        options.maximumBodyBytes = 1_000_000
        let world = try World(options)
        let (client, _) = world.connected()
        client.send(1, body: String(repeating: "x", count: 300_000))
        world.drive { client.endings[1] != nil }
        #expect(world.serverSide.requests[0].body.count == 300_000)
    }
}
