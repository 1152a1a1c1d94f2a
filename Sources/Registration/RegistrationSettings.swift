import Configuration

/// Where the API listens, and what it grants.
public struct RegistrationSettings: Sendable, Equatable {
    public var host = "127.0.0.1"
    /// 0 takes a free one.
    public var port: UInt16 = 0
    public var maxConnections = 1024
    public var maxConnectionsPerAddress = 512
    public var maxStreams = 256
    public var maxHeaderBytes = 16 << 10
    public var maxBodyBytes = 16 << 10
    public var requestMilliseconds: Int64 = 10_000
    public var idleMilliseconds: Int64 = 75_000
    /// Of each key.
    public var requestsPerSecond = 200.0
    public var burst = 400.0
    /// Of each address that shows no key which is known. Four times as many at once.
    public var strangersPerSecond = 5.0
    /// Apps that a registration may name.
    public var apps: [String] = []

    public init() {}

    /// Nil where `api.listen` is off.
    public init?(_ configuration: Configuration) {
        guard let address = configuration[Options.api.listen] else { return nil }
        host = address.host
        port = UInt16(address.port)
        maxConnections = configuration[Options.api.maxConnections]
        maxConnectionsPerAddress = configuration[Options.api.maxConnectionsPerAddress]
        maxStreams = configuration[Options.api.maxStreams]
        maxHeaderBytes = Int(configuration[Options.api.maxHeader])
        maxBodyBytes = Int(configuration[Options.api.maxBody])
        requestMilliseconds = configuration[Options.api.requestTimeout]
        idleMilliseconds = configuration[Options.api.idleTimeout]
        requestsPerSecond = configuration[Options.api.requestsPerSecond]
        burst = Double(configuration[Options.api.burst])
        strangersPerSecond = configuration[Options.api.strangersPerSecond]
        apps = configuration.apps
    }
}
