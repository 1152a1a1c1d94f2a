/// Why a transport carries nothing any more.
package enum TransportEnd: Sendable, Equatable, CustomStringConvertible {
    /// Chain or host name refused.
    case certificate(text: String)
    case tls(text: String)
    /// The peer chose none of the protocols that were offered (ALPN).
    case noApplicationProtocol
    case endOfFile
    case reset(errorNumber: Int32)

    package var description: String {
        switch self {
        case .certificate(let text): "certificate refused: \(text)"
        case .tls(let text): "TLS failed: \(text)"
        case .noApplicationProtocol: "peer has chosen no application protocol (ALPN)"
        case .endOfFile: "closed by peer"
        case .reset(let errorNumber): "connection lost: \(SystemFault.text(errorNumber))"
        }
    }
}
