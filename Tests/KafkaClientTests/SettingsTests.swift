import CRdkafka
import Instruments
import Testing

@testable import KafkaClient

@Suite struct SettingsTests {
    private func fault(_ change: (inout KafkaSettings) -> Void) -> KafkaFault? {
        let bench = Bench(["127.0.0.1:1"])
        bench.settings.properties = [:]
        change(&bench.settings)
        do throws(KafkaFault) {
            _ = try KafkaTopics(
                settings: bench.settings, loop: bench.loop, instruments: bench.instruments, log: bench.log)
            return nil
        } catch {
            return error
        }
    }

    @Test func aPropertyThatDoesNotExistIsNamed() {
        let found = fault { $0.properties = ["sesion.timeout.ms": "6000"] }
        #expect(found?.kind == .settings)
        #expect(
            found?.problem
                == "librdkafka refuses the property sesion.timeout.ms: No such configuration property: \"sesion.timeout.ms\""
        )
        #expect(found?.remedy.contains("CONFIGURATION.md") == true)
    }

    @Test func aValueThatIsNotTakenIsToldWithWhatWouldBe() {
        #expect(fault { $0.properties = ["socket.timeout.ms": "1"] }?.problem.contains("outside allowed range") == true)
        #expect(fault { $0.properties = ["compression.codec": "best"] }?.problem.contains("\"best\"") == true)
        #expect(fault { $0.properties = ["socket.timeout.ms": "6000"] } == nil)
    }

    @Test(arguments: KafkaSettings.reservedProperties.keys.sorted())
    func whatIsPromisedHereCannotBeSetPastIt(_ key: String) {
        let found = fault { $0.properties = [key: "x"] }
        #expect(found?.problem == "the property \(key) cannot be set as such")
        #expect(found?.remedy == KafkaSettings.reservedProperties[key])
    }

    @Test func aSecretIsNeverShown() {
        let password = KafkaSecret("swordfish")
        #expect("\(password)" == "•••")
        #expect(String(reflecting: password) == "•••")
        var settings = KafkaSettings(bootstrapServers: ["b:1"])
        settings.login = .password(.scramSHA512, username: "pulse", password: password)
        var dumped = ""
        dump(settings, to: &dumped)
        #expect(!dumped.contains("swordfish"))
        #expect(dumped.contains("pulse"))
        let pem = fault { $0.properties = ["security.protocol": "ssl", "ssl.key.pem": "swordfish"] }
        #expect(pem?.kind == .settings)
        #expect(pem?.description.contains("swordfish") == false)
        #expect("a swordfish, and swordfish".hiding(["swordfish", ""]) == "a •••, and •••")
    }

    @Test func aFileThatIsNotThereIsNamed() {
        let found = fault {
            $0.tls = .init()
            $0.tls?.authorityFile = "/nowhere/ca.pem"
        }
        #expect(found?.problem == "the authority file /nowhere/ca.pem cannot be read: No such file or directory")
    }

    @Test(arguments: [
        (false, nil, "plaintext"), (true, nil, "ssl"), (false, KafkaSettings.Mechanism.plain, "sasl_plaintext"),
        (true, .scramSHA256, "sasl_ssl"),
    ])
    func transportAndLoginAreSpokenAsSet(_ tls: Bool, _ mechanism: KafkaSettings.Mechanism?, _ wanted: String) {
        var settings = KafkaSettings(bootstrapServers: ["a:1", "b:2"])
        if tls { settings.tls = .init() }
        if let mechanism { settings.login = .password(mechanism, username: "u", password: KafkaSecret("p")) }
        settings.rack = "eu-1a"
        let values = values(settings.forLookUps())
        #expect(values["bootstrap.servers"] == "a:1,b:2")
        #expect(values["security.protocol"] == wanted)
        #expect(values["sasl.mechanisms"] == mechanism?.rawValue)
        #expect(values["sasl.username"] == (mechanism == nil ? nil : "u"))
        #expect(values["ssl.endpoint.identification.algorithm"] == (tls ? "https" : nil))
        #expect(values["client.rack"] == "eu-1a")
        #expect(fault { $0 = settings } == nil)
    }

    @Test func aMemberStoresOffsetsItselfAndAReaderCommitsNone() {
        let settings = KafkaSettings(bootstrapServers: ["a:1"])
        var group = KafkaGroup(id: "pulse", topics: ["rides"])
        group.instanceID = "waypulse-3"
        let member = values(settings.forMembership(group))
        #expect(member["enable.auto.offset.store"] == "false")
        #expect(member["enable.auto.commit"] == "true")
        #expect(member["group.instance.id"] == "waypulse-3")
        #expect(member["partition.assignment.strategy"] == "cooperative-sticky")
        #expect(member["heartbeat.interval.ms"] == "3000")
        let reader = values(settings.forReading(KafkaReading(partitions: 4)))
        #expect(reader["enable.auto.commit"] == "false")
        #expect(reader["isolation.level"] == "read_committed")
        #expect(reader["auto.offset.reset"] == "error")
        #expect(values(settings.forProducing(KafkaProducing()))["enable.idempotence"] == "true")
    }

    private func values(_ properties: [KafkaProperty]) -> [String: String] {
        Dictionary(properties.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
    }

    /// 64 MiB over 8 partitions: 8 MiB each, 4 of them before fetching stops, in at most 8,192 records of 512 bytes.
    @Test func thePrefetchFollowsFromOneBudget() {
        let eight = KafkaPrefetch(budgetMiB: 64, partitions: 8)
        #expect(eight.kibibytesAPartition == 4_096)
        #expect(eight.recordsAPartition == 8_192)
        #expect(eight.fetchBytesAPartition == 1 << 20)
        #expect(eight.fetchBytes == 16 << 20)
        let many = KafkaPrefetch(budgetMiB: 64, partitions: 1_000)
        #expect(many.kibibytesAPartition == 32)
        #expect(many.fetchBytesAPartition == 33_554)
        #expect(many.recordsAPartition == 65)
    }

    @Test(arguments: [(0, 0), (1, 1), (1, 100_000), (1_000_000, 1), (16, 3)])
    func whateverTheBudgetLibrdkafkaTakesIt(_ budgetMiB: Int, _ partitions: Int) throws {
        let bench = Bench(["127.0.0.1:1"])
        let reader = try bench.reader {
            $0.prefetchMiB = budgetMiB
            $0.partitions = partitions
        }
        bench.close(reader)
    }
}
