import Configuration
import Delivery
import HTTP2
import LiveActivities
import Sockets

extension DeliveryOptions {
    public init(_ configuration: Configuration) {
        self.init()
        let options = Options.delivery
        connectTimeoutMilliseconds = configuration[options.connectTimeout]
        requestTimeoutMilliseconds = configuration[options.requestTimeout]
        pingAfterMilliseconds = configuration[options.pingAfter]
        pingTimeoutMilliseconds = configuration[options.pingTimeout]
        maxStreamsPerConnection = UInt32(configuration[options.maxStreamsPerConnection])
        connectionsPerPool = configuration[options.connectionsPerPool]
        reconnectDelayMilliseconds = configuration[options.reconnectDelay]
        longestReconnectDelayMilliseconds = configuration[options.reconnectDelayMax]
    }
}

extension PoolSettings {
    /// The pools of all configured applications. Apps of one team, key and environment share a provider token: APNs counts the
    /// changes of all of a team's tokens together.
    public static func all(_ configuration: Configuration) throws -> [PoolSettings] {
        var tokens: [TokenOwner: ProviderToken] = [:]
        return try configuration.apps.map { app in
            let options = Options.app
            let environment = configuration[options.environment, app: app]
            let owner = TokenOwner(
                team: configuration[options.teamId, app: app], key: configuration[options.keyId, app: app],
                environment: environment, file: configuration[options.keyFile, app: app])
            let token = try tokens[owner] ?? providerToken(configuration, app: app, owner)
            tokens[owner] = token
            var tls = TLSContext.ClientOptions()
            tls.authorityFile = configuration[options.caFile, app: app]
            return PoolSettings(
                app: app, host: configuration[options.host, app: app] ?? appleHost(environment),
                port: UInt16(configuration[options.port, app: app]),
                topic: PushHeaders.topic(bundleIdentifier: configuration[options.bundleId, app: app]),
                tls: try TLSContext.client(tls), providerToken: token)
        }
    }

    private struct TokenOwner: Hashable {
        let team: String
        let key: String
        let environment: String
        let file: String
    }

    private static func providerToken(
        _ configuration: Configuration, app: String, _ owner: TokenOwner
    ) throws -> ProviderToken {
        let pem = try configuration.secret(Options.app.keyFile, app: app).withBytes { Array($0) }
        return ProviderToken(
            teamIdentifier: owner.team, keyIdentifier: owner.key,
            key: try SigningKey(pem: pem, name: "apps.\(app).keyFile (\(owner.file))"),
            renewAfterMilliseconds: configuration[Options.delivery.tokenRenewAfter])
    }

    /// Apple, "Sending notification requests to APNs".
    private static func appleHost(_ environment: String) -> String {
        environment == "sandbox" ? "api.sandbox.push.apple.com" : "api.push.apple.com"
    }
}
