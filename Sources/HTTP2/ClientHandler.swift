/// Events of a `ClientConnection`; override what is needed. A class, so that a call per request costs no existential.
///
/// The connection holds its handler until `closed` has returned. Any method of the connection may be called from here.
open class ClientHandler {
    public init() {}

    /// The peer's SETTINGS have come: `freeStreams` requests may be submitted.
    open func ready(_ connection: ClientConnection) {}

    /// The stream limit changed (SETTINGS, `unlockStreams`), or a full socket takes bytes again. A completion frees a stream too, and is
    /// its own notice.
    open func streamCapacityChanged(_ connection: ClientConnection) {}

    /// Exactly once for each request that was taken. `outcome` is lent until this returns.
    open func completed(_ connection: ClientConnection, tag: UInt64, outcome: RequestOutcome) {}

    /// The peer takes no new streams; open ones up to `lastStreamID` may still be answered. Comes again if the peer lowers the id.
    open func goAway(
        _ connection: ClientConnection, lastStreamID: Int32, errorCode: UInt32, debugData: UnsafeRawBufferPointer
    ) {}

    /// Exactly once, after every completion.
    open func closed(_ connection: ClientConnection, reason: CloseReason) {}
}

/// What a connection has done so far.
public struct ClientStatistics: Sendable, Equatable {
    public var bytesRead: UInt64 = 0
    /// Of HTTP/2, before TLS.
    public var bytesWritten: UInt64 = 0
    /// TLS records, each one system call.
    public var writes: UInt64 = 0
    public var pingsSent: UInt64 = 0
    public var requests: UInt64 = 0
    /// The TLS session was taken from an earlier connection.
    public var isResumed = false
    /// Bytes of the connection's receive window that are received and not yet given back; below half the window when nothing is stuck.
    public var unreturnedWindowBytes = 0
}
