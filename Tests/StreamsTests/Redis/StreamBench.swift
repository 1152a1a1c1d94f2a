import Glibc
import Instruments
import RedisClient
import RedisFixture
import Sockets
import Testing

@testable import Streams

/// A real Redis, and a client on a loop that the test drives.
final class StreamBench {
    let server: RedisServer
    let loop: EventLoop
    let client: RedisClient

    init(_ options: [String] = []) throws {
        server = try RedisServer(options)
        loop = try EventLoop()
        var settings = RedisSettings(.single(RedisAddress("127.0.0.1", server.port)))
        settings.reconnectDelayMilliseconds = 5
        settings.reconnectDelayMaxMilliseconds = 50
        settings.commandTimeoutMilliseconds = 2_000
        let registry = Registry()
        client = RedisClient(
            settings: settings, loop: loop, instruments: RedisInstruments(registry: registry),
            log: Log(
                component: "redis", to: LogSink(level: .error, format: .forStandardError, registry: registry)))
    }

    deinit {
        client.close()
        loop.runOnce(timeoutMilliseconds: 0)
    }

    /// Turns of the loop until it holds. The minute is no expectation, only the end of a test that hangs.
    func drive(
        _ everyTurn: () -> Void = {}, until condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let limit = EventLoop.currentMilliseconds() + 60_000
        while !condition() {
            guard EventLoop.currentMilliseconds() < limit else {
                Issue.record("never happened", sourceLocation: sourceLocation)
                return
            }
            loop.runOnce(timeoutMilliseconds: 10)
            everyTurn()
        }
    }

    /// The fields of a stream's entries.
    func entries(_ stream: String) throws -> [[String]] {
        try server.call("XRANGE", stream, "-", "+").elements.map { $0.elements[1].elements.compactMap(\.text) }
    }

    /// A path where nothing is yet, cleared afterwards.
    func withPath<Result>(_ body: (String) throws -> Result) rethrows -> Result {
        try body("\(server.directory)/recording-\(UInt64.random(in: .min ... .max)).jsonl")
    }
}
