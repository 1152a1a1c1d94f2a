// Rules of certificates and logins of Kafka.

extension Rules {
    static let clientCertificate = Rule(
        isWarning: false,
        about: [Options.kafka.certificateFile, Options.kafka.keyFile, Options.kafka.keyPasswordFile].map(\.declaration)
    ) { configuration, _ in
        let (certificate, key) = (configuration[Options.kafka.certificateFile], configuration[Options.kafka.keyFile])
        let lacksKey = key == nil && configuration[Options.kafka.keyPasswordFile] != nil
        guard (certificate == nil) != (key == nil) || lacksKey else { return nil }
        return Rule.Broken(says: [
            ("comes without its key", "set source.kafka.keyFile as well"),
            ("comes without its certificate", "set source.kafka.certificateFile as well"),
            (
                "comes without the key that it opens",
                "set source.kafka.certificateFile and source.kafka.keyFile as well"
            ),
        ])
    }

    static let certificateOnlyWithTLS = Rule(
        isWarning: true,
        about: [Options.kafka.caFile, Options.kafka.certificateFile].map(\.declaration) + [
            Options.kafka.tls.declaration
        ]
    ) { configuration, _ in
        let files = [configuration[Options.kafka.caFile], configuration[Options.kafka.certificateFile]]
        guard !configuration[Options.kafka.tls], files.contains(where: { $0 != nil }) else { return nil }
        let says = (
            problem: "has no effect, as source.kafka.tls is false", remedy: "set source.kafka.tls: true" as String?
        )
        return Rule.Broken(says: [
            says, says, ("speaks without TLS, and certificates are set", "set it to true, or remove them"),
        ])
    }

    private static let login = [
        Options.kafka.mechanism, Options.kafka.username, Options.kafka.passwordFile, Options.kafka.tokenFile,
    ].map(\.declaration)

    static let loginIsWhole = Rule(isWarning: false, about: login) { configuration, _ in
        let kafka = Options.kafka
        let says: (problem: String, remedy: String?)
        switch configuration[kafka.mechanism] {
        case nil:
            let parts = [kafka.username, kafka.passwordFile, kafka.tokenFile]
            guard parts.contains(where: { configuration[$0] != nil }) else { return nil }
            says = (
                "needs source.kafka.sasl.mechanism as well",
                configuration[kafka.tokenFile] == nil
                    ? "set it to what brokers ask for, such as SCRAM-SHA-512" : "set it to OAUTHBEARER"
            )
        case "OAUTHBEARER":
            guard configuration[kafka.tokenFile] == nil else { return nil }
            says = ("needs source.kafka.sasl.tokenFile as well", "name the file that holds the token")
        default:
            let missing = [kafka.username, kafka.passwordFile].filter { configuration[$0] == nil }
                .map(\.declaration.key)
            guard !missing.isEmpty else { return nil }
            says = (
                "needs \(missing.joined(separator: " and ")) as well",
                "set \(missing.count == 1 ? "it" : "both"); a login is a name and its password"
            )
        }
        return Rule.Broken(says: login.map { _ in says })
    }

    static let loginIsUsed = Rule(isWarning: true, about: Array(login.dropFirst())) { configuration, _ in
        let kafka = Options.kafka
        guard let mechanism = configuration[kafka.mechanism] else { return nil }
        let idle =
            mechanism == "OAUTHBEARER"
            ? [kafka.username, kafka.passwordFile].filter { configuration[$0] != nil }
            : [kafka.tokenFile].filter { configuration[$0] != nil }
        guard !idle.isEmpty else { return nil }
        let used = mechanism == "OAUTHBEARER" ? "a token" : "a name and a password"
        let says = (
            problem: "has no effect, as source.kafka.sasl.mechanism is \(mechanism), which takes \(used)",
            remedy: "remove \(idle.map(\.declaration.key).joined(separator: " and "))" as String?
        )
        return Rule.Broken(says: [says, says, says])
    }

    /// SCRAM proves that both sides know the password without sending it; these two send it.
    static let loginInTheClear = Rule(
        isWarning: true, about: [Options.kafka.mechanism.declaration, Options.kafka.tls.declaration]
    ) { configuration, _ in
        guard let mechanism = configuration[Options.kafka.mechanism], ["PLAIN", "OAUTHBEARER"].contains(mechanism),
            !configuration[Options.kafka.tls]
        else { return nil }
        let what = mechanism == "PLAIN" ? "the password" : "the token"
        return Rule.Broken(says: [
            (
                "without source.kafka.tls sends \(what) in the clear",
                "set source.kafka.tls: true" + (mechanism == "PLAIN" ? ", or choose SCRAM-SHA-512" : "")
            ),
            ("lets source.kafka.sasl.mechanism \(mechanism) send \(what) in the clear", "set it to true"),
        ])
    }
}
