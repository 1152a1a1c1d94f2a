import Sockets
import Synchronization
import Testing

@testable import HTTP2

@Suite struct ThreadsTests {
    /// Lives on the server's thread alone; only the port leaves it.
    private final class Answering: ServerHandler {
        var server: Server?
        override func received(_ request: ServerRequest) { _ = request.respond(status: 200) }
        override func closed(_ connection: ServerConnection, reason: CloseReason) {
            server?.close()
            server = nil
        }
    }

    @Test func serverAndClientOnThreadsOfTheirOwn() throws {
        let loop = try EventLoop()
        let clientMailbox = loop.mailbox
        let shared = Shared()
        let thread = try LoopThread.start(name: "server") { loop in
            let handler = Answering()
            let server = try! Server(loop: loop, tls: .server(World.certificate), handler: handler)
            handler.server = server
            shared.port.withLock { $0 = server.port }
            clientMailbox.submit { $0.stop() }
        }
        loop.run()
        let address = SocketAddress(numeric: "127.0.0.1", port: shared.port.withLock { $0 })!
        let client = Client(
            loop: loop, host: "localhost", addresses: [address], tls: try .client(.trusting(World.certificate)),
            options: .quick)
        while !client.isReady { loop.runOnce() }
        var next: UInt64 = 0
        while client.completions.count < 3_000 {
            while next < 3_000, client.send(next) { next += 1 }
            loop.runOnce()
        }
        #expect(client.isBalanced)
        #expect(client.tags(.answered(200, "")).count == 3_000)
        client.connection.drain()
        while client.closeReasons.isEmpty { loop.runOnce() }
        thread.stopAndJoin()
    }

    private final class Shared: Sendable {
        let port = Mutex<UInt16>(0)
    }
}
