import Glibc

/// One GET over plain HTTP, for a member's API on this machine or in its mesh.
///
/// libcurl would bring two dozen libraries into every process of Waypulse for this one question. Asked by HTTP/1.0, a server closes after its
/// answer and sends no chunks (RFC 9112, sections 6.1 and 9.3), so the answer is a head, an empty line, and the rest.
enum PlainGet {
    static let timeoutSeconds = 10
    /// An explanation has some 200 kB at the most.
    private static let mostBytes = 8 << 20

    struct Answer {
        let status: Int
        /// In small letters.
        let header: [String: String]
        let body: [UInt8]
    }

    struct Fault: Error {
        let problem: String
    }

    static func get(host: String, port: UInt16, path: String, key: String?) throws(Fault) -> Answer {
        let socket = try connect(host: host, port: port)
        defer { close(socket) }
        let name = host.contains(":") ? "[\(host)]" : host
        var request = "GET \(path) HTTP/1.0\r\nHost: \(name):\(port)\r\nAccept: application/json\r\n"
        if let key { request += "Authorization: Bearer \(key)\r\n" }
        try write(Array((request + "\r\n").utf8), to: socket)
        return try parse(try read(socket))
    }

    private static func connect(host: String, port: UInt16) throws(Fault) -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &found)
        guard code == 0, let found else {
            throw Fault(problem: "\(host) is not known (\(String(cString: gai_strerror(code))))")
        }
        defer { freeaddrinfo(found) }
        var problem = "no address"
        var next: UnsafeMutablePointer<addrinfo>? = found
        while let address = next {
            let socket = Glibc.socket(
                address.pointee.ai_family, address.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
            // Of connecting as well.
            var timeout = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
            let size = socklen_t(MemoryLayout<timeval>.size)
            setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, size)
            setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, size)
            if Glibc.connect(socket, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 { return socket }
            problem = errno == EINPROGRESS ? "no answer in \(timeoutSeconds) s" : String(cString: strerror(errno))
            close(socket)
            next = address.pointee.ai_next
        }
        throw Fault(problem: problem)
    }

    private static func write(_ bytes: [UInt8], to socket: Int32) throws(Fault) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Fault(problem: String(cString: strerror(errno))) }
            sent += count
        }
    }

    private static func read(_ socket: Int32) throws(Fault) -> [UInt8] {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(socket, &part, part.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw Fault(
                    problem: errno == EAGAIN ? "no answer in \(timeoutSeconds) s" : String(cString: strerror(errno)))
            }
            if count == 0 { return bytes }
            bytes += part[..<count]
            guard bytes.count <= mostBytes else { throw Fault(problem: "the answer has more than \(mostBytes) bytes") }
        }
    }

    static func parse(_ bytes: [UInt8]) throws(Fault) -> Answer {
        let end = Array("\r\n\r\n".utf8)
        let split = bytes.indices.first { bytes[$0...].starts(with: end) }
        guard let split else { throw Fault(problem: "the answer is not HTTP") }
        var lines = String(decoding: bytes[..<split], as: UTF8.self).split(separator: "\r\n")[...]
        let words = lines.popFirst()?.split(separator: " ") ?? []
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
            throw Fault(problem: "the answer is not HTTP")
        }
        var header: [String: String] = [:]
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            header[line[..<colon].lowercased()] = String(value)
        }
        let body = Array(bytes[(split + end.count)...])
        if let length = header["content-length"].flatMap({ Int($0) }), body.count < length {
            throw Fault(problem: "the answer broke off after \(body.count) of \(length) bytes")
        }
        return Answer(status: status, header: header, body: Array(body))
    }
}
