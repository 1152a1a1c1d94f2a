import Testing

@testable import HTTP1

/// Each limit is reached, and its neighbours are served meanwhile.
@Suite struct LimitTests {
    private func listener(_ change: (inout HTTPLimits) -> Void) throws -> HTTPListener {
        var limits = HTTPLimits()
        change(&limits)
        return try HTTPListener(port: 0, limits: limits) { request in
            request.path == "/large"
                ? .text(String(repeating: "x", count: 32 << 20)) : .text("\(request.body.count) bytes\n")
        }
    }

    private func isServed(_ port: UInt16) -> Bool {
        let client = RawClient(port: port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        return client.answer().hasSuffix("0 bytes\n")
    }

    @Test func anAnnouncedBodyIsRefusedBeforeItComes() throws {
        let listener = try listener { $0.bodyBytes = 1000 }
        defer { listener.stop() }
        let client = RawClient(port: listener.port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000000\r\n\r\n")
        #expect(client.rest().hasPrefix("HTTP/1.1 413"))
        #expect(listener.counts.tooLarge == 1)
    }

    @Test func aBodyWithoutEndIsRefusedOnceItIsTooLong() throws {
        let listener = try listener { $0.bodyBytes = 1000 }
        defer { listener.stop() }
        let client = RawClient(port: listener.port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = "400\r\n" + String(repeating: "x", count: 0x400) + "\r\n"
        for _ in 0..<20 { client.send(chunk) }
        let answer = client.rest()
        #expect(answer.hasPrefix("HTTP/1.1 413"))
        #expect(answer.hasSuffix("the body is larger than 1000 bytes\n"))
    }

    @Test(arguments: [0, 1, 40_000])
    func aChunkWhoseSizeNeverEndsIsLetGo(_ more: Int) throws {
        let listener = try listener {
            $0.headerBytes = 16 << 10
            $0.requestMilliseconds = 3_600_000
        }
        defer { listener.stop() }
        let client = RawClient(port: listener.port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;")
        client.send(String(repeating: "x", count: (16 << 10) + more))
        #expect(isServed(listener.port))
        #expect(client.isLetGo())
        #expect(listener.counts.dropped(.slow) == 1)
    }

    @Test func theLargestBodyIsTaken() throws {
        let listener = try listener { $0.bodyBytes = 1000 }
        defer { listener.stop() }
        let client = RawClient(port: listener.port)
        let body = String(repeating: "x", count: 1000)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n\(body)")
        #expect(client.answer().hasSuffix("1000 bytes\n"))
        client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3E8\r\n\(body)\r\n0\r\n\r\n")
        #expect(client.rest().hasSuffix("1000 bytes\n"))
    }

    @Test func aClientThatAsksIsToldToGoOn() throws {
        let listener = try listener { _ in }
        defer { listener.stop() }
        let client = RawClient(port: listener.port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
        #expect(client.until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        client.send("hello")
        #expect(client.answer().hasSuffix("5 bytes\n"))
    }

    @Test func aClientThatAsksIsRefusedWithoutABody() throws {
        let listener = try HTTPListener(
            port: 0, callbacks: .init(admit: { _ in .refuse(.text("no\n", status: 401)) }))
        defer { listener.stop() }
        let client = RawClient(port: listener.port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
        #expect(client.rest().hasPrefix("HTTP/1.1 401"))
    }

    @Test func aRefusedRequestsBodyIsReadAndTheConnectionStays() throws {
        let listener = try HTTPListener(
            port: 0,
            callbacks: .init(admit: {
                $0.path == "/no"
                    ? .refuse(.text("no\n", status: 401))
                    : .accept { request, responder in responder.respond(.text("yes \(request.body.count)\n")) }
            }))
        defer { listener.stop() }
        let client = RawClient(port: listener.port)
        client.send("POST /no HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello")
        #expect(client.answer().hasPrefix("HTTP/1.1 401"))
        client.send("GET /no HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.answer().hasPrefix("HTTP/1.1 401"))
        client.send("POST /yes HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello")
        #expect(client.answer().hasSuffix("yes 5\n"))
    }

    @Test func aHeadWithoutEndIsRefused() throws {
        let listener = try listener { $0.headerBytes = 8 << 10 }
        defer { listener.stop() }
        let fields = RawClient(port: listener.port)
        fields.send("GET / HTTP/1.1\r\nHost: a\r\n")
        for number in 0..<2000 { guard fields.send("X-\(number): y\r\n") else { break } }
        #expect(fields.rest().hasPrefix("HTTP/1.1 431"))
        let target = RawClient(port: listener.port)
        target.send("GET /" + String(repeating: "x", count: 20_000))
        #expect(target.rest().hasPrefix("HTTP/1.1 414"))
        #expect(isServed(listener.port))
    }

    @Test func aRequestThatTricklesInIsLetGo() throws {
        let listener = try listener { $0.requestMilliseconds = 300 }
        defer { listener.stop() }
        let silent = RawClient(port: listener.port)
        let head = RawClient(port: listener.port)
        head.send("GET / HTTP/1.1\r\nHost: a\r\nX-")
        let body = RawClient(port: listener.port)
        body.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nx")
        #expect(isServed(listener.port))
        for client in [silent, head, body] { #expect(client.isLetGo()) }
        #expect(listener.counts.dropped(.slow) == 3)
    }

    @Test func theSecondRequestOfAConnectionMayNotTrickleEither() throws {
        let listener = try listener {
            $0.requestMilliseconds = 300
            $0.idleMilliseconds = 3_600_000
        }
        defer { listener.stop() }
        let client = RawClient(port: listener.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.answer().hasSuffix("0 bytes\n"))
        // Bytes that come while the listener still counts the answer as new are taken for idleness; so they keep coming.
        #expect(eventually { !client.send("G") || listener.counts.dropped(.slow) > 0 })
        #expect(client.isLetGo())
    }

    @Test func anIdleConnectionIsLetGo() throws {
        let listener = try listener { $0.idleMilliseconds = 300 }
        defer { listener.stop() }
        let client = RawClient(port: listener.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.answer().hasSuffix("0 bytes\n"))
        #expect(client.isLetGo())
        #expect(listener.counts.dropped(.idle) == 1)
    }

    @Test func anAnswerThatIsNotReadIsTakenBack() throws {
        let listener = try listener { $0.sendMilliseconds = 300 }
        defer { listener.stop() }
        let client = RawClient(port: listener.port)
        client.readNothing()
        client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(eventually { !isServed(listener.port) || listener.counts.dropped(.unread) > 0 })
        #expect(client.isLetGo())
    }

    @Test func newcomersTakeThePlaceOfThoseWhoSayNothing() throws {
        let listener = try listener {
            $0.connections = 8
            $0.requestMilliseconds = 3_600_000
        }
        defer { listener.stop() }
        let silent = (0..<100).map { _ in RawClient(port: listener.port) }
        #expect(isServed(listener.port))
        #expect(silent[0].isLetGo())
        #expect(eventually { !isServed(listener.port) || listener.counts.accepted > 101 })
        #expect(listener.counts.open <= 8 + 32)
        #expect(listener.counts.dropped(.displaced) >= 60)
    }

    @Test func oneAddressHasItsShare() throws {
        let listener = try listener { $0.connectionsPerAddress = 3 }
        defer { listener.stop() }
        let clients = (0..<5).map { _ in RawClient(port: listener.port) }
        for client in clients.prefix(2) { #expect(client.isLetGo()) }
        for client in clients.suffix(3) {
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(client.answer().hasSuffix("0 bytes\n"))
        }
        #expect(listener.counts.open == 3)
        #expect(listener.counts.dropped(.displaced) == 2)
    }

    @Test func requestsThatEndInTheirMiddleLeaveNothingBehind() throws {
        let listener = try listener {
            $0.requestMilliseconds = 3_600_000
            $0.idleMilliseconds = 3_600_000
        }
        defer { listener.stop() }
        let whole = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
        for end in 1..<whole.utf8.count {
            // The bytes and the end come together.
            RawClient(port: listener.port).send(String(whole.prefix(end)))
        }
        #expect(eventually { listener.counts.accepted == whole.utf8.count - 1 && listener.counts.open == 0 })
    }

    @Test func whoClosesItsSideIsAnsweredAllTheSame() throws {
        let listener = try listener { _ in }
        defer { listener.stop() }
        let client = RawClient(port: listener.port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello")
        client.endSending()
        #expect(client.rest().hasSuffix("5 bytes\n"))
        #expect(eventually { listener.counts.open == 0 })
    }

    @Test(arguments: ["::1", "[::1]", "::"])
    func numericAddressesOfIPv6AreTaken(_ host: String) throws {
        let listener = try HTTPListener(host: host, port: 0) { .text("from \($0.peer)\n") }
        defer { listener.stop() }
        let client = RawClient(port: listener.port, host: "::1")
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.answer().hasSuffix("from ::1\n"))
        guard host == "::" else { return }
        let other = RawClient(port: listener.port)
        other.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(other.answer().hasSuffix("from 127.0.0.1\n"))
    }
}
