/// How a request ended. RFC 9113 sections 6.8 and 8.7 decide what may safely be sent again.
public enum RequestOutcome {
    case answered(Response)
    /// The peer did nothing with it: it may be sent again.
    case notProcessed(NotProcessed)
    /// It may have been processed, or not.
    case unknown(UnknownOutcome)
}

public enum NotProcessed: Sendable, Equatable {
    /// RST_STREAM REFUSED_STREAM.
    case refusedStream
    /// Above the last-stream-id of a GOAWAY.
    case goAway
    /// No byte of it was handed to TLS, and none will be.
    case neverWritten
}

public enum UnknownOutcome: Sendable, Equatable {
    /// RST_STREAM with any code but REFUSED_STREAM.
    case reset(errorCode: UInt32)
    /// The connection ended with the request in flight.
    case connectionClosed
    /// The caller's deadline passed.
    case deadline
    /// The caller cancelled it.
    case cancelled
    /// The answer broke HTTP's rules.
    case malformedResponse
}
