/// Why there is no connection: what, where, and what to do. Without passwords.
public struct RedisFault: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        case unresolved, unreachable, timeout, lost, tls, credentials, forbidden, loading, refused, notMaster, noMaster,
            cluster
        case protocolError, closed
    }

    public let kind: Kind
    /// With host and port.
    public let problem: String
    public let remedy: String

    public init(_ kind: Kind, _ problem: String, remedy: String) {
        self.kind = kind
        self.problem = problem
        self.remedy = remedy
    }

    public var description: String { "\(problem); \(remedy)" }
}

/// How it stands with Redis, for readiness and logs.
public enum RedisStatus: Equatable, Sendable, CustomStringConvertible {
    case connected
    case connecting
    case failing(RedisFault)

    public var description: String {
        switch self {
        case .connected: "connected"
        case .connecting: "connecting"
        case .failing(let fault): fault.description
        }
    }
}

extension RedisFault {
    static func refusal(_ refusal: RedisRefusal, to command: String, at address: String, user: String?) -> RedisFault {
        let who = user.map { "user \($0)" } ?? "the default user"
        switch refusal.code {
        case "ERR" where refusal.isForWantOfRoom:
            return RedisFault(
                .refused, "Redis at \(address) takes no more connections (\(refusal))",
                remedy:
                    "raise its maxclients: each partition that is read takes one; redis-cli CLIENT LIST tells who has them"
            )
        case "WRONGPASS":
            return RedisFault(
                .credentials, "Redis at \(address) does not accept user name and password of \(who) (\(refusal))",
                remedy: "check user name and password file against its ACL LIST")
        case "NOAUTH":
            return RedisFault(
                .credentials, "Redis at \(address) wants a password (\(refusal))",
                remedy: "give a password file, and a user name if it has ACL users")
        case "NOPERM":
            return RedisFault(
                .forbidden, "Redis at \(address) does not let \(who) call \(command) (\(refusal))",
                remedy: "allow it with ACL SETUSER")
        case "LOADING":
            return RedisFault(
                .loading, "Redis at \(address) is still loading its data set",
                remedy: "wait; it is asked again and again")
        case "MASTERDOWN":
            return RedisFault(
                .notMaster, "Redis at \(address) is a replica that has lost its master",
                remedy: "wait for the fail-over, or check its master")
        case "ERR" where command == "AUTH":
            return RedisFault(
                .credentials, "Redis at \(address) refuses AUTH (\(refusal))",
                remedy: "leave the password out if it has none; user names need Redis 6 or newer")
        case "ERR" where command == "SELECT":
            return RedisFault(
                .refused, "Redis at \(address) has no such database (\(refusal))",
                remedy: "choose one below its `databases`; a cluster has 0 alone")
        default:
            return RedisFault(
                .refused, "Redis at \(address) refuses \(command) (\(refusal))", remedy: "see what Redis says about it")
        }
    }
}

extension RedisRefusal {
    /// Said to whatever comes first on a connection that is one too many.
    var isForWantOfRoom: Bool { message.hasPrefix("max number of clients") }
}
