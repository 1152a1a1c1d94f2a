import CLinux
import Glibc
import HTTP1
import Instruments
import Testing

@testable import Operations

private func get(_ path: String, port: UInt16) -> String {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
    _ = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
    let request = "GET \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    _ = request.utf8CString.withUnsafeBytes { write(socket, $0.baseAddress, $0.count - 1) }
    var answer: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    while true {
        let count = read(socket, &chunk, chunk.count)
        guard count > 0 else { return String(decoding: answer, as: UTF8.self) }
        answer += chunk.prefix(count)
    }
}

@Suite("What a process shows of itself")
struct OperationsListenerTests {
    @Test("/metrics is Prometheus text")
    func metrics() throws {
        let registry = Registry()
        registry.counter("waypulse_tries_total", help: "Tries.").add(3)
        let listener = try OperationsListener(host: "127.0.0.1", port: 0, registry: registry, readiness: Readiness())
        defer { listener.stop() }
        let answer = get("/metrics", port: listener.port)
        #expect(answer.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"))
        #expect(
            answer.contains(
                "# HELP waypulse_tries_total Tries.\n# TYPE waypulse_tries_total counter\nwaypulse_tries_total 3\n"))
    }

    @Test("It lives from the first moment, and is ready between start and stop")
    func readiness() throws {
        let readiness = Readiness()
        let listener = try OperationsListener(host: "127.0.0.1", port: 0, registry: Registry(), readiness: readiness)
        defer { listener.stop() }
        #expect(get("/healthz", port: listener.port).hasPrefix("HTTP/1.1 200"))
        #expect(get("/readyz", port: listener.port).hasPrefix("HTTP/1.1 503"))
        readiness.become(.ready)
        #expect(get("/readyz", port: listener.port).hasPrefix("HTTP/1.1 200"))
        readiness.become(.stopping)
        #expect(get("/readyz", port: listener.port).hasSuffix("stopping\n"))
        // A word that was on its way when the signal came.
        readiness.become(.ready)
        #expect(get("/readyz", port: listener.port).hasSuffix("stopping\n"))
        #expect(get("/elsewhere", port: listener.port).hasPrefix("HTTP/1.1 404"))
    }
}
