import CLinux
import Glibc
import Testing

@testable import HTTP1

/// One request over a plain socket, read until the listener closes.
private func exchange(port: UInt16, _ request: String) -> String {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
    let connected = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
    guard connected == 0 else { return "" }
    _ = request.utf8CString.withUnsafeBytes { write(socket, $0.baseAddress, $0.count - 1) }
    var answer: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    while true {
        let count = read(socket, &chunk, chunk.count)
        guard count > 0 else { return String(decoding: answer, as: UTF8.self) }
        answer += chunk.prefix(count)
    }
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
