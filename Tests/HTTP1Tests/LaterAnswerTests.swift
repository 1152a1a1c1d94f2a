import Synchronization
import Testing

@testable import HTTP1

/// Answers and streams that come from elsewhere, when they are ready.
@Suite struct LaterAnswerTests {
    /// Keeps requests that nobody has answered, by path.
    private final class Shelf: Sendable {
        let responders = Mutex<[String: HTTPResponder]>([:])

        func take(_ path: String) -> HTTPResponder {
            var taken: HTTPResponder?
            _ = eventually {
                taken = responders.withLock { $0.removeValue(forKey: path) }
                return taken != nil
            }
            return taken!
        }
    }

    private func listener(_ shelf: Shelf, _ change: (inout HTTPLimits) -> Void = { _ in }) throws -> HTTPListener {
        var limits = HTTPLimits()
        change(&limits)
        return try HTTPListener(
            port: 0, limits: limits,
            callbacks: .init(admit: { _ in
                .accept { request, responder in
                    if request.path == "/now" { return responder.respond(.text("now\n")) }
                    shelf.responders.withLock { $0[request.path] = responder }
                }
            }))
    }

    private func get(_ path: String, _ port: UInt16) -> RawClient {
        let client = RawClient(port: port)
        client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        return client
    }

    @Test func aSlowAnswerHoldsNobodyUp() throws {
        let shelf = Shelf()
        let listener = try listener(shelf)
        defer { listener.stop() }
        let slow = get("/slow", listener.port)
        let responder = shelf.take("/slow")
        for _ in 0..<20 { #expect(get("/now", listener.port).answer().hasSuffix("now\n")) }
        responder.respond(.text("later\n"))
        #expect(slow.answer().hasSuffix("later\n"))
        slow.send("GET /now HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(slow.answer().hasSuffix("now\n"))
    }

    @Test func onlyTheFirstAnswerCounts() throws {
        let shelf = Shelf()
        let listener = try listener(shelf)
        defer { listener.stop() }
        let client = get("/a", listener.port)
        let responder = shelf.take("/a")
        responder.respond(.text("first\n"))
        responder.respond(.text("second\n"))
        #expect(responder.stream(.text("third\n")) {} == nil)
        #expect(client.answer().hasSuffix("first\n"))
    }

    @Test func whoeverNobodyAnswersIsToldSo() throws {
        let shelf = Shelf()
        let listener = try listener(shelf) { $0.answerMilliseconds = 300 }
        defer { listener.stop() }
        let client = get("/a", listener.port)
        #expect(client.answer().hasPrefix("HTTP/1.1 503"))
        #expect(listener.counts.overdue == 1)
        shelf.take("/a").respond(.text("too late\n"))
        client.send("GET /now HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.answer().hasSuffix("now\n"))
    }

    @Test func anAnswerForOneWhoHasGoneIsDropped() throws {
        let shelf = Shelf()
        let listener = try listener(shelf)
        defer { listener.stop() }
        var client: RawClient? = get("/a", listener.port)
        let responder = shelf.take("/a")
        _ = client
        client = nil
        responder.respond(.text("nobody\n"))
        #expect(get("/now", listener.port).answer().hasSuffix("now\n"))
    }

    @Test func whoClosesItsSideWhileItWaitsIsAnsweredAllTheSame() throws {
        let shelf = Shelf()
        let listener = try listener(shelf)
        defer { listener.stop() }
        let client = get("/a", listener.port)
        client.endSending()
        shelf.take("/a").respond(.text("later\n"))
        #expect(client.rest().hasSuffix("later\n"))
    }

    @Test func stoppingLeavesNoRequestWaiting() throws {
        let shelf = Shelf()
        let listener = try listener(shelf)
        let client = get("/a", listener.port)
        let responder = shelf.take("/a")
        listener.stop()
        responder.respond(.text("too late\n"))
        #expect(client.isLetGo())
    }

    @Test func aStreamIsWrittenPieceByPieceAndEnds() throws {
        let shelf = Shelf()
        let over = Tally()
        let listener = try listener(shelf)
        defer { listener.stop() }
        let client = get("/s", listener.port)
        let head = HTTPResponse(
            contentType: "text/event-stream", headers: [HTTPField("X-One", "1")], body: Array("a".utf8))
        let stream = try #require(shelf.take("/s").stream(head) { over.add() })
        #expect(client.until("\r\n\r\n").contains("X-One: 1\r\n"))
        #expect(client.until("a\r\n") == "1\r\na\r\n")
        #expect(stream.write(Array("bc".utf8)))
        #expect(client.until("bc\r\n") == "2\r\nbc\r\n")
        stream.write(Array("d".utf8))
        stream.end()
        #expect(!stream.write(Array("e".utf8)))
        #expect(client.rest() == "1\r\nd\r\n0\r\n\r\n")
        #expect(eventually { over.count > 0 })
        #expect(over.count == 1)
    }

    @Test func aStreamWhoseReaderGoesIsOver() throws {
        let shelf = Shelf()
        let over = Tally()
        let listener = try listener(shelf)
        defer { listener.stop() }
        var client: RawClient? = get("/s", listener.port)
        let stream = try #require(
            shelf.take("/s").stream(HTTPResponse(contentType: "text/plain", body: [])) {
                over.add()
            })
        _ = client?.until("\r\n\r\n")
        client = nil
        #expect(eventually { over.count > 0 })
        #expect(!stream.isOpen)
        #expect(eventually { listener.counts.open == 0 })
    }

    @Test func aReaderThatDoesNotReadIsLetGoAndHoldsLittle() throws {
        let shelf = Shelf()
        let listener = try listener(shelf) { $0.streamBufferBytes = 16 << 10 }
        defer { listener.stop() }
        let client = RawClient(port: listener.port)
        client.readNothing()
        client.send("GET /s HTTP/1.1\r\nHost: a\r\n\r\n")
        let stream = try #require(shelf.take("/s").stream(HTTPResponse(contentType: "text/plain", body: [])) {})
        let piece = [UInt8](repeating: 0x78, count: 1000)
        var taken = 0
        // As fast as it goes: what the kernel holds for both sides is all that may be taken beside our own buffer.
        while stream.write(piece) { taken += piece.count }
        #expect(taken < 4 << 20)
        #expect(!stream.isOpen)
        #expect(client.isLetGo())
        #expect(eventually { listener.counts.dropped(.unread) > 0 })
    }

    @Test func aReaderThatStopsReadingIsLetGoInTime() throws {
        let shelf = Shelf()
        let over = Tally()
        let listener = try listener(shelf) { $0.sendMilliseconds = 300 }
        defer { listener.stop() }
        let client = RawClient(port: listener.port)
        client.readNothing()
        client.send("GET /s HTTP/1.1\r\nHost: a\r\n\r\n")
        let stream = try #require(
            shelf.take("/s").stream(HTTPResponse(contentType: "text/plain", body: [])) {
                over.add()
            })
        // Little enough to wait here, more than the kernel takes; written only as long as there is room.
        let piece = [UInt8](repeating: 0x78, count: 20_000)
        #expect(
            eventually {
                stream.write(piece)
                return over.count > 0
            })
        #expect(client.isLetGo())
    }

    @Test func stoppingEndsStreams() throws {
        let shelf = Shelf()
        let over = Tally()
        let listener = try listener(shelf)
        let client = get("/s", listener.port)
        let stream = shelf.take("/s").stream(HTTPResponse(contentType: "text/plain", body: [])) {
            over.add()
        }
        listener.stop()
        #expect(over.count == 1)
        #expect(stream?.isOpen == false)
        #expect(client.isLetGo())
    }

    @Test func ticksAndLettersRunOnTheListenersThread() throws {
        let (ticks, letters) = (Tally(), Tally())
        let listener = try HTTPListener(
            port: 0,
            callbacks: .init(admit: { _ in .refuse(.notFound) }, tickMilliseconds: 1, tick: { ticks.add() }))
        listener.perform { letters.add() }
        #expect(eventually { ticks.count >= 3 && letters.count == 1 })
        listener.stop()
        let atTheEnd = ticks.count
        listener.perform { letters.add() }
        #expect(ticks.count == atTheEnd && letters.count == 1)
    }
}
