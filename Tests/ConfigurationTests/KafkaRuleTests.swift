import Testing

@testable import Configuration

@Suite struct KafkaRuleTests {
    @Test func aClusterTopicsAndTheRedisOfTheStoreAreWhatKafkaNeeds() throws {
        let whole = try configuration(kafka)
        #expect(whole.warnings.isEmpty)
        #expect(whole.source == .kafka)
        #expect(whole[Options.kafka.bootstrapServers] == ["broker:9092"])
        #expect(whole.storeConnection?.section == "storage.redis")
        #expect(
            faults(flags: ["source.kafka.topics=rides"]) == [
                "--set source.kafka.topics: \"[rides]\" come without a cluster; set source.kafka.bootstrapServers as well"
            ])
        #expect(
            faults(flags: ["source.kafka.bootstrapServers=a:1,b:2", "storage.redis.url=redis://localhost"]) == [
                "--set source.kafka.bootstrapServers: \"[\"a:1\", \"b:2\"]\" come without topics; set source.kafka.topics as well"
            ])
        #expect(
            faults(flags: ["source.kafka.bootstrapServers=a:1", "source.kafka.topics=rides"]) == [
                "--set source.kafka.bootstrapServers: \"[\"a:1\"]\" need storage.redis.url as well: who owns a partition, "
                    + "how far it was read and, unless storage.kind is memory, what phones were told is kept in a Redis; "
                    + "set it, for instance to redis://localhost"
            ])
    }

    @Test(arguments: ["storage.kind=memory", "storage.kind=redis"])
    func theStoreOfKafkaIsNeededWhateverItsKind(_ kind: String) {
        let found = faults(flags: [
            "source.kafka.bootstrapServers=a:1", "source.kafka.topics=rides", "storage.volatile=true", kind,
        ])
        #expect(found.count == 1 && found[0].contains("need storage.redis.url as well"), "\(found)")
    }

    @Test(arguments: [
        ("source.kafka.bootstrapServers=broker", "holds \"broker\", expected host:port, such as kafka-1.example:9092"),
        ("source.kafka.bootstrapServers=broker:0", "expected host:port"),
        ("source.kafka.topics=ri/des", "holds \"ri/des\", expected a name of at most 200 letters, digits and . _ -"),
        ("source.kafka.topics=..", "expected a name"),
        ("source.kafka.prefetchMiB=0", "choose 1 to 65536"),
    ])
    func whatKafkaWouldNotTakeIsRefused(_ flag: String, _ says: String) {
        let found = faults(kafka, flags: [flag])
        #expect(found.count == 1 && found[0].contains(says), "\(found)")
    }

    @Test func oneSourceIsRead() {
        #expect(
            faults(kafka, flags: ["source.recording=ride.jsonl"]) == [
                "config.yaml:3:23: source.kafka.bootstrapServers: \"[\"broker:9092\"]\" is a second source beside "
                    + "source.recording; remove one of them"
            ])
        let found = faults(streams, flags: ["source.kafka.bootstrapServers=a:1", "source.kafka.topics=rides"])
        #expect(
            found.first
                == "config.yaml:3:10: source.redis.url: \"redis://localhost\" is a second source beside "
                + "source.kafka.bootstrapServers; remove one of them")
    }

    @Test func severalTopicsAreReadByRange() throws {
        let two = "source.kafka.topics=rides,orders"
        #expect(try configuration(kafka).kafkaAssignment == "cooperative-sticky")
        #expect(try configuration(kafka, flags: [two]).kafkaAssignment == "range")
        #expect(try configuration(kafka, flags: ["source.kafka.assignment=range"]).kafkaAssignment == "range")
        #expect(
            faults(kafka, flags: [two, "source.kafka.assignment=cooperative-sticky"]) == [
                "--set source.kafka.assignment: \"cooperative-sticky\" spreads the 2 topics of source.kafka.topics one by one: "
                    + "partitions of one number would not come to one process, and an activity could have two owners; "
                    + "choose range, or one topic"
            ])
        let nine = (1...9).map { "t\($0)" }.joined(separator: ",")
        #expect(
            faults(kafka, flags: ["source.kafka.topics=\(nine)"]).first?.hasSuffix("are 9 topics; name at most 8")
                == true)
    }

    @Test func aDrainEndsBeforeLeaseAndSessionAndPollInterval() throws {
        #expect(
            faults(kafka, flags: ["drainTimeout=7s"]) == [
                "--set drainTimeout: \"7s\" is not shorter than two thirds of source.kafka.lease (10s): "
                    + "a stop would still wait for answers when another process may take the partitions over; "
                    + "choose 6s, or source.kafka.lease of 11s"
            ])
        #expect(
            faults(kafka, flags: ["source.kafka.lease=1m", "drainTimeout=15s"]) == [
                "--set drainTimeout: \"15s\" is not shorter than source.kafka.sessionTimeout (15s): "
                    + "the group would take the process for dead while it still waits for answers; "
                    + "choose 9s, or source.kafka.sessionTimeout of 16s"
            ])
        #expect(
            faults(
                kafka,
                flags: ["source.kafka.lease=1m", "drainTimeout=14s", "source.kafka.pollIntervalMax=16s"]) == [
                    "--set drainTimeout: \"14s\" and 2s for the hand-over are not shorter than source.kafka.pollIntervalMax "
                        + "(16s): the process would be put out of the group while it hands partitions over; "
                        + "choose less than 14s, or source.kafka.pollIntervalMax of 17s"
                ])
        #expect(faults(kafka, flags: ["source.kafka.lease=1m", "drainTimeout=14s"]).isEmpty)
        #expect(
            faults(kafka, flags: ["source.kafka.pollIntervalMax=14s"]) == [
                "--set source.kafka.pollIntervalMax: \"14s\" is shorter than source.kafka.sessionTimeout (15s): "
                    + "a process could be busy past its poll interval without being missed; choose at least 15s"
            ])
    }

    @Test func whereNobodySetsTheDrainItFitsLeaseAndSession() throws {
        func drain(_ flags: String...) throws -> Int64 {
            try configuration(kafka, flags: flags).drainTimeoutMilliseconds
        }
        #expect(try drain() == 6_000)
        #expect(try drain("source.kafka.lease=7s") == 4_200)
        #expect(try drain("source.kafka.sessionTimeout=6s") == 3_600)
        #expect(try drain("source.kafka.lease=1m", "source.kafka.sessionTimeout=1m") == 10_000)
        #expect(try drain("source.kafka.sessionTimeout=10s", "source.kafka.pollIntervalMax=10s") == 6_000)
    }

    @Test func anAnswerOfTheStoreThatDoesNotComeMustNotCostTheLease() {
        #expect(
            faults(kafka, flags: ["storage.redis.commandTimeout=6s"]) == [
                "--set storage.redis.commandTimeout: \"6s\" is longer than half of source.kafka.lease (10s): "
                    + "one answer that does not come would cost the lease; choose at most 5s"
            ])
    }

    @Test func checkpointsOfKafkaLieInTheRedisOfTheStore() throws {
        #expect(try configuration(kafka).keepsCheckpointsInRedis)
        let found = faults(kafka, flags: ["storage.kind=memory"])
        #expect(
            found.count == 1 && found[0].contains("forgets everything with the process, and source.kafka is read"),
            "\(found)")
        #expect(
            !(try configuration(kafka, flags: ["storage.kind=memory", "storage.volatile=true"])
                .keepsCheckpointsInRedis))
        #expect(
            faults(streams, flags: ["storage.redis.url=redis://other"]) == [
                "--set storage.redis.url: \"redis://other\" does not go with source.redis: checkpoints lie beside the streams, "
                    + "in the Redis of source.redis; remove it"
            ])
        #expect(
            try configuration(flags: ["storage.redis.url=redis://other"]).warnings.map(\.description) == [
                "--set storage.redis.url: \"redis://other\" has no effect, as it belongs to source.kafka, which is not set; "
                    + "remove it, or set source.kafka"
            ])
    }

    @Test(arguments: [
        (
            ["username=u"],
            "needs source.kafka.sasl.mechanism as well; set it to what brokers ask for, such as SCRAM-SHA-512"
        ),
        (["tokenFile=t"], "needs source.kafka.sasl.mechanism as well; set it to OAUTHBEARER"),
        (["mechanism=PLAIN"], "needs source.kafka.sasl.username and source.kafka.sasl.passwordFile as well; set both"),
        (["mechanism=SCRAM-SHA-256", "username=u"], "needs source.kafka.sasl.passwordFile as well; set it"),
        (["mechanism=OAUTHBEARER", "username=u", "passwordFile=p"], "needs source.kafka.sasl.tokenFile as well"),
        (["mechanism=SCRAM"], "\"SCRAM\" is not one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER"),
    ])
    func aLoginIsWhole(_ parts: [String], _ says: String) {
        let found = faults(kafka, flags: parts.map { "source.kafka.sasl.\($0)" })
        #expect(found.count == 1 && found[0].contains(says), "\(found)")
    }

    @Test(arguments: [
        (["sasl.mechanism=PLAIN", "sasl.username=u", "sasl.passwordFile=p"], "sends the password in the clear"),
        (["sasl.mechanism=OAUTHBEARER", "sasl.tokenFile=t"], "sends the token in the clear"),
        (
            ["sasl.mechanism=SCRAM-SHA-512", "sasl.username=u", "sasl.passwordFile=p", "sasl.tokenFile=t"],
            "has no effect, as source.kafka.sasl.mechanism is SCRAM-SHA-512, which takes a name and a password"
        ),
        (["caFile=ca.pem"], "has no effect, as source.kafka.tls is false; set source.kafka.tls: true"),
    ])
    func whatHasAnHonestUseIsAWarning(_ parts: [String], _ says: String) throws {
        let flags = parts.map { "source.kafka.\($0)" }
        let warnings = try configuration(kafka, flags: flags).warnings.map(\.description)
        #expect(warnings.count == 1 && warnings[0].contains(says), "\(warnings)")
        if !says.contains("which takes") {
            #expect(try configuration(kafka, flags: flags + ["source.kafka.tls=true"]).warnings.isEmpty)
        }
    }

    @Test func aCertificateComesWithItsKeyAndAKeysPasswordWithBoth() {
        #expect(
            faults(kafka, flags: ["source.kafka.certificateFile=c.pem", "source.kafka.tls=true"]) == [
                "--set source.kafka.certificateFile: \"c.pem\" comes without its key; set source.kafka.keyFile as well"
            ])
        #expect(
            faults(kafka, flags: ["source.kafka.keyPasswordFile=p", "source.kafka.tls=true"]) == [
                "--set source.kafka.keyPasswordFile: \"p\" comes without the key that it opens; "
                    + "set source.kafka.certificateFile and source.kafka.keyFile as well"
            ])
    }

    @Test func propertiesAreTextsHoweverTheyAreWritten() throws {
        let option = Options.kafka.properties
        let file = """
            source:
              kafka:
                properties:
                  fetch.wait.max.ms: 10
                  socket.keepalive.enable: true
                  debug: "broker,topic"
            """
        let three = ["fetch.wait.max.ms": "10", "socket.keepalive.enable": "true", "debug": "broker,topic"]
        #expect(try configuration(file)[option] == three)
        #expect(
            try configuration(file, flags: ["source.kafka.properties.fetch.wait.max.ms=20"])[option]
                == three.merging(["fetch.wait.max.ms": "20"]) { $1 })
        #expect(
            try configuration(environment: ["WAYPULSE_SOURCE_KAFKA_PROPERTIES": "a.b=1,c=x=y"])[option]
                == ["a.b": "1", "c": "x=y"])
        #expect(
            faults("source: {kafka: {properties: {a: [1]}}}") == [
                "config.yaml:1:34: source.kafka.properties.a: is a list, expected a text"
            ])
    }

    @Test func aSecretAmongThePropertiesIsNotShown() throws {
        let shown = try configuration(flags: [
            "source.kafka.properties.sasl.oauthbearer.client.secret=swordfish",
            "source.kafka.properties.ssl.keystore.password=swordfish", "source.kafka.properties.ssl.key.pem=swordfish",
            "source.kafka.properties.linger.ms=5",
        ])
        for text in [shown.shown, shown.shownAsJSON] {
            #expect(!text.contains("swordfish"))
            #expect(text.contains("linger.ms"))
        }
    }

    @Test func deadLettersGoToTopicsOfTheirOwn() throws {
        #expect(try configuration(kafka).deadLetterPlace == "topics")
        #expect(try configuration(kafka, flags: ["deadLetters.file=dead.jsonl"]).deadLetterPlace == "file")
        #expect(
            faults(streams, flags: ["deadLetters.to=topics"]) == [
                "--set deadLetters.to: \"topics\" needs source.kafka, in whose cluster those topics would lie; "
                    + "set it, or deadLetters.file in place of this"
            ])
        #expect(
            faults(kafka, flags: ["deadLetters.topicPrefix=dlq:"]) == [
                "--set deadLetters.topicPrefix: \"dlq:\" is no beginning of a topic's name in Kafka; "
                    + "use letters, digits and . _ -"
            ])
        let long = String(repeating: "r", count: 200)
        let found = faults(
            kafka,
            flags: ["source.kafka.topics=\(long)", "deadLetters.topicPrefix=\(String(repeating: "d", count: 50))"])
        #expect(found.count == 1 && found[0].contains("a name of 250 characters, and Kafka takes 249"), "\(found)")
    }
}
