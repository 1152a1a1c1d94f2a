import Configuration
import Glibc
import KafkaClient
import Pipeline
import RedisClient
import Testing

@Suite("Kafka as configured")
struct KafkaSettingsTests {
    private func configuration(_ flags: String...) throws -> Configuration {
        try Configuration(
            flags: [
                "source.kafka.bootstrapServers=a:9092,b:9093", "source.kafka.topics=rides",
                "storage.redis.url=redis://localhost:7000/3",
            ] + flags)
    }

    private func withFile<Result>(_ content: String, _ body: (String) throws -> Result) throws -> Result {
        let path = "/tmp/waypulse-kafka-settings-\(UInt64.random(in: .min ... .max))"
        let file = try #require(fopen(path, "wb"))
        #expect(fputs(content, file) >= 0)
        fclose(file)
        defer { unlink(path) }
        return try body(path)
    }

    @Test("Without brokers there is none")
    func none() throws {
        #expect(try KafkaSettings(Configuration())?.bootstrapServers == nil)
        #expect(try RedisSettings(Configuration(), clientName: "x")?.topology == nil)
    }

    @Test("What is set is what the client gets, and what is not keeps its defaults")
    func whole() throws {
        let plain = try #require(try KafkaSettings(configuration()))
        #expect(plain.bootstrapServers == ["a:9092", "b:9093"])
        #expect(plain.clientID == "waypulse")
        #expect(plain.login == nil && plain.tls == nil && plain.rack == nil && plain.properties == [:])
        let set = try configuration(
            "source.kafka.clientId=pulse", "source.kafka.rack=eu-1a", "source.kafka.properties.fetch.wait.max.ms=10",
            "source.kafka.group=couriers", "source.kafka.instanceId=pulse-0", "source.kafka.sessionTimeout=20s",
            "source.kafka.pollIntervalMax=1m", "source.kafka.commitInterval=500ms",
            "source.kafka.isolation=read_uncommitted",
            "source.kafka.prefetchMiB=64", "source.kafka.topics=rides,orders", "source.kafka.offsetReset=latest")
        let settings = try #require(try KafkaSettings(set))
        #expect(settings.clientID == "pulse")
        #expect(settings.rack == "eu-1a")
        #expect(settings.properties == ["fetch.wait.max.ms": "10"])
        let group = KafkaClient.KafkaGroup(set)
        #expect(group.id == "couriers" && group.topics == ["rides", "orders"] && group.assignment == .range)
        #expect(group.instanceID == "pulse-0")
        #expect(group.sessionTimeoutMilliseconds == 20_000)
        #expect(group.pollIntervalMaxMilliseconds == 60_000)
        #expect(group.commitIntervalMilliseconds == 500)
        let reading = KafkaReading(set, partitions: 24)
        #expect(reading.isolation == .readUncommitted && reading.prefetchMiB == 64 && reading.partitions == 24)
        #expect(reading.group == "couriers" && reading.missingOffset == .error)
        #expect(KafkaPosition(offsetResetOf: set) == .end)
        #expect(try KafkaPosition(offsetResetOf: configuration()) == .beginning)
        #expect(try KafkaClient.KafkaGroup(configuration()).assignment == .cooperativeSticky)
    }

    @Test("Its store is the Redis of storage.redis")
    func store() throws {
        let settings = try #require(
            try RedisSettings(
                configuration("storage.redis.commandTimeout=2s", "source.redis.commandTimeout=1s"), clientName: "x"))
        #expect(settings.topology == .single(RedisAddress("localhost", 7000)))
        #expect(settings.database == 3)
        #expect(settings.commandTimeoutMilliseconds == 2_000)
        #expect {
            try RedisSettings(configuration("storage.redis.url=redis://fleet@localhost"), clientName: "x")
        } throws: { fault in
            "\(fault)"
                == "storage.redis.url: names the user fleet, and no password is given; set storage.redis.passwordFile; "
                + "for a user with nopass the file may hold anything"
        }
    }

    @Test("A property that an option or a promise stands for is refused, with what to do instead")
    func reserved() throws {
        #expect {
            try KafkaSettings(configuration("source.kafka.properties.group.id=x"))
        } throws: { fault in
            "\(fault)" == "source.kafka.properties.group.id: cannot be set as a property; use group"
        }
    }

    @Test("A password comes from its file and is in no description, nor is a token read before its time")
    func logins() throws {
        try withFile("swordfish\n") { path in
            let parts = ["source.kafka.sasl.username=pulse", "source.kafka.sasl.passwordFile=\(path)"]
            let settings = try #require(
                try KafkaSettings(
                    configuration(
                        parts[0], parts[1], "source.kafka.sasl.mechanism=SCRAM-SHA-256", "source.kafka.tls=true",
                        "source.kafka.caFile=/ca.pem", "source.kafka.certificateFile=/c.pem",
                        "source.kafka.keyFile=/k.pem",
                        "source.kafka.keyPasswordFile=\(path)")))
            guard case .password(.scramSHA256, "pulse", _) = settings.login else {
                Issue.record("\(String(describing: settings.login))")
                return
            }
            #expect(settings.tls?.authorityFile == "/ca.pem" && settings.tls?.certificateFile == "/c.pem")
            #expect(settings.tls?.keyFile == "/k.pem" && settings.tls?.keyPassword != nil)
            #expect(!"\(settings)".contains("swordfish"))
        }
        let token = try #require(
            try KafkaSettings(
                configuration("source.kafka.sasl.mechanism=OAUTHBEARER", "source.kafka.sasl.tokenFile=/absent")))
        guard case .token("/absent") = token.login else {
            Issue.record("\(String(describing: token.login))")
            return
        }
        #expect(throws: ConfigurationFault.self) {
            try KafkaSettings(
                configuration(
                    "source.kafka.sasl.mechanism=PLAIN", "source.kafka.sasl.username=u",
                    "source.kafka.sasl.passwordFile=/absent"))
        }
    }
}
