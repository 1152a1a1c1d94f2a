/// How pushes travel.
public struct DeliveryGroup: Sendable {
    public let workers = Option.integer(
        "delivery.workers", standard: 1, in: 1...64, "Threads that own connections.")
    public let connectionsPerPool = Option.integer(
        "delivery.connectionsPerPool", standard: 2, in: 1...64,
        "Connections each worker keeps to one provider, team and environment.")
    public let maxStreamsPerConnection = Option.integer(
        "delivery.maxStreamsPerConnection", standard: 1000, in: 1...100_000,
        "Requests open at once on one connection; the server's own limit counts where it is lower.")
    public let connectTimeout = Option.duration(
        "delivery.connectTimeout", standard: "5s", in: 1...Bounds.hour,
        "How long name resolution, connection and TLS handshake may take together.")
    public let requestTimeout = Option.duration(
        "delivery.requestTimeout", standard: "8s", in: 1...Bounds.hour,
        "How long a request may take, waiting for a stream included; then its outcome is unknown.")
    public let pingAfter = Option.duration(
        "delivery.pingAfter", standard: "2s", in: 1...Bounds.hour,
        "With requests open, a connection silent for this long is asked for a sign of life.")
    public let pingTimeout = Option.duration(
        "delivery.pingTimeout", standard: "2s", in: 1...Bounds.hour,
        "A connection that does not answer a PING within this is closed and replaced.")
    public let reconnectDelay = Option.duration(
        "delivery.reconnectDelay", standard: "200ms", in: 1...Bounds.hour,
        "The first pause after a connection failed; it doubles, with jitter, at each further failure.")
    public let reconnectDelayMax = Option.duration(
        "delivery.reconnectDelayMax", standard: "30s", in: 1...Bounds.hour,
        "The longest pause between connection attempts.")
    public let serverErrorHold = Option.duration(
        "delivery.serverErrorHold", standard: "15m", in: 0...24 * Bounds.hour,
        "How long an update is held after a 5xx before it is tried again; Apple asks for 15 minutes.")
    public let probeDelay = Option.duration(
        "delivery.probeDelay", standard: "5s", in: 1...24 * Bounds.hour,
        "While a provider answers 5xx to everything, the first pause before a single probe; it doubles up to serverErrorHold."
    )
    public let tokenRenewAfter = Option.duration(
        "delivery.tokenRenewAfter", standard: "50m", in: 1_200_000...3_540_000,
        "The age at which a provider token is replaced; Apple refuses less than 20 and more than 60 minutes.")
}
