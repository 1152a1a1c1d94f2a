import Glibc
import RedisFixture
import Sockets
import Testing

@testable import RedisClient

/// Greets as Redis does, and then answers one command with a string that comes piece by piece.
private final class Trickle {
    let port: UInt16
    private let loop: EventLoop
    private let listener: Int32
    private var connection: Int32 = -1
    private var pieces: Int?
    private var received = 0
    private var timer: LoopTimer!

    static let pieceMilliseconds: Int64 = 20
    private static let greetingBytes = "*1\r\n$4\r\nPING\r\n".utf8.count

    /// - Parameter pieces: of ten bytes each; nil for pieces without end, of an answer that would have a gigabyte.
    init(_ loop: EventLoop, pieces: Int?) throws {
        self.loop = loop
        self.pieces = pieces
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) | listen(listener, 8) | getsockname(listener, $0, &size)
            }
        }
        guard code == 0 else { throw SystemFault(call: "bind") }
        port = UInt16(bigEndian: address.sin_port)
        self.listener = listener
        // On the loop that waits for the answer: however late both are, a piece comes before its answer is called late.
        timer = loop.timer { [unowned self] in step() }
        timer.schedule(atMilliseconds: 0)
    }

    deinit {
        timer.cancel()
        close(listener)
        close(connection)
    }

    private func step() {
        timer.schedule(atMilliseconds: EventLoop.currentMilliseconds() + Trickle.pieceMilliseconds)
        if connection < 0 { connection = accept(listener, nil, nil) }
        guard connection >= 0 else { return }
        var bytes = [UInt8](repeating: 0, count: 1_024)
        let before = received
        received += max(0, recv(connection, &bytes, bytes.count, Int32(MSG_DONTWAIT)))
        if before == 0, received > 0 { say("+PONG\r\n") }
        guard received > Trickle.greetingBytes else { return }
        if before <= Trickle.greetingBytes { say("$\(pieces.map { 10 * $0 } ?? 1 << 30)\r\n") }
        if pieces != 0 {
            say("0123456789")
            pieces = pieces.map { $0 - 1 }
            if pieces == 0 { say("\r\n") }
        }
    }

    private func say(_ text: String) {
        let bytes = Array(text.utf8)
        _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}

@Suite struct LargeAnswerTests {
    private func desk(_ pieces: Int?) throws -> (desk: Desk, trickle: Trickle) {
        let loop = try EventLoop()
        let trickle = try Trickle(loop, pieces: pieces)
        var settings = RedisSettings(.single(RedisAddress("127.0.0.1", trickle.port)))
        settings.commandTimeoutMilliseconds = 5 * Trickle.pieceMilliseconds
        return (Desk(settings, loop: loop), trickle)
    }

    @Test func whatIsOnItsWayMayTakeLonger() throws {
        let (desk, trickle) = try desk(20)
        let answer = desk.call("GET", "k")
        #expect(answer == .text(String(repeating: "0123456789", count: 20)))
        withExtendedLifetime(trickle) {}
    }

    @Test func butNotForEver() throws {
        let (desk, trickle) = try desk(nil)
        #expect(desk.call("GET", "k") == .lost)
        withExtendedLifetime(trickle) {}
    }

    @Test func moreThanIsWantedIsNotTaken() throws {
        let server = try RedisServer()
        let desk = Desk(server)
        #expect(desk.call("SETRANGE", "k", "3000000", "x") == .integer(3_000_001))
        let reader = desk.client.openReader(key: "k")
        var seen: [Seen] = []
        reader.send(RedisCommand("GET", "k"), blockMilliseconds: 0, mostReplyBytes: 1 << 20) { seen.append(Seen($0)) }
        desk.drive { !seen.isEmpty }
        #expect(seen == [.lost])
        guard case .failing(let fault) = reader.status else {
            Issue.record("\(reader.status)")
            return
        }
        #expect(fault.problem == "an answer of Redis at 127.0.0.1:\(server.port) has more than 1 MiB")
        reader.send(RedisCommand("STRLEN", "k"), blockMilliseconds: 0, mostReplyBytes: 1 << 20) {
            seen.append(Seen($0))
        }
        reader.send(RedisCommand("GET", "k"), blockMilliseconds: 0) { outcome in
            if case .reply(let reply) = outcome { seen.append(.integer(Int64(reply.byteCount))) }
        }
        desk.drive { seen.count == 3 }
        #expect(seen == [.lost, .integer(3_000_001), .integer(3_000_001)])
    }
}
