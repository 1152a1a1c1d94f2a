// Rules of the HTTP API.

extension Rules {
    static let api: [Rule] = [apiKeys, apiKeysUsed, apiOnLoopback, apiStreams]

    /// Keys and tokens are worth to be stolen, and here nothing speaks TLS.
    private static let apiOnLoopback = Rule(isWarning: true, about: [Options.api.listen.declaration]) {
        configuration, _ in
        guard let host = configuration[Options.api.listen]?.host, host != "::1", !host.hasPrefix("127.") else {
            return nil
        }
        return Rule.Broken(says: [
            (
                "takes keys and tokens from other machines without TLS: put an ingress or mesh that speaks TLS before it",
                "listen on 127.0.0.1 where that runs on this machine"
            )
        ])
    }

    private static let apiKeys = Rule(isWarning: false, about: [Options.api.listen.declaration]) { configuration, _ in
        guard configuration[Options.api.listen] != nil, configuration[Options.api.keysFile] == nil else { return nil }
        return Rule.Broken(says: [
            (
                "needs api.keysFile, or nobody could come in",
                "name a file of lines such as: app-backend tokens:write KEY"
            )
        ])
    }

    private static let apiKeysUsed = Rule(isWarning: true, about: [Options.api.keysFile.declaration]) {
        configuration, _ in
        guard configuration[Options.api.keysFile] != nil, configuration[Options.api.listen] == nil else { return nil }
        return Rule.Broken(says: [("has no effect, as the API is off", "set api.listen, such as 127.0.0.1:8080")])
    }

    private static let apiStreams = Rule(
        isWarning: false, about: [Options.api.maxStreams.declaration, Options.api.maxConnections.declaration]
    ) { configuration, _ in
        let (streams, connections) = (configuration[Options.api.maxStreams], configuration[Options.api.maxConnections])
        guard streams >= connections else { return nil }
        return Rule.Broken(says: [
            (
                "would leave none of api.maxConnections (\(connections)) for requests",
                "choose less than \(connections)"
            ),
            ("would all be taken by api.maxStreams (\(streams))", "choose more than \(streams)"),
        ])
    }
}
