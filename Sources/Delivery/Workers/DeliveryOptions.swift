import HTTP2
import Sockets

/// How workers treat their connections; the same for every pool.
public struct DeliveryOptions: Sendable {
    public var connectTimeoutMilliseconds: Int64 = 5_000
    /// From the hand-over to the worker to the answer.
    public var requestTimeoutMilliseconds: Int64 = 8_000
    /// Silence, with requests open, after which a PING asks whether anyone is there.
    public var pingAfterMilliseconds: Int64 = 2_000
    public var pingTimeoutMilliseconds: Int64 = 5_000
    public var maxStreamsPerConnection: UInt32 = 1_000
    public var connectionsPerPool = 1
    /// The first delay before connecting again, doubled each time.
    public var reconnectDelayMilliseconds: Int64 = 500
    public var longestReconnectDelayMilliseconds: Int64 = 60_000

    /// Of one connection, before another takes its place: stream ids end at 2³¹−1 (RFC 9113, section 5.1.1).
    var lastUsableStreamID: Int32 = .max

    public init() {}
}

/// One application at its provider: what a pool of connections needs. A connection serves one team, and its answers say nothing of others.
public struct PoolSettings: Sendable {
    /// The configured application.
    public let app: String
    public let host: String
    public let port: UInt16
    public let topic: String
    public let tls: TLSContext
    public let providerToken: ProviderToken
    /// Where its key comes from, to be read again; nil where it never changes.
    public let keyFile: KeyFile?

    public init(
        app: String, host: String, port: UInt16, topic: String, tls: TLSContext, providerToken: ProviderToken,
        keyFile: KeyFile? = nil
    ) {
        self.keyFile = keyFile
        self.app = app
        self.host = host
        self.port = port
        self.topic = topic
        self.tls = tls
        self.providerToken = providerToken
    }
}
