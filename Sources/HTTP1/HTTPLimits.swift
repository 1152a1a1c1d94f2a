/// What a listener grants its clients. Each limit says what happens beyond it.
public struct HTTPLimits: Sendable {
    /// Connections open at once. Beyond it the one that has kept the listener waiting longest for a request is let go for the newcomer; where all
    /// have an answer under way, the newcomer is.
    public var connections = 64
    /// Connections open at once from one address. Beyond it another one of the same address is let go, chosen alike. Nil is no limit of its own.
    public var connectionsPerAddress: Int?
    /// Memory a connection has for the head of a request, and for its answer on the way out. Beyond it 431 or 414.
    public var headerBytes = 32 << 10
    /// Beyond it 413: at once where the length is announced, else as soon as so much has come.
    public var bodyBytes = 1 << 20
    /// From the first byte of a request to its last. A client that takes longer is let go.
    public var requestMilliseconds: Int64 = 10_000
    /// Between an answer and the first byte of the next request.
    public var idleMilliseconds: Int64 = 10_000
    /// From the last byte of a request to its answer's first. Beyond it the client is answered 503, and what comes later is dropped.
    public var answerMilliseconds: Int64 = 30_000
    /// For a client to take an answer, or to take anything of a stream. One that does not read is let go.
    public var sendMilliseconds: Int64 = 30_000
    /// What may wait for the reader of a stream. One that is further behind is let go.
    public var streamBufferBytes = 64 << 10

    public init() {}
}

/// Why a request goes no further than the listener.
public enum HTTPRefusal: Equatable, Sendable {
    /// The path cannot be decoded, or head or body are not framed as the protocol says; what is wrong with it.
    case malformed(String)
    /// A transfer coding other than `chunked`.
    case unknownTransferCoding
    case bodyTooLarge(limitBytes: Int)
    /// Nobody answered in time.
    case overdue

    public var status: Int {
        switch self {
        case .malformed: 400
        case .unknownTransferCoding: 501
        case .bodyTooLarge: 413
        case .overdue: 503
        }
    }

    public var explanation: String {
        switch self {
        case .malformed(let what): what
        case .unknownTransferCoding: "no transfer coding but chunked is taken"
        case .bodyTooLarge(let limit): "the body is larger than \(limit) bytes"
        case .overdue: "no answer was found in time"
        }
    }
}
