import Glibc
import Sockets

/// One property of librdkafka, and whether its value may be shown.
struct KafkaProperty {
    let key: String
    let value: String

    /// Passwords, keys, and texts that contain them.
    static func isSecret(_ key: String) -> Bool {
        key.contains("password") || key.contains("secret") || key.hasSuffix(".pem") || key == "sasl.oauthbearer.config"
            || key == "ssl_key" || key == "sasl.kerberos.kinit.cmd"
    }
}

extension KafkaSettings {
    /// Properties that are set elsewhere or that what is promised here depends on, with what to do instead.
    public static let reservedProperties: [String: String] = [
        "bootstrap.servers": "name the brokers in bootstrapServers",
        "metadata.broker.list": "name the brokers in bootstrapServers",
        "client.id": "use clientId", "group.id": "use group", "group.instance.id": "use instanceId",
        "partition.assignment.strategy": "use assignment", "session.timeout.ms": "use sessionTimeout",
        "max.poll.interval.ms": "use pollIntervalMax", "auto.commit.interval.ms": "use commitInterval",
        "client.rack": "use rack", "isolation.level": "use isolation", "auto.offset.reset": "use offsetReset",
        "queued.max.messages.kbytes": "use prefetchMiB", "queued.min.messages": "use prefetchMiB",
        "sasl.password": "use a password file", "ssl.key.password": "use a key password file",
        "enable.auto.offset.store": "leave it out: an offset is stored when its event is settled",
        "enable.auto.commit": "leave it out: commits follow what is settled",
        "auto.commit.enable": "leave it out: commits follow what is settled",
        "enable.partition.eof": "leave it out: the end of a partition has to be known",
        "log.queue": "leave it out: librdkafka's log goes into ours",
        "enabled_events": "leave it out: events are needed as they are",
        "internal.termination.signal": "leave it out: SIGTERM is ours",
        "allow.auto.create.topics": "leave it out: make topics before they are read",
    ]

    var tokenFile: String? {
        if case .token(let file) = login { file } else { nil }
    }

    /// Before librdkafka does, which says of a file that is missing no more than that OpenSSL failed.
    func checkFiles() throws(KafkaFault) {
        let files = [
            ("authority", tls?.authorityFile), ("certificate", tls?.certificateFile), ("key", tls?.keyFile),
            ("token", tokenFile),
        ]
        for case (let role, let path?) in files where access(path, R_OK) != 0 {
            throw KafkaFault(
                .settings, "the \(role) file \(path) cannot be read: \(SystemFault.text(errno))",
                remedy: "correct its path, or let this user read it")
        }
    }

    private var common: [KafkaProperty] {
        var list = [
            KafkaProperty(key: "bootstrap.servers", value: bootstrapServers.joined(separator: ",")),
            KafkaProperty(key: "client.id", value: clientID),
            KafkaProperty(key: "log.queue", value: "true"),
            KafkaProperty(key: "statistics.interval.ms", value: "1000"),
        ]
        func set(_ key: String, _ value: String?) {
            if let value { list.append(KafkaProperty(key: key, value: value)) }
        }
        let transport = tls == nil ? "plaintext" : "ssl"
        set("security.protocol", login == nil ? transport : tls == nil ? "sasl_plaintext" : "sasl_ssl")
        set("ssl.ca.location", tls?.authorityFile)
        set("ssl.certificate.location", tls?.certificateFile)
        set("ssl.key.location", tls?.keyFile)
        set("ssl.key.password", tls?.keyPassword?.text)
        // Not its default before librdkafka 2.0, and nothing a later one should be free to change.
        if tls != nil { set("ssl.endpoint.identification.algorithm", "https") }
        switch login {
        case .password(let mechanism, let username, let password):
            set("sasl.mechanisms", mechanism.rawValue)
            set("sasl.username", username)
            set("sasl.password", password.text)
        case .token: set("sasl.mechanisms", "OAUTHBEARER")
        case nil: break
        }
        set("client.rack", rack)
        return list
    }

    /// For a client that asks only. As a consumer: what a producer asks about comes into being (KIP-361).
    func forLookUps() -> [KafkaProperty] { common + [KafkaProperty(key: "allow.auto.create.topics", value: "false")] }

    func forReading(_ reading: KafkaReading) -> [KafkaProperty] {
        let prefetch = KafkaPrefetch(budgetMiB: reading.prefetchMiB, partitions: reading.partitions)
        return forLookUps()
            + Self.properties([
                // librdkafka has partitions assigned only with a group's name, which it looks the coordinator up for; it joins none.
                ("group.id", reading.group ?? clientID),
                ("enable.auto.offset.store", false),
                ("enable.auto.commit", false),
                ("enable.partition.eof", true),
                ("isolation.level", reading.isolation.rawValue),
                ("auto.offset.reset", reading.missingOffset.rawValue),
                ("queued.max.messages.kbytes", prefetch.kibibytesAPartition),
                ("queued.min.messages", prefetch.recordsAPartition),
                ("max.partition.fetch.bytes", prefetch.fetchBytesAPartition),
                ("fetch.max.bytes", prefetch.fetchBytes),
                ("message.max.bytes", min(1_000_000, prefetch.fetchBytes)),
                // It is no member that would be taken for dead; its loop may rest as long as it likes.
                ("max.poll.interval.ms", 86_400_000),
            ])
    }

    func forMembership(_ group: KafkaGroup) -> [KafkaProperty] {
        var list = Self.properties([
            ("group.id", group.id),
            ("enable.auto.offset.store", false),
            ("enable.auto.commit", true),
            ("auto.offset.reset", "error"),
            ("partition.assignment.strategy", group.assignment.rawValue),
            ("session.timeout.ms", group.sessionTimeoutMilliseconds),
            ("heartbeat.interval.ms", group.heartbeatMilliseconds),
            ("max.poll.interval.ms", group.pollIntervalMaxMilliseconds),
            ("auto.commit.interval.ms", group.commitIntervalMilliseconds),
        ])
        if let instanceID = group.instanceID { list += Self.properties([("group.instance.id", instanceID)]) }
        return forLookUps() + list
    }

    private static func properties(_ list: [(String, any CustomStringConvertible)]) -> [KafkaProperty] {
        list.map { KafkaProperty(key: $0, value: $1.description) }
    }

    func forProducing(_ producing: KafkaProducing) -> [KafkaProperty] {
        common + [
            // What is repeated on a lost connection is neither doubled nor out of order.
            KafkaProperty(key: "enable.idempotence", value: "true"),
            KafkaProperty(key: "queue.buffering.max.messages", value: "\(max(1, producing.mostWaiting))"),
            KafkaProperty(key: "delivery.timeout.ms", value: "\(producing.deliveryTimeoutMilliseconds)"),
        ]
    }
}
