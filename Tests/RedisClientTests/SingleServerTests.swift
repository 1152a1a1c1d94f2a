import RedisFixture
import Testing

@testable import RedisClient

@Suite struct SingleServerTests {
    @Test func commandsAreAnsweredInOrder() throws {
        let server = try RedisServer()
        let desk = Desk(server)
        var answers: [Seen] = []
        for number in 0..<1_000 {
            desk.client.send(.of(["ECHO", "\(number)"]), key: nil) { answers.append(Seen($0)) }
        }
        #expect(answers.isEmpty)
        desk.drive { answers.count == 1_000 }
        let isInOrder = answers == (0..<1_000).map { .text("\($0)") }
        #expect(isInOrder)
        #expect(desk.client.status == .connected)
    }

    @Test func bytesOfAnyKindGoAndComeBack() throws {
        let desk = Desk(try RedisServer())
        var command = RedisCommand("SET", "k")
        let value = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        command.append(value)
        var seen: [UInt8] = []
        desk.client.send(command, key: "k") { _ in }
        command.reset("GET")
        command.append("k")
        desk.client.send(command, key: "k") { if case .reply(let reply) = $0 { seen = Array(reply.bytes!) } }
        desk.drive { !seen.isEmpty }
        let isSame = seen == value
        #expect(isSame)
    }

    @Test func anErrorIsARefusalWithItsCode() throws {
        let desk = Desk(try RedisServer())
        #expect(desk.call("SET", "k", "v") == .text("OK"))
        #expect(desk.call("XADD", "k", "*", "a", "b") == .refused("WRONGTYPE"))
        #expect(desk.call("EVALSHA", "0000000000000000000000000000000000000000", "0") == .refused("NOSCRIPT"))
        #expect(desk.call("GET", "k") == .text("v"))
    }

    @Test func aKilledServerIsConnectedToAgain() throws {
        let server = try RedisServer(["--appendonly", "yes", "--appendfsync", "always"])
        let desk = Desk(server)
        #expect(desk.call("SET", "k", "v") == .text("OK"))
        server.kill()
        let fault = desk.fault()
        #expect(fault?.kind == .lost || fault?.kind == .unreachable)
        try server.start()
        #expect(desk.call("GET", "k") == .text("v"))
        #expect(desk.client.status == .connected)
    }

    @Test func aCommandThatNobodyTakesComesBackUnsent() throws {
        let server = try RedisServer()
        server.kill()
        let desk = Desk(server) { $0.commandTimeoutMilliseconds = 30 }
        #expect(desk.call("PING") == .unsent)
        #expect(
            desk.fault()?.description
                == "cannot connect to Redis at 127.0.0.1:\(server.port): Connection refused; check host and port, and that "
                + "Redis runs and listens there (bind, protected-mode)")
    }

    @Test func afterATimeoutTheConnectionIsDroppedAndALateAnswerBelongsToNobody() throws {
        let server = try RedisServer()
        let desk = Desk(server) { $0.commandTimeoutMilliseconds = 100 }
        #expect(desk.call("SET", "k", "old") == .text("OK"))
        server.freeze()
        let late = desk.begin("GET", "k")
        desk.drive { late.seen == [.lost] }
        let waiting = desk.begin("GET", "k")
        server.thaw()
        desk.drive { !waiting.seen.isEmpty }
        // Whatever became of the second one, it is not the answer to the first.
        #expect(desk.call("ECHO", "mine") == .text("mine"))
        #expect(late.seen == [.lost])
    }

    @Test func aPauseBeyondTheTimeLimitIsOutlasted() throws {
        let server = try RedisServer()
        let desk = Desk(server) { $0.commandTimeoutMilliseconds = 50 }
        #expect(desk.call("SET", "k", "v") == .text("OK"))
        try server.call("CLIENT", "PAUSE", "400", "ALL")
        #expect(desk.call("GET", "k") == .lost)
        #expect(desk.fault()?.kind == .timeout)
        desk.callUntil(.text("v"), "GET", "k")
        #expect(desk.client.status == .connected)
    }

    @Test func anAnswerThatCameInTimeCountsHoweverLateItIsRead() throws {
        let server = try RedisServer()
        let desk = Desk(server) { $0.commandTimeoutMilliseconds = 100 }
        #expect(desk.call("SET", "k", "v") == .text("OK"))
        let answer = desk.begin("GET", "k")
        desk.loop.runOnce(timeoutMilliseconds: 0)
        // The thread is kept from its loop for longer than a command may take.
        #expect(try server.call("BLPOP", "nothing", "0.3") == .nothing)
        desk.loop.runOnce(timeoutMilliseconds: 0)
        #expect(answer.seen == [.text("v")])
        // And one that begins after such a time has all of its own.
        #expect(try server.call("BLPOP", "nothing", "0.3") == .nothing)
        #expect(desk.call("GET", "k") == .text("v"))
    }

    @Test func aConnectionThatIsKilledFromOutsideIsLostAndCommandsGoOn() throws {
        let server = try RedisServer()
        let desk = Desk(server) { $0.clientName = "killme" }
        #expect(desk.call("SET", "k", "v") == .text("OK"))
        #expect(try server.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes") == .integer(1))
        // The loss is seen by the loop before the next command goes, or the command is lost with it; the one after it is not.
        _ = desk.call("GET", "k")
        #expect(desk.call("GET", "k") == .text("v"))
    }

    @Test func closingTellsWhatIsOpen() throws {
        let server = try RedisServer()
        let desk = Desk(server)
        #expect(desk.call("PING") == .text("PONG"))
        let open = desk.begin("PING")
        desk.client.close()
        #expect(open.seen.isEmpty)
        let after = desk.begin("PING")
        desk.loop.runOnce(timeoutMilliseconds: 0)
        // Nothing of it had been written yet.
        #expect(open.seen == [.unsent])
        #expect(after.seen == [.unsent])
    }

    @Test func aReaderWaitsWithoutHoldingUpTheClient() throws {
        let desk = Desk(try RedisServer())
        let reader = desk.client.openReader(key: "s")
        var read: [Seen] = []
        reader.send(.of(["XREAD", "BLOCK", "20000", "STREAMS", "s", "$"]), blockMilliseconds: 20_000) {
            read.append(Seen($0))
        }
        desk.drive { reader.status == .connected }
        // Only what comes after the server has begun to wait is its answer: add until it is there.
        while read.isEmpty { #expect(desk.call("XADD", "s", "*", "event", "{}") != nil) }
        guard case .array(let streams) = read[0], case .array(let stream) = streams[0] else {
            Issue.record("\(read)")
            return
        }
        #expect(stream[0] == .text("s"))
        reader.close()
    }
}
