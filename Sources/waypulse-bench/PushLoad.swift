import Delivery
import Flow
import LiveActivities
import PushSimulator
import Telemetry

/// The pushes that every client of the dispatch benchmark sends: 800 bytes to one of 20,000 device tokens, with the header fields that
/// APNs wants and an id of its own for each.
struct PushLoad: Sendable {
    static let bodyBytes = 800
    static let topic = PushHeaders.topic(bundleIdentifier: "com.example.courier")
    static let host = "localhost"

    let body: [UInt8]
    private let tokens: [PushToken]
    private var random = SplitMix(seed: 3)

    init() {
        var random = SplitMix(seed: 2)
        tokens = (0..<20_000).map { _ in
            PushToken(bytes: (0..<32).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        }
        let text = #"{"aps":{"timestamp":1795953600,"event":"update","content-state":{"note":""#
        let end = #""}}}"#
        let filling = String(repeating: "on the way ", count: 100).prefix(
            Self.bodyBytes - text.utf8.count - end.utf8.count)
        body = Array((text + filling + end).utf8)
    }

    mutating func nextHeaders() -> PushHeaders {
        PushHeaders(
            token: tokens[Int(random.next() % UInt64(tokens.count))], apnsIdentifier: (random.next(), random.next()),
            priority: 5, expirationSeconds: 0)
    }

    /// A key that nobody knows, since nobody here asks: the header has its true size.
    static func providerToken() throws -> ProviderToken {
        let pair = try ProviderKeyPair()
        return ProviderToken(
            teamIdentifier: pair.teamIdentifier, keyIdentifier: pair.identifier,
            key: try SigningKey(pem: pair.privateKeyPEM, name: "the benchmark's key"))
    }
}
