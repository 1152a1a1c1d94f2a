import Sockets

/// Where a connection stood when its connect deadline passed.
public enum ConnectStage: String, Sendable { case tcp, tls, settings }

/// Why a connection is no more.
public enum CloseReason: Sendable, Equatable, CustomStringConvertible {
    /// `close()` was called.
    case requested
    /// After `drain()`, a GOAWAY or the last stream id: nothing was open any more.
    case drained
    /// The last address that was tried.
    case connectFailed(address: String, errorNumber: Int32)
    case noAddress
    case connectDeadline(stage: ConnectStage)
    /// Chain or host name refused.
    case certificate(text: String)
    case tls(text: String)
    /// The peer did not choose `h2`.
    case alpnMissing
    /// A PING had no answer, and nothing else came: a black hole.
    case pingTimeout
    case endOfFile
    case reset(errorNumber: Int32)
    case protocolError(text: String)

    init(_ end: TransportEnd) {
        self =
            switch end {
            case .certificate(let text): .certificate(text: text)
            case .tls(let text): .tls(text: text)
            case .noApplicationProtocol: .alpnMissing
            case .endOfFile: .endOfFile
            case .reset(let errorNumber): .reset(errorNumber: errorNumber)
            }
    }

    public var description: String {
        switch self {
        case .requested: "closed on request"
        case .drained: "drained"
        case .connectFailed(let address, let errorNumber):
            "cannot connect to \(address): \(SystemFault.text(errorNumber))"
        case .noAddress: "no address to connect to"
        case .connectDeadline(let stage): "connect deadline passed (\(stage.rawValue))"
        case .certificate(let text): "certificate refused: \(text)"
        case .tls(let text): "TLS failed: \(text)"
        case .alpnMissing: "peer does not offer HTTP/2 (ALPN h2)"
        case .pingTimeout: "no answer to PING"
        case .endOfFile: "closed by peer"
        case .reset(let errorNumber): "connection lost: \(SystemFault.text(errorNumber))"
        case .protocolError(let text): "HTTP/2 protocol error: \(text)"
        }
    }
}
