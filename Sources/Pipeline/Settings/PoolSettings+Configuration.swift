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
                team: configuration[options.teamId, app: app], environment: environment,
                file: KeyFile(
                    path: configuration[options.keyFile, app: app],
                    keyIdentifier: configuration[options.keyId, app: app])
            )
            let token = try tokens[owner] ?? providerToken(configuration, app: app, owner)
            tokens[owner] = token
            var tls = TLSContext.ClientOptions()
            tls.authorityFile = configuration[options.caFile, app: app]
            return PoolSettings(
                app: app, host: configuration[options.host, app: app] ?? appleHost(environment),
                port: UInt16(configuration[options.port, app: app]),
                topic: PushHeaders.topic(bundleIdentifier: configuration[options.bundleId, app: app]),
                tls: try TLSContext.client(tls), providerToken: token, keyFile: owner.file)
        }
    }

    private struct TokenOwner: Hashable {
        let team: String
        let environment: String
        let file: KeyFile
    }

    private static func providerToken(
        _ configuration: Configuration, app: String, _ owner: TokenOwner
    ) throws -> ProviderToken {
        let content: KeyFile.Content
        do throws(CredentialFault) {
            content = try owner.file.read()
        } catch {
            throw configuration.fault(
                Options.app.keyFile, app: app, problem: "\(error.credential) \(error.problem)", remedy: error.remedy)
        }
        return ProviderToken(
            teamIdentifier: owner.team, keyIdentifier: content.keyIdentifier,
            key: try content.signingKey(name: "apps.\(app).keyFile (\(content.path))"), issueTime: .shared,
            renewAfterMilliseconds: configuration[Options.delivery.tokenRenewAfter])
    }

    /// Apple, "Sending notification requests to APNs".
    private static func appleHost(_ environment: String) -> String {
        environment == "sandbox" ? "api.sandbox.push.apple.com" : "api.push.apple.com"
    }
}

extension WatchedKey {
    /// The signing keys of all pools, each once.
    static func all(_ pools: [PoolSettings]) -> [WatchedKey] {
        var found: [WatchedKey] = []
        for pool in pools {
            guard let file = pool.keyFile else { continue }
            if let index = found.firstIndex(where: { $0.providerToken === pool.providerToken }) {
                found[index].apps.append(pool.app)
            } else {
                found.append(WatchedKey(file: file, providerToken: pool.providerToken, apps: [pool.app]))
            }
        }
        return found
    }
}
