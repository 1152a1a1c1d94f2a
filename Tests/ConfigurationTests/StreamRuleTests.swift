import Glibc
import Testing

@testable import Configuration

@Suite struct StreamRuleTests {
    @Test func streamsNeedAnAddressTopicsAndTheirPartitions() throws {
        let whole = try configuration(streams)
        #expect(whole.warnings.isEmpty)
        #expect(whole[Options.redis.topics] == ["rides"])
        #expect(whole[Options.redis.partitions] == 4)
        #expect(
            faults("source:\n  redis:\n    url: redis://localhost") == [
                "config.yaml:3:10: source.redis.url: \"redis://localhost\" needs source.redis.topics and "
                    + "source.redis.partitions as well; a topic is partitions streams at url, so all three are set or none"
            ])
        #expect(
            faults(flags: ["source.redis.topics=rides", "source.redis.url=redis://localhost"]) == [
                "--set source.redis.topics: \"[rides]\" needs source.redis.partitions as well; "
                    + "a topic is partitions streams at url, so all three are set or none"
            ])
    }

    @Test func topicsAreAtMostEightNamesWithoutBracesOrBlanks() {
        let nine = (1...9).map { "t\($0)" }.joined(separator: ", ")
        #expect(
            faults(streams.replacing("[rides]", with: "[\(nine)]")) == [
                "config.yaml:4:13: source.redis.topics: \"[\(nine)]\" are 9 topics; name at most 8"
            ])
        #expect(
            faults(streams.replacing("[rides]", with: "[\"rides:{0}\"]")) == [
                "config.yaml:4:14: source.redis.topics: holds \"rides:{0}\", "
                    + "expected a name of at most 200 letters, digits and . _ : / -"
            ])
        #expect(
            faults(streams.replacing("partitions: 4", with: "partitions: 1025")) == [
                "config.yaml:5:17: source.redis.partitions: \"1025\" is out of range; choose 1 to 1024"
            ])
    }

    @Test func aRecordingBesideStreamsIsRefused() {
        #expect(
            faults(streams, flags: ["source.recording=ride.jsonl"]) == [
                "config.yaml:3:10: source.redis.url: \"redis://localhost\" is a second source beside source.recording; "
                    + "remove one of them"
            ])
    }

    @Test func aDrainEndsBeforeTwoThirdsOfTheLease() throws {
        #expect(
            faults(streams + "drainTimeout: 10s") == [
                "config.yaml:6:15: drainTimeout: \"10s\" is not shorter than two thirds of source.redis.lease (10s): "
                    + "a stop would still wait for answers when another process may take the streams over; "
                    + "choose 6s, or source.redis.lease of 16s"
            ])
        #expect(faults(streams + "drainTimeout: 6666ms").isEmpty)
        #expect(!faults(streams + "drainTimeout: 6667ms").isEmpty)
        #expect(faults(streams + "drainTimeout: 10s", flags: ["source.redis.lease=16s"]).isEmpty)
        // Without streams there is no lease.
        #expect(faults("drainTimeout: 10s").isEmpty)
    }

    @Test func whereNobodySetsTheDrainItFitsTheLease() throws {
        #expect(try configuration(streams).drainTimeoutMilliseconds == 6_000)
        #expect(try configuration(streams, flags: ["source.redis.lease=7s"]).drainTimeoutMilliseconds == 4_200)
        #expect(try configuration(streams, flags: ["source.redis.lease=60s"]).drainTimeoutMilliseconds == 10_000)
        #expect(try configuration(streams, flags: ["drainTimeout=2s"]).drainTimeoutMilliseconds == 2_000)
        #expect(try configuration().drainTimeoutMilliseconds == 10_000)
        let shown = try configuration(streams).shown
        #expect(try configuration(shown).drainTimeoutMilliseconds == 6_000)
    }

    @Test func anAnswerThatDoesNotComeMustNotCostTheLease() {
        #expect(
            faults(flags: ["source.redis.commandTimeout=6s"]) == [
                "--set source.redis.commandTimeout: \"6s\" is longer than half of source.redis.lease (10s): "
                    + "one answer that does not come would cost the lease; choose at most 5s"
            ])
        #expect(
            faults(flags: ["source.redis.lease=2s"]) == [
                "--set source.redis.lease: \"2s\" is shorter than twice source.redis.commandTimeout (3s): "
                    + "one answer that does not come would cost the lease; choose at least 6s"
            ])
    }

    @Test func memoryWithStreamsHasToBeMeant() throws {
        #expect(
            faults(streams + "storage:\n  kind: memory") == [
                "config.yaml:7:9: storage.kind: \"memory\" forgets everything with the process, and source.redis.url is read: "
                    + "after a restart it would number updates anew, and phones would take them for old ones; "
                    + "remove storage.kind, or accept that with storage.volatile: true"
            ])
        #expect(!(try configuration(streams + "storage:\n  kind: memory\n  volatile: true").keepsCheckpointsInRedis))
        #expect(try configuration(streams).keepsCheckpointsInRedis)
        #expect(!(try configuration("source:\n  recording: ride.jsonl").keepsCheckpointsInRedis))
        #expect(
            faults("storage:\n  kind: redis") == [
                "config.yaml:2:9: storage.kind: \"redis\" needs source.redis.url, beside whose streams checkpoints lie, "
                    + "or source.kafka with storage.redis.url; set one, or remove storage.kind"
            ])
    }

    @Test func aClientCertificateAndItsKeyComeTogether() {
        let certificate = "source.redis.certificateFile=client.pem"
        #expect(
            faults(flags: [certificate]) == [
                "--set source.redis.certificateFile: \"client.pem\" comes without its key; set source.redis.keyFile as well"
            ])
        #expect(
            faults(flags: ["source.redis.keyFile=client.key"]) == [
                "--set source.redis.keyFile: \"client.key\" comes without its certificate; "
                    + "set source.redis.certificateFile as well"
            ])
    }

    @Test(arguments: [
        ("source.redis.sentinelPasswordFile=s", "has no effect, as source.redis.url names no sentinels"),
        ("source.redis.caFile=ca.pem", "has no effect, as source.redis.url asks for no TLS"),
    ])
    func whatHasNoEffectIsAWarning(_ flag: String, _ says: String) throws {
        let warnings = try configuration(streams, flags: [flag]).warnings.map(\.description)
        #expect(warnings.count == 1 && warnings[0].contains(says), "\(warnings)")
    }

    @Test func aPasswordIsReadWithoutTheLineBreakBehindIt() throws {
        func password(_ content: String) throws -> [UInt8]? {
            try withFile(content) { path in
                try configuration(streams, flags: ["source.redis.passwordFile=\(path)"])
                    .password(Options.redis.connection.passwordFile)?.withBytes { Array($0) }
            }
        }
        #expect(try password("hush") == Array("hush".utf8))
        #expect(try password("hush\r\n") == Array("hush".utf8))
        #expect(try configuration(streams).password(Options.redis.connection.passwordFile) == nil)
        for useless in ["", "\n", "two\nlines\n"] {
            #expect(throws: ConfigurationFault.self) { try password(useless) }
        }
    }

    private func withFile<Result>(_ content: String, _ body: (String) throws -> Result) throws -> Result {
        let path = "/tmp/waypulse-password-\(UInt64.random(in: .min ... .max))"
        try Array(content.utf8).withUnsafeBytes { bytes in
            let file = try #require(fopen(path, "wb"))
            #expect(fwrite(bytes.baseAddress, 1, bytes.count, file) == bytes.count)
            fclose(file)
        }
        defer { unlink(path) }
        return try body(path)
    }
}
