import Instruments
import RedisFixture
import Sockets
import Testing

@testable import RedisClient

/// A client on a loop of the test's own, driven by it.
final class Desk {
    let loop: EventLoop
    let client: RedisClient
    let registry = Registry()
    /// Runs as long as somebody keeps it.
    private var server: RedisServer?
    private var hasGivenUp = false

    init(_ settings: RedisSettings, loop: EventLoop = try! EventLoop()) {
        self.loop = loop
        let sink = LogSink(level: .error, format: .forStandardError, registry: registry)
        client = RedisClient(
            settings: settings, loop: loop, instruments: RedisInstruments(registry: registry),
            log: Log(component: "redis", to: sink))
    }

    convenience init(_ server: RedisServer, _ change: (inout RedisSettings) -> Void = { _ in }) {
        var settings = RedisSettings(.single(RedisAddress("127.0.0.1", server.port)))
        settings.reconnectDelayMilliseconds = 5
        settings.reconnectDelayMaxMilliseconds = 50
        change(&settings)
        self.init(settings)
        self.server = server
    }

    deinit {
        client.close()
        loop.runOnce(timeoutMilliseconds: 0)
    }

    /// Turns of the loop until it holds. The three minutes, for a cluster that elects a master on a busy machine, are no expectation, only the end of a test that hangs.
    func drive(until condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        let limit = loop.timer { [unowned self] in hasGivenUp = true }
        limit.schedule(atMilliseconds: EventLoop.currentMilliseconds() + 180_000)
        while !condition(), !hasGivenUp { loop.runOnce() }
        limit.cancel()
        if hasGivenUp { Issue.record("never happened", sourceLocation: sourceLocation) }
    }

    /// A command's outcome, waited for.
    func call(_ words: String..., key: String? = nil, sourceLocation: SourceLocation = #_sourceLocation) -> Seen? {
        let box = Box()
        client.send(.of(words), key: key) { box.seen.append(Seen($0)) }
        drive(until: { !box.seen.isEmpty }, sourceLocation: sourceLocation)
        return box.seen.first
    }

    /// Sends and notes the outcome in the box that is returned.
    func begin(_ words: String..., key: String? = nil) -> Box {
        let box = Box()
        client.send(.of(words), key: key) { box.seen.append(Seen($0)) }
        return box
    }

    /// Calls until it is answered so: while a server changes its mind, other answers are to be expected.
    func callUntil(
        _ expected: Seen, _ words: String..., key: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let box = Box()
        func ask() { client.send(.of(words), key: key) { box.seen.append(Seen($0)) } }
        ask()
        var asked = 1
        drive(
            until: {
                if box.seen.last == expected { return true }
                if box.seen.count == asked {
                    asked += 1
                    ask()
                }
                return false
            }, sourceLocation: sourceLocation)
    }

    /// Turns of the loop, and the question again, until it holds.
    func eventually(_ condition: () throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        let again = loop.timer {}
        drive(
            until: {
                again.schedule(atMilliseconds: EventLoop.currentMilliseconds() + 10)
                return (try? condition()) == true
            }, sourceLocation: sourceLocation)
        again.cancel()
    }

    func detours(_ kind: String) -> Int64 {
        registry.snapshot().number("waypulse_redis_detours_total", kind) ?? 0
    }

    /// What is wrong, once something is.
    func fault(sourceLocation: SourceLocation = #_sourceLocation) -> RedisFault? {
        var fault: RedisFault?
        drive(
            until: {
                if case .failing(let found) = client.status { fault = found }
                return fault != nil
            }, sourceLocation: sourceLocation)
        return fault
    }

    final class Box {
        var seen: [Seen] = []
    }
}

/// An outcome that outlives its callback.
enum Seen: Equatable {
    case text(String)
    case integer(Int64)
    case array([Seen])
    case nothing
    case refused(String)
    case lost
    case unsent

    init(_ outcome: RedisOutcome) {
        switch outcome {
        case .reply(let reply): self.init(reply)
        case .refused(let refusal): self = .refused(refusal.code)
        case .lost: self = .lost
        case .unsent: self = .unsent
        }
    }

    init(_ reply: RedisReply) {
        switch reply.kind {
        case .string, .status: self = .text(reply.text!)
        case .integer: self = .integer(reply.integer!)
        case .array: self = .array(reply.map { Seen($0) })
        case .nothing: self = .nothing
        case .error: self = .refused(RedisRefusal(reply).code)
        }
    }
}

extension RedisCommand {
    static func of(_ words: [String]) -> RedisCommand {
        var command = RedisCommand(words[0])
        for word in words.dropFirst() { command.append(word) }
        return command
    }
}
