import Testing

@testable import HTTP1

/// One request, read until the listener closes.
private func exchange(port: UInt16, _ request: String) -> String {
    let client = RawClient(port: port)
    client.send(request)
    return client.rest()
}

@Suite struct HTTPListenerTests {
    let listener: HTTPListener

    init() throws {
        listener = try HTTPListener(port: 0) { request in
            request.path == "/echo"
                ? .text("\(request.method) \(String(decoding: request.body, as: UTF8.self))") : .notFound
        }
    }

    @Test func answersWithStatusTypeAndBody() {
        defer { listener.stop() }
        let answer = exchange(port: listener.port, "GET /echo?x=1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200"))
        #expect(answer.contains("Content-Type: text/plain; charset=utf-8\r\n"))
        #expect(answer.hasSuffix("\r\n\r\nGET "))
    }

    @Test func hearsTheWholeBody() {
        defer { listener.stop() }
        let body = String(repeating: "x", count: 100_000)
        let answer = exchange(
            port: listener.port,
            "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: \(body.count)\r\n\r\n\(body)")
        #expect(answer.hasSuffix("POST \(body)"))
    }

    @Test func refusesABodyAboveTheLimit() {
        defer { listener.stop() }
        let body = String(repeating: "x", count: HTTPListener.maxBodyBytes + 1)
        let answer = exchange(
            port: listener.port,
            "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: \(body.count)\r\n\r\n\(body)")
        #expect(answer.hasPrefix("HTTP/1.1 413"))
    }

    @Test func unknownPathsAreNotFound() {
        defer { listener.stop() }
        let answer = exchange(port: listener.port, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 404"))
    }

    @Test func aPortInUseIsAFault() throws {
        defer { listener.stop() }
        #expect(throws: ListenFault.self) { try HTTPListener(port: listener.port) { _ in .notFound } }
        #expect(throws: ListenFault.self) { try HTTPListener(host: "localhost", port: 0) { _ in .notFound } }
    }
}
