/// What a connection tells instead of an answer (RFC 9113).
public enum ConnectionSignal: Equatable, Sendable {
    /// No connection came up: TCP, TLS, ALPN or a deadline before the peer's SETTINGS.
    case connectFailed
    /// RST_STREAM with REFUSED_STREAM (RFC 9113, section 8.7): not processed.
    case refusedStream
    /// The stream lies above the last-stream-id of a GOAWAY (RFC 9113, section 6.8), or no byte of it was written: not processed.
    case notProcessed
    /// GOAWAY as such, with the reason in its debug data. The requests on it have their own signals.
    case goAway(APNsReason?)
    /// At or below the last-stream-id of a GOAWAY, and the connection closed without an answer.
    case closedAfterGoAway
    /// RST_STREAM with any code but REFUSED_STREAM.
    case streamReset(errorCode: UInt32)
    /// TCP reset or end of file with the request in flight.
    case connectionLost
    /// The deadline of the request has passed; its stream was cancelled.
    case timedOut
    /// No answer, and a PING unanswered.
    case pingUnanswered
    /// An answer without a status, or one that breaks HTTP/2.
    case malformedAnswer
    /// SETTINGS lowered the stream limit.
    case streamLimitLowered
}

extension ConnectionSignal {
    /// A closed set, fit to label a metric.
    public var label: String {
        switch self {
        case .connectFailed: "connect_failed"
        case .refusedStream: "refused_stream"
        case .notProcessed: "not_processed"
        case .goAway: "goaway"
        case .closedAfterGoAway: "closed_after_goaway"
        case .streamReset: "stream_reset"
        case .connectionLost: "connection_lost"
        case .timedOut: "timed_out"
        case .pingUnanswered: "ping_unanswered"
        case .malformedAnswer: "malformed_answer"
        case .streamLimitLowered: "stream_limit_lowered"
        }
    }
}
