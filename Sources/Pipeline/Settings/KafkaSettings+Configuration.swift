import Configuration
import KafkaClient

extension KafkaSettings {
    /// The cluster of `source.kafka`; nil where none is configured.
    ///
    /// - Throws: a password file that cannot be used, or a property that an option or a promise stands for.
    public init?(_ configuration: Configuration) throws {
        guard configuration.source == .kafka else { return nil }
        try self.init(configuration, bootstrapServers: configuration[Options.kafka.bootstrapServers])
    }

    /// Another cluster, spoken to as `source.kafka` says.
    ///
    /// - Throws: as above.
    public init(_ configuration: Configuration, bootstrapServers: [String]) throws {
        let options = Options.kafka
        self.init(bootstrapServers: bootstrapServers)
        clientID = configuration[options.clientId]
        rack = configuration[options.rack]
        properties = configuration[options.properties]
        for key in properties.keys.sorted() {
            guard let instead = Self.reservedProperties[key] else { continue }
            throw SettingFault(
                key: "\(options.properties.declaration).\(key)", problem: "cannot be set as a property", remedy: instead
            )
        }
        login = try Login(configuration)
        guard configuration[options.tls] else { return }
        var tls = TLS()
        tls.authorityFile = configuration[options.caFile]
        tls.certificateFile = configuration[options.certificateFile]
        tls.keyFile = configuration[options.keyFile]
        tls.keyPassword = try KafkaSecret(configuration, options.keyPasswordFile)
        self.tls = tls
    }
}

extension KafkaSettings.Login {
    /// nil where no mechanism is configured. That its parts are there is a rule of the configuration.
    fileprivate init?(_ configuration: Configuration) throws {
        let options = Options.kafka
        guard let word = configuration[options.mechanism] else { return nil }
        if let file = configuration[options.tokenFile], word == "OAUTHBEARER" {
            self = .token(file: file)
            return
        }
        guard let mechanism = KafkaSettings.Mechanism(rawValue: word), let username = configuration[options.username],
            let password = try KafkaSecret(configuration, options.passwordFile)
        else { preconditionFailure("source.kafka.sasl.mechanism: \(word) is declared and lacks what it needs") }
        self = .password(mechanism, username: username, password: password)
    }
}

extension KafkaSecret {
    fileprivate init?(_ configuration: Configuration, _ option: Option<String?>) throws {
        guard let secret = try configuration.password(option) else { return nil }
        self.init(secret.withBytes { String(decoding: $0, as: UTF8.self) })
    }
}

extension KafkaReading {
    /// As the group of `source.kafka` reads. What becomes of an offset that is not there any more is the owner's decision.
    ///
    /// - Parameter partitions: of all topics, since one member may have to carry all.
    public init(_ configuration: Configuration, partitions: Int) {
        let options = Options.kafka
        self.init(partitions: partitions)
        guard let isolation = Isolation(rawValue: configuration[options.isolation]) else {
            preconditionFailure("source.kafka.isolation is declared with a word that nobody knows")
        }
        self.isolation = isolation
        prefetchMiB = configuration[options.prefetchMiB]
        group = configuration[options.group]
    }
}

extension KafkaPosition {
    /// `source.kafka.offsetReset`: where a partition begins of which nobody has a position.
    public init(offsetResetOf configuration: Configuration) {
        self = configuration[Options.kafka.offsetReset] == "latest" ? .end : .beginning
    }
}

extension KafkaGroup {
    /// Membership of the group of `source.kafka`.
    public init(_ configuration: Configuration) {
        let options = Options.kafka
        self.init(id: configuration[options.group], topics: configuration[options.topics])
        guard let assignment = Assignment(rawValue: configuration.kafkaAssignment) else {
            preconditionFailure("source.kafka.assignment is declared with a word that nobody knows")
        }
        self.assignment = assignment
        instanceID = configuration[options.instanceId]
        sessionTimeoutMilliseconds = Int(configuration[options.sessionTimeout])
        pollIntervalMaxMilliseconds = Int(configuration[options.pollIntervalMax])
        commitIntervalMilliseconds = Int(configuration[options.commitInterval])
    }
}
