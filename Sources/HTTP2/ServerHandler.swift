import Sockets

/// Events of a `Server`; override what is needed. The server holds its handler until it is closed.
open class ServerHandler {
    public init() {}

    /// A TCP connection has come; false closes it at once.
    open func accepts(_ server: Server, from peer: SocketAddress) -> Bool { true }

    /// TLS is up and speaks HTTP/2.
    open func opened(_ connection: ServerConnection) {}

    /// A whole request, within the limits. Answer it now, later, or never.
    open func received(_ request: ServerRequest) {}

    /// The body passed `maximumBodyBytes` and is still coming; the rest is dropped. `received` will not follow.
    open func bodyTooLarge(_ request: ServerRequest) { _ = request.respond(status: 413) }

    /// The peer has acknowledged a limit, in the order of announcement.
    open func streamLimitAcknowledged(_ connection: ServerConnection, limit: UInt32) {}

    /// A stream has ended: answered (`noError`), reset by either side, or gone with its connection.
    open func streamClosed(_ request: ServerRequest, errorCode: UInt32) {}

    open func closed(_ connection: ServerConnection, reason: CloseReason) {}
}

/// What happens to streams above the announced and acknowledged limit.
public enum StreamLimitRefusal: Sendable {
    /// RST_STREAM REFUSED_STREAM.
    case refuseStream
    /// GOAWAY PROTOCOL_ERROR, and the connection ends.
    case goAway
}

public enum HandshakeBehaviour: Sendable {
    case normal
    /// Accepts TCP and then neither reads nor writes.
    case hang
}

public struct ServerConnectionCounters: Sendable, Equatable {
    public var requests = 0
    /// PRIORITY frames, and HEADERS with priority in them.
    public var priorityFrames = 0
    public var pings = 0
    public var streamsOverLimit = 0
    public var peakStreams = 0
    public var resetsReceived = 0
    public var headerListsTooLong = 0
}
