import Configuration
import RedisClient
import Sockets

extension RedisSettings {
    /// The Redis of the source or, with Kafka, of `storage.redis`; nil where none is configured.
    ///
    /// - Throws: a password, certificate or authority file that cannot be used.
    public init?(_ configuration: Configuration, clientName: String) throws {
        guard let options = configuration.storeConnection, let url = configuration[options.url] else { return nil }
        self.init(Topology(url.topology))
        username = url.username
        password = try configuration.password(options.passwordFile).map(RedisPassword.init)
        // Without a password nobody logs in, and the connection would be the default user's.
        if let username, password == nil {
            throw SettingFault(
                key: options.url.declaration.key, problem: "names the user \(username), and no password is given",
                remedy: "set \(options.passwordFile.declaration); for a user with nopass the file may hold anything")
        }
        sentinelPassword = try configuration.password(options.sentinelPasswordFile).map(RedisPassword.init)
        database = url.database
        self.clientName = clientName
        connectTimeoutMilliseconds = configuration[options.connectTimeout]
        commandTimeoutMilliseconds = configuration[options.commandTimeout]
        reconnectDelayMilliseconds = configuration[options.reconnectDelay]
        reconnectDelayMaxMilliseconds = configuration[options.reconnectDelayMax]
        guard url.isTLS else { return }
        var client = TLSContext.ClientOptions()
        client.offersHTTP2 = false
        client.authorityFile = configuration[options.caFile]
        if let chain = configuration[options.certificateFile], let key = configuration[options.keyFile] {
            client.certificate = try ServerCertificate.load(chainFile: chain, keyFile: key)
        }
        tls = TLS(context: try TLSContext.client(client))
    }
}

extension RedisSettings.Topology {
    fileprivate init(_ topology: RedisURL.Topology) {
        func address(_ address: Address) -> RedisAddress { RedisAddress(address.host, UInt16(address.port)) }
        self =
            switch topology {
            case .single(let host): .single(address(host))
            case .sentinel(let hosts, let master): .sentinel(hosts.map(address), master: master)
            case .cluster(let hosts): .cluster(hosts.map(address))
            }
    }
}

extension RedisPassword {
    fileprivate init(_ secret: Secret) { self.init(secret.withBytes { Array($0) }) }
}
