import CLinux
import Glibc
import Synchronization

/// A plain socket, for clients of any manners. Everything it waits for is given up after twenty seconds, as an empty answer.
final class RawClient {
    private let descriptor: Int32
    private var unread: [UInt8] = []

    init(port: UInt16, host: String = "127.0.0.1") {
        let family = host.contains(":") ? AF_INET6 : AF_INET
        descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        if family == AF_INET6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            inet_pton(AF_INET6, host, &address.sin6_addr)
            connectTo(&address)
        } else {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            inet_pton(AF_INET, host, &address.sin_addr)
            connectTo(&address)
        }
    }

    private func connectTo<Address>(_ address: inout Address) {
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }

    deinit { close(descriptor) }

    /// - Returns: whether all of it could be sent.
    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Little room for what is not read.
    func readNothing() {
        var bytes: Int32 = 4096
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, 4)
    }

    /// Reads until the other side closes.
    func rest() -> String {
        while more() {}
        defer { unread = [] }
        return String(decoding: unread, as: UTF8.self)
    }

    /// Reads up to and with the first occurrence of `end`.
    func until(_ end: String) -> String {
        let end = Array(end.utf8)
        var searched = 0
        while true {
            if unread.count >= end.count {
                for place in searched...(unread.count - end.count) where unread[place...].starts(with: end) {
                    defer { unread.removeFirst(place + end.count) }
                    return String(decoding: unread[..<(place + end.count)], as: UTF8.self)
                }
                searched = unread.count - end.count + 1
            }
            guard more() else { return "" }
        }
    }

    /// One answer with a Content-Length.
    func answer() -> String {
        let head = until("\r\n\r\n")
        guard
            let length = head.split(separator: "\r\n").first(where: { $0.lowercased().hasPrefix("content-length:") })
                .flatMap({ Int($0.dropFirst(15).drop { $0 == " " }) })
        else { return head }
        while unread.count < length, more() {}
        defer { unread.removeFirst(min(length, unread.count)) }
        return head + String(decoding: unread.prefix(length), as: UTF8.self)
    }

    /// Whether the other side ends the connection, whatever it sends before.
    func isLetGo() -> Bool {
        while true {
            var chunk = [UInt8](repeating: 0, count: 65_536)
            let count = read(descriptor, &chunk, chunk.count)
            if count == 0 { return true }
            if count < 0 { return errno == ECONNRESET }
        }
    }

    private func more() -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &chunk, chunk.count)
        guard count > 0 else { return false }
        unread += chunk.prefix(count)
        return true
    }
}

/// Counts calls from any thread.
final class Tally: Sendable {
    private let calls = Atomic<Int>(0)

    var count: Int { calls.load(ordering: .relaxed) }
    func add() { calls.add(1, ordering: .relaxed) }
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
