/// The HTTP API for apps and services.
public struct ApiGroup: Sendable {
    public let listen = Option.addressOrOff(
        "api.listen", standard: "off",
        "Where tokens are registered and states read over HTTP, as a numeric address and port; without TLS, so on loopback or behind an ingress."
    )
    public let keysFile = Option.optional(
        "api.keysFile", .secretFile,
        "The file of keys that open the API, a line each: name scope[,scope…] key. Scopes: tokens:write, state:read, explain:read. "
            + "Read again when it changes. Required with api.listen.")
    public let requestsPerSecond = Option.number(
        "api.requestsPerSecond", standard: "200", in: 0.01...1_000_000,
        "How often each key may ask; more is answered 429.")
    public let burst = Option.integer(
        "api.burst", standard: 400, in: 1...1_000_000, "How many requests of a key may come at once.")
    public let strangersPerSecond = Option.number(
        "api.strangersPerSecond", standard: "5", in: 0.01...1_000_000,
        "How often an address may ask without a key that is known, before its 401 become 429.")
    public let maxConnections = Option.integer(
        "api.maxConnections", standard: 1024, in: 8...60_000,
        "Connections open at once; beyond it those that keep the API waiting longest for a request are closed for new ones."
    )
    public let maxConnectionsPerAddress = Option.integer(
        "api.maxConnectionsPerAddress", standard: 512, in: 1...60_000,
        "Connections open at once from one address; an ingress is one address.")
    public let maxStreams = Option.integer(
        "api.maxStreams", standard: 256, in: 0...50_000, "Streams of states (Server-Sent Events) open at once.")
    public let maxHeader = Option.size(
        "api.maxHeader", standard: "16KiB", in: 4096...1 << 20,
        "The longest head of a request, its path included, and the memory that each connection takes.")
    public let maxBody = Option.size(
        "api.maxBody", standard: "16KiB", in: 1024...65_536, "The largest body of a request.")
    public let requestTimeout = Option.duration(
        "api.requestTimeout", standard: "10s", in: 100...Bounds.hour,
        "How long a request may take to come in; then its connection is closed.")
    public let idleTimeout = Option.duration(
        "api.idleTimeout", standard: "75s", in: 100...24 * Bounds.hour,
        "How long a connection may stay open between requests; longer than that of an ingress before it.")
}
