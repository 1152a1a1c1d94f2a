import CLinux
import Glibc
import Sockets

/// What Redis answered, read by nothing of what is under test.
public enum RedisAnswer: Equatable, Sendable {
    case text(String)
    case integer(Int64)
    case array([RedisAnswer])
    case nothing
    case error(String)

    public var text: String? { if case .text(let text) = self { text } else { nil } }
    public var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
    public var elements: [RedisAnswer] { if case .array(let elements) = self { elements } else { [] } }

    public static func ask(_ port: UInt16, _ words: [String]) throws -> RedisAnswer {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        let address = SocketAddress(numeric: "127.0.0.1", port: port)!
        guard address.withSocketAddress({ connect(descriptor, $0, $1) }) == 0 else {
            throw SystemFault(call: "connect \(address)")
        }
        var message = "*\(words.count)\r\n"
        for word in words { message += "$\(word.utf8.count)\r\n\(word)\r\n" }
        let bytes = Array(message.utf8)
        guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw SystemFault(call: "send")
        }
        var input = Input(descriptor: descriptor)
        return try input.answer()
    }

    private struct Input {
        let descriptor: Int32
        var bytes: [UInt8] = []
        var position = 0

        mutating func byte() throws -> UInt8 {
            if position == bytes.count {
                bytes = [UInt8](repeating: 0, count: 16_384)
                let count = recv(descriptor, &bytes, bytes.count, 0)
                guard count > 0 else { throw RedisServer.Trouble(description: "the server closed the connection") }
                bytes.removeLast(bytes.count - count)
                position = 0
            }
            defer { position += 1 }
            return bytes[position]
        }

        mutating func line() throws -> String {
            var line: [UInt8] = []
            while true {
                let next = try byte()
                if next == UInt8(ascii: "\r") { break }
                line.append(next)
            }
            _ = try byte()
            return String(decoding: line, as: UTF8.self)
        }

        mutating func answer() throws -> RedisAnswer {
            let line = try line()
            let rest = String(line.dropFirst())
            switch line.first {
            case "+": return .text(rest)
            case "-": return .error(rest)
            case ":": return .integer(Int64(rest)!)
            case "$":
                guard let count = Int(rest), count >= 0 else { return .nothing }
                var text: [UInt8] = []
                for _ in 0..<count { text.append(try byte()) }
                _ = try self.line()
                return .text(String(decoding: text, as: UTF8.self))
            case "*":
                guard let count = Int(rest), count >= 0 else { return .nothing }
                var elements: [RedisAnswer] = []
                for _ in 0..<count { elements.append(try answer()) }
                return .array(elements)
            default: throw RedisServer.Trouble(description: "no answer of Redis: \(line)")
            }
        }
    }
}
