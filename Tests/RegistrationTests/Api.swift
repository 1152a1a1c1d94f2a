import CLinux
import Glibc
import HTTP1
import Instruments
import Synchronization
import Telemetry
import Testing

@testable import Registration

/// A server over a desk that answers as it is told, on loopback, with a key for each scope.
final class Api {
    static let writer = "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww"
    static let reader = "rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr"
    static let all = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    static let token = String(repeating: "5e", count: 40)

    let desk = SettableDesk()
    let registry = Registry()
    let server: RegistrationServer
    let keysPath: String
    let lines = LogLines()
    let clock = SettableClock()

    final class LogLines: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: [UInt8]) { lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
        var text: String { lines.withLock { $0.joined() } }
    }

    final class SettableClock: Sendable {
        private let milliseconds = Mutex<Int64>(1_773_000_000_000)
        var now: Int64 { milliseconds.withLock { $0 } }
        func advance(_ by: Int64) { milliseconds.withLock { $0 += by } }
    }

    init(_ change: (inout RegistrationSettings) -> Void = { _ in }) throws {
        var settings = RegistrationSettings()
        settings.apps = ["courier"]
        // The clock stands still unless it is moved.
        settings.strangersPerSecond = 1_000_000
        settings.burst = 1_000_000
        change(&settings)
        keysPath = try Api.temporaryFile(
            "writer tokens:write \(Api.writer)\nreader state:read \(Api.reader)\n"
                + "all tokens:write,state:read,explain:read \(Api.all)\n")
        let lines = lines
        let log = Log(component: "api", to: LogSink(level: .trace, format: .json, output: { lines.add($0) }))
        let clock = clock
        server = try RegistrationServer(
            settings, desk: desk, keys: try KeyRing(path: keysPath, log: log), registry: registry, log: log,
            now: { clock.now })
    }

    func stop() {
        server.stop()
        unlink(keysPath)
    }

    static func temporaryFile(_ text: String) throws -> String {
        var template = Array("/tmp/waypulse-keys-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        try #require(write(descriptor, bytes, bytes.count) == bytes.count)
        return template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    func client() -> ApiClient { ApiClient(port: server.port) }

    /// One request on a connection of its own.
    func ask(
        _ method: String, _ path: String, key: String? = Api.all, _ fields: [String] = [], body: String? = nil
    ) -> Answer {
        let client = client()
        client.send(Api.request(method, path, key: key, fields, body: body))
        return client.answer(toHead: method == "HEAD")
    }

    static func request(
        _ method: String, _ path: String, key: String?, _ fields: [String] = [], body: String? = nil
    ) -> String {
        var text = "\(method) \(path) HTTP/1.1\r\nHost: a\r\n"
        if let key { text += "Authorization: Bearer \(key)\r\n" }
        for field in fields { text += field + "\r\n" }
        if let body {
            if !fields.contains(where: { $0.hasPrefix("Content-Type") }) {
                text += "Content-Type: application/json\r\n"
            }
            text += "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        } else {
            text += "\r\n"
        }
        return text
    }
}

struct Answer {
    let status: Int
    let fields: [HTTPField]
    let body: String

    subscript(name: String) -> String? { HTTPHeaders(fields)[name] }

    var json: JSONObject {
        guard case .object(let object)? = try? JSONParser.parse(body) else { return JSONObject() }
        return object
    }

    /// The last part of a problem's type.
    var problem: String? {
        guard self["Content-Type"] == "application/problem+json", case .string(let type)? = json["type"] else {
            return nil
        }
        return type.split(separator: ":").last.map(String.init)
    }

    func text(_ name: String) -> String? {
        if case .string(let text)? = json[name] { text } else { nil }
    }
}

/// A connection. What it waits for is given up after twenty seconds.
final class ApiClient {
    private let descriptor: Int32
    private var unread: [UInt8] = []

    init(port: UInt16) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    func answer(toHead: Bool = false) -> Answer {
        let lines = until("\r\n\r\n").split(separator: "\r\n")
        guard let first = lines.first else { return Answer(status: 0, fields: [], body: "") }
        let fields = lines.dropFirst().map { line in
            let name = line.prefix { $0 != ":" }
            return HTTPField(String(name), String(line.dropFirst(name.count + 1).trimmed))
        }
        let length = toHead ? 0 : HTTPHeaders(fields)["Content-Length"].flatMap { Int($0) } ?? 0
        while unread.count < length, more() {}
        defer { unread.removeFirst(min(length, unread.count)) }
        return Answer(
            status: Int(first.split(separator: " ")[1]) ?? 0, fields: fields,
            body: String(decoding: unread.prefix(length), as: UTF8.self))
    }

    /// Reads up to and with the first occurrence of a text; "" where the other side ends before.
    func until(_ end: String) -> String {
        while true {
            let text = String(decoding: unread, as: UTF8.self)
            var searched = text[...]
            while !searched.isEmpty, !searched.hasPrefix(end) { searched = searched.dropFirst() }
            if !searched.isEmpty {
                let found = String(text[..<searched.startIndex]) + end
                unread.removeFirst(found.utf8.count)
                return found
            }
            guard more() else { return "" }
        }
    }

    /// Whether the other side ends the connection, whatever it sends before.
    func isLetGo() -> Bool {
        while more() {}
        return errno != EAGAIN
    }

    private func more() -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        errno = 0
        let count = read(descriptor, &chunk, chunk.count)
        guard count > 0 else { return false }
        unread += chunk.prefix(count)
        return true
    }
}

/// Gives other threads the processor until it is so; false after twenty seconds.
func eventually(_ condition: () -> Bool) -> Bool {
    var start = timespec()
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &start)
    while !condition() {
        sched_yield()
        clock_gettime(CLOCK_MONOTONIC, &now)
        if now.tv_sec - start.tv_sec > 20 { return false }
    }
    return true
}
