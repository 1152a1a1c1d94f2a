import Glibc

/// An exchange over HTTP/1.1 in clear text, one connection each, the calling thread waiting: for the control port, and for a back end in the
/// same test.
public enum PlainHTTP {
    public struct Fault: Error, CustomStringConvertible {
        public let problem: String
        public var description: String { problem }
    }

    public struct Answer: Sendable {
        public let status: Int
        public let body: [UInt8]
    }

    /// Where requests go.
    public struct Place: Sendable, Equatable {
        public let host: String
        public let port: UInt16
        /// What stands behind host and port, without a slash at its end.
        public let path: String

        /// - Parameter url: `http://host:port/path`; also `host:port` alone.
        public init(_ url: String) throws(Fault) {
            var rest = url[...]
            if rest.hasPrefix("https://") {
                throw Fault(
                    problem: "\"\(url)\" wants TLS, which is not spoken here; put a proxy before it, or use http://")
            }
            if rest.hasPrefix("http://") { rest = rest.dropFirst(7) }
            let authority = rest.prefix { $0 != "/" }
            var path = rest.dropFirst(authority.count)
            while path.hasSuffix("/") { path = path.dropLast() }
            let colon = authority.lastIndex(of: ":")
            let name = colon.map { authority[..<$0] } ?? authority
            guard let port = colon.map({ UInt16(authority[authority.index(after: $0)...]) }) ?? 80, port > 0,
                !name.isEmpty, !name.contains("@"), path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else { throw Fault(problem: "\"\(url)\" is no http://host:port") }
            host = String(name)
            self.port = port
            self.path = String(path)
        }
    }

    static let maxAnswerBytes = 1 << 30

    /// - Parameters:
    ///   - target: path and query as they go over the wire.
    ///   - fields: lines without their ends.
    ///   - timeoutSeconds: for each step.
    public static func send(
        _ method: String, _ target: String, to place: Place, fields: [String] = [], body: [UInt8] = [],
        timeoutSeconds: Int = 10
    ) throws(Fault) -> Answer {
        let socket = try connect(to: place, timeoutSeconds: timeoutSeconds)
        defer { close(socket) }
        var head = "\(method) \(target) HTTP/1.1\r\nhost: \(place.host):\(place.port)\r\nconnection: close\r\n"
        for field in fields { head += field + "\r\n" }
        var rest = (Array("\(head)content-length: \(body.count)\r\n\r\n".utf8) + body)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw fault("took no request", place) }
            rest = rest.dropFirst(count)
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(socket, &chunk, chunk.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count >= 0, bytes.count <= maxAnswerBytes else { throw fault("did not answer", place) }
            guard count > 0 else { break }
            bytes += chunk.prefix(count)
        }
        return try answer(bytes, from: place)
    }

    private static func answer(_ bytes: [UInt8], from place: Place) throws(Fault) -> Answer {
        let firstLine = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        let words = firstLine.split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
            throw Fault(problem: "\(place.host):\(place.port) does not speak HTTP/1.1")
        }
        let end = Array("\r\n\r\n".utf8)
        var index = 0
        while index + 4 <= bytes.count, Array(bytes[index..<index + 4]) != end { index += 1 }
        return Answer(status: status, body: Array(bytes.dropFirst(index + 4)))
    }

    private static func connect(to place: Place, timeoutSeconds: Int) throws(Fault) -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(place.host, String(place.port), &hints, &found)
        guard code == 0 else {
            throw Fault(problem: "\(place.host) has no address: \(String(cString: gai_strerror(code)))")
        }
        defer { freeaddrinfo(found) }
        var next = found
        while let address = next {
            let socket = Glibc.socket(
                address.pointee.ai_family, address.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
            if socket >= 0 {
                // The limit of sending holds for connecting as well (socket(7)).
                var limit = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
                let size = socklen_t(MemoryLayout<timeval>.size)
                setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
                setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
                if Glibc.connect(socket, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 { return socket }
                let error = errno
                close(socket)
                errno = error
            }
            next = address.pointee.ai_next
        }
        throw fault("cannot be reached", place)
    }

    private static func fault(_ what: String, _ place: Place) -> Fault {
        Fault(problem: "\(place.host):\(place.port) \(what): \(String(cString: strerror(errno)))")
    }

    /// A segment of a path: what is not unreserved is percent-encoded (RFC 3986, section 2.3).
    public static func segment(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + (digits.utf8.count < 2 ? "0" : "") + digits
            }
        }
        return result
    }
}
