/// Where a Redis is and how to speak to it, as a URL without its password says.
///
///     redis://[user@]host[:port][/database]                      rediss://…            over TLS
///     redis+sentinel://[user@]host[:port],host…/master[/database] rediss+sentinel://…
///     redis+cluster://[user@]host[:port],host…                   rediss+cluster://…
public struct RedisURL: Sendable, Equatable {
    public enum Topology: Sendable, Equatable {
        case single(Address)
        /// Sentinels, which know where the master of that name is.
        case sentinel([Address], master: String)
        /// Some nodes of a cluster, from which the others are learned.
        case cluster([Address])
    }

    public let topology: Topology
    public let isTLS: Bool
    /// nil is Redis's default user.
    public let username: String?
    public let database: Int
}

extension RedisURL {
    static let schemes = [
        "redis", "rediss", "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster",
    ]
    static let pattern = "^rediss?([+](sentinel|cluster))?://[^ ?#]+$"
    static let port = 6379
    static let sentinelPort = 26_379

    /// - Throws: what is wrong. A text that may hold a password is never quoted.
    public init(parsing text: String) throws(Refusal) {
        let parts = try Self.parts(of: text)
        let (topology, ending) = (parts.topology, parts.path)
        isTLS = parts.isTLS
        username = parts.username
        let standard = topology == "sentinel" ? Self.sentinelPort : Self.port
        var hosts: [Address] = []
        for host in parts.hosts.split(separator: ",", omittingEmptySubsequences: false) {
            hosts.append(try Self.address(host, of: text, port: standard))
        }
        switch topology {
        case "sentinel":
            guard let master = ending.first, !master.isEmpty else {
                throw Refusal(
                    problem: "\"\(text)\" names no master",
                    remedy: "write the name that the sentinels know it by: \(trimmedEnd(text))/mymaster")
            }
            guard TextRule.name.accepts(master) else {
                throw Refusal(problem: "the master \"\(master)\" is not \(TextRule.name.says)", remedy: nil)
            }
            self.topology = .sentinel(hosts, master: master)
            database = try Self.database(ending.dropFirst(), of: text)
        case "cluster":
            self.topology = .cluster(hosts)
            database = try Self.database(ending[...], of: text)
            guard database == 0 else {
                throw Refusal(
                    problem: "\"\(text)\" names a database, and a cluster has only one",
                    remedy: "leave out /\(database)")
            }
        default:
            guard hosts.count == 1 else {
                throw Refusal(
                    problem: "\"\(text)\" names several hosts",
                    remedy: "name one, or begin with redis+sentinel:// or redis+cluster://")
            }
            self.topology = .single(hosts[0])
            database = try Self.database(ending[...], of: text)
        }
    }

    private struct Parts {
        let isTLS: Bool
        /// `sentinel`, `cluster` or empty.
        let topology: String
        let username: String?
        let hosts: Substring
        let path: [String]
    }

    private static func parts(of text: String) throws(Refusal) -> Parts {
        let (scheme, rest) = try split(text)
        // The last one: a password may hold others.
        let at = rest.lastIndex(of: "@")
        let user = at.map { rest[..<$0] }
        let place = at.map { rest[rest.index(after: $0)...] } ?? rest
        if let user, user.contains(":") {
            throw Refusal(
                problem: "holds a password",
                remedy: "store it in a file, name that in passwordFile beside the URL, and leave at most user@ here")
        }
        guard !text.contains("?"), !text.contains("#") else {
            throw Refusal(
                problem: "has options behind ? or #",
                remedy: "remove them; timeouts, certificates and passwords have options of their own"
            )
        }
        guard schemes.contains(String(scheme)) else {
            let nearest = NearestMatch.of(String(scheme), in: schemes) ?? "redis"
            throw Refusal(
                problem:
                    "\"\(text)\" begins with \(scheme)://, and a Redis with one of \(schemes.joined(separator: ", "))",
                remedy: "write \(nearest)://\(rest)")
        }
        let pieces = place.split(separator: "/", omittingEmptySubsequences: false)
        let username: String?
        switch user.map({ percentDecoded($0) }) {
        case nil: username = nil
        case .some(let name?) where !name.isEmpty && !name.utf8.contains(where: { $0 <= 0x20 }): username = name
        default:
            throw Refusal(
                problem: "\"\(text)\" has no user that Redis could have before the @",
                remedy: "write user@host, other characters than letters and digits as %40")
        }
        let kind = scheme.split(separator: "+")
        return Parts(
            isTLS: kind[0] == "rediss", topology: kind.count == 2 ? String(kind[1]) : "", username: username,
            hosts: pieces[0], path: pieces.dropFirst().map(String.init))
    }

    private static func split(_ text: String) throws(Refusal) -> (scheme: Substring, rest: Substring) {
        guard let slashes = firstIndex(of: "://", in: text) else {
            let mayHoldPassword = text.contains("@")
            if let scheme = schemes.first(where: { text.hasPrefix($0 + ":/") }) {
                let place = text.dropFirst(scheme.count + 2)
                throw Refusal(
                    problem: mayHoldPassword
                        ? "has one slash behind \(scheme):" : "\"\(text)\" has one slash behind \(scheme):",
                    remedy: mayHoldPassword ? "write \(scheme)://user@host:6379" : "write \(scheme)://\(place)")
            }
            throw Refusal(
                problem: mayHoldPassword ? "has no scheme" : "\"\(text)\" has no scheme",
                remedy: mayHoldPassword ? "write redis://user@host:6379" : "write redis://\(text)")
        }
        return (text[..<slashes], text[text.index(slashes, offsetBy: 3)...])
    }

    private static func address(_ host: Substring, of text: String, port standard: Int) throws(Refusal) -> Address {
        let bracket = host.lastIndex(of: "]")
        let hasPort = host[(bracket ?? host.startIndex)...].contains(":")
        guard let address = Address(parsing: hasPort ? String(host) : "\(host):\(standard)"), address.port > 0 else {
            throw Refusal(
                problem: host.isEmpty
                    ? "\"\(text)\" lacks a host" : "\"\(host)\" in \"\(text)\" is not a host with or without a port",
                remedy: "write for instance localhost, redis.example.com:\(standard) or [::1]:\(standard)")
        }
        return address
    }

    private static func database(_ path: ArraySlice<String>, of text: String) throws(Refusal) -> Int {
        guard let first = path.first, !(first.isEmpty && path.count == 1) else { return 0 }
        // Redis has 16 unless told otherwise; the bound only keeps nonsense out.
        guard path.count == 1, let number = Int(first), 0...65_535 ~= number, !first.hasPrefix("+") else {
            throw Refusal(
                problem: "\"\(text)\" ends in \"\(path.joined(separator: "/"))\", which is no number of a database",
                remedy: "write for instance /0, or leave it out")
        }
        return number
    }

    /// nil where a % is not followed by two hexadecimal digits, or the result is no UTF-8.
    private static func percentDecoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16),
                rest.first != UInt8(ascii: "+")
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func firstIndex(of part: String, in text: String) -> String.Index? {
        text.indices.first { text[$0...].hasPrefix(part) }
    }
}

private func trimmedEnd(_ text: String) -> String { text.hasSuffix("/") ? String(text.dropLast()) : text }
