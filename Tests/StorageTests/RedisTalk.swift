import Glibc

/// What redis-server answered.
enum RedisAnswer: Equatable {
    case text(String)
    case number(Int64)
    case list([RedisAnswer])
    case nothing
    case error(String)

    var number: Int64? { if case .number(let number) = self { number } else { nil } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var list: [RedisAnswer]? { if case .list(let list) = self { list } else { nil } }
    /// A list of names and texts, as HGETALL and ZRANGE WITHSCORES give.
    var table: [String: String] {
        let texts = (list ?? []).map { $0.text ?? "" }
        return Dictionary(
            stride(from: 0, to: texts.count - 1, by: 2).map { (texts[$0], texts[$0 + 1]) }, uniquingKeysWith: { $1 })
    }
}

/// One blocking connection, as plain as can be: a witness that shares nothing with the client that is tested.
final class RedisTalk {
    private let descriptor: Int32
    private var unread: [UInt8] = []
    private var position = 0

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = Self.loopback(port: port)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { throw RedisServerFault("connect: errno \(errno)") }
    }

    deinit { close(descriptor) }

    static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    func say(_ words: [[UInt8]]) throws -> RedisAnswer {
        var bytes = Array("*\(words.count)\r\n".utf8)
        for word in words { bytes += Array("$\(word.count)\r\n".utf8) + word + [13, 10] }
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw RedisServerFault("send: errno \(errno)") }
            sent += count
        }
        return try answer()
    }

    private func answer() throws -> RedisAnswer {
        let head = String(decoding: try line(), as: UTF8.self)
        let rest = String(head.dropFirst())
        switch head.first {
        case "+": return .text(rest)
        case "-": return .error(rest)
        case ":": return .number(Int64(rest) ?? 0)
        case "$":
            guard let count = Int(rest), count >= 0 else { return .nothing }
            let bytes = try take(count + 2)
            return .text(String(decoding: bytes.dropLast(2), as: UTF8.self))
        case "*":
            guard let count = Int(rest), count >= 0 else { return .nothing }
            return .list(try (0..<count).map { _ in try answer() })
        default: throw RedisServerFault("not RESP: \(head)")
        }
    }

    private func line() throws -> ArraySlice<UInt8> {
        var end = position
        while true {
            while end + 1 < unread.count {
                if unread[end] == 13, unread[end + 1] == 10 { return try take(end + 2 - position).dropLast(2) }
                end += 1
            }
            try receive()
        }
    }

    private func take(_ count: Int) throws -> ArraySlice<UInt8> {
        while unread.count - position < count { try receive() }
        defer { position += count }
        return unread[position..<position + count]
    }

    private func receive() throws {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { throw RedisServerFault("redis-server closed the connection: errno \(errno)") }
        if position == unread.count {
            unread.removeAll(keepingCapacity: true)
            position = 0
        }
        unread += buffer[..<count]
    }
}
