import Instruments
import Pipeline
import RedisClient
import Sockets

/// A loop with a connection to Redis on it, run by the command's own thread until the work is done or somebody stops it.
final class TopicLoop {
    /// Between two looks at what no descriptor tells.
    private static let longestTurnMilliseconds: Int32 = 100

    let loop: EventLoop
    let client: RedisClient
    private let stop = StopRequest()

    /// - Throws: why Redis cannot be reached; it is tried again only while it loads its data.
    init(_ place: TopicPlace, signals: StopSignals) throws {
        loop = try EventLoop()
        let registry = Registry()
        // A command talks to a person: its own words follow, in place of the client's log.
        let sink = LogSink(level: .error, format: .forStandardError, registry: registry)
        client = RedisClient(
            settings: place.redis, loop: loop, instruments: RedisInstruments(registry: registry),
            log: Log(component: "redis", to: sink))
        let (stop, mailbox) = (stop, loop.mailbox)
        signals.onFirst {
            stop.stop()
            mailbox.wake()
        }
        while client.status != .connected, !isStopped {
            turn()
            guard case .failing(let fault) = client.status, fault.kind != .loading else { continue }
            throw fault
        }
        var last = client.status
        client.onStatusChange { [weak client] in
            guard let client, client.status != last, client.status != .connecting else { return }
            last = client.status
            Console.say("warning: \(last == .connected ? "connected to Redis again" : "\(last)")")
        }
    }

    var isStopped: Bool { stop.isStopped }

    /// Lets the loop serve what there is, or wait for it.
    func turn(atMostMilliseconds most: Int32 = longestTurnMilliseconds) {
        loop.runOnce(timeoutMilliseconds: min(most, Self.longestTurnMilliseconds))
    }
}
