import Sockets

/// Where Redis is, who asks, and how long it may take.
public struct RedisSettings: Sendable {
    public enum Topology: Sendable, Equatable {
        case single(RedisAddress)
        /// Sentinels, and the name under which they watch the master.
        case sentinel([RedisAddress], master: String)
        /// Some nodes of a cluster; the others are learned from them.
        case cluster([RedisAddress])
    }

    public struct TLS: Sendable {
        public var context: TLSContext
        /// The name in the server's certificate where it is not the host that is connected to: for clusters and Sentinels, which announce
        /// addresses.
        public var serverName: String?

        /// - Parameter context: with `offersHTTP2` off: Redis speaks no ALPN.
        public init(context: TLSContext, serverName: String? = nil) {
            self.context = context
            self.serverName = serverName
        }
    }

    public var topology: Topology
    /// ACL user; nil for the default user.
    public var username: String?
    public var password: RedisPassword?
    /// Sentinels have users of their own.
    public var sentinelUsername: String?
    public var sentinelPassword: RedisPassword?
    /// 0 in a cluster.
    public var database = 0
    public var tls: TLS?
    /// Of the connection in `CLIENT LIST`; no spaces.
    public var clientName: String?
    /// Look-up, TCP, TLS and greeting together, over all addresses of a name.
    public var connectTimeoutMilliseconds: Int64 = 5_000
    /// From `send` to the answer. A connection whose answer does not come is dropped and never used again: a late answer would be taken for
    /// that of the next command (redis/hiredis#306).
    public var commandTimeoutMilliseconds: Int64 = 3_000
    /// Before the first new attempt; it doubles with each that fails. Half of each delay is drawn by lot.
    public var reconnectDelayMilliseconds: Int64 = 100
    public var reconnectDelayMaxMilliseconds: Int64 = 5_000

    public init(_ topology: Topology) { self.topology = topology }
}

public struct RedisAddress: Hashable, Sendable, CustomStringConvertible {
    public var host: String
    public var port: UInt16

    public init(_ host: String, _ port: UInt16 = 6_379) {
        self.host = host
        self.port = port
    }

    public var description: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// A password that no description shows.
public struct RedisPassword: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }
    public init(_ text: String) { bytes = Array(text.utf8) }

    public var description: String { "•••" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
