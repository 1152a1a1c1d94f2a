import Configuration
import Delivery
import Flow
import Foundation
import HTTP2
import Instruments
import LiveActivities
import PushSimulator
import Sockets
import Streams
import Synchronization
import Testing

@testable import Pipeline
@testable import PushSimulator

/// Goal: a signing key is changed under a run, without a restart, a lost update or a word of a secret in log or metrics. Method: in mid-run the old
/// key is revoked and a new one laid beside it.
@Suite("A signing key is rotated while a run goes on")
struct KeyRotationTests {
    private static let activities = 40

    private static func token(_ index: Int) -> String {
        let digits = String(index + 0xABCD00, radix: 16)
        return String(repeating: "0", count: 128 - digits.count) + digits
    }

    /// Twenty seconds, a status a second for each.
    private static let recording: [UInt8] = {
        var lines = ""
        for index in 0..<activities {
            lines +=
                #"{"type":"activity.started","activityId":"a\#(index)","timestamp":1800000000,"attributesType":"DeliveryAttributes","token":"\#(token(index))"}"#
                + "\n"
        }
        for second in 1...20 {
            for index in 0..<activities {
                lines +=
                    #"{"type":"status","activityId":"a\#(index)","timestamp":\#(1_800_000_000 + second * 30),"status":"state \#(second)"}"#
                    + "\n"
            }
        }
        return Array(lines.utf8)
    }()

    @Test("All is told in the end, on new connections, and nothing of key or token stands in log or metrics")
    func rotated() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("waypulse-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func lay(_ pem: [UInt8], _ identifier: String) throws {
            try Data(pem).write(to: folder.appendingPathComponent("AuthKey_\(identifier).p8"), options: .atomic)
        }

        let time = RecordingTime()
        var options = SimulatorServer.Options()
        options.clock = SimulatorClock { time.milliseconds }
        options.face.unknownTokens = .adopt
        let simulator = try SimulatorServer(options)
        let port = try simulator.start()
        defer { simulator.stop() }
        let old = simulator.providerKey
        let new = try ProviderKeyPair(identifier: "N3WK3Y0000", teamIdentifier: options.teamIdentifier)
        let registered = try new.registered()
        try lay(old.privateKeyPEM, old.identifier)

        let configuration = try Configuration(flags: [
            "delivery.probeDelay=20s", "delivery.reconnectDelay=10ms", "delivery.reconnectDelayMax=100ms",
        ])
        let file = KeyFile(path: folder.path, keyIdentifier: nil)
        let providerToken = ProviderToken(
            teamIdentifier: options.teamIdentifier, keyIdentifier: try file.read().keyIdentifier,
            key: try file.read().signingKey())
        var tls = TLSContext.ClientOptions()
        tls.authorityPEM = simulator.authorityPEM
        let pool = PoolSettings(
            app: "courier", host: "127.0.0.1", port: port,
            topic: PushHeaders.topic(bundleIdentifier: options.bundleIdentifier), tls: try .client(tls),
            providerToken: providerToken, keyFile: file)
        var settings = RunSettings(
            lane: try LaneSettings(configuration, planTargets: false, seed: 1), pace: .times(200), pools: [pool],
            delivery: DeliveryOptions(configuration))
        settings.keyCheckMilliseconds = 20
        let registry = Registry()
        let lines = Mutex<[String]>([])
        let runner = try LaneRunner(
            settings: settings,
            recordings: MergedRecordings([Recording(name: "rotation", bytes: Self.recording, apps: [])]),
            registry: registry,
            log: Log(
                component: "test",
                to: LogSink(
                    level: .trace, format: .json,
                    output: { line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } })),
            stop: StopRequest(), time: time)
        let firstText = try providerToken.bearer().authorization
        var isRevoked = false
        var isLaid = false
        runner.onTick = { lane, _ in
            if !isRevoked, simulator.journal.nextNumber >= 100 {
                isRevoked = true
                simulator.withCore {
                    $0.face.revoke(keyIdentifier: old.identifier)
                    $0.face.register(registered)
                }
            }
            // Only when the run has noticed: its next probe would be 20 s away.
            if isRevoked, !isLaid, lane.pauseCause(pool: 0) == .credential {
                isLaid = true
                try? lay(new.privateKeyPEM, new.identifier)
            }
        }
        let ending = try runner.run()
        #expect(isLaid)
        #expect(ending == .finished)
        #expect(providerToken.keyIdentifier == "N3WK3Y0000")
        let entries = simulator.journal.entries
        let told = entries.filter { $0.isAccepted && $0.contentState?["status"]?.asString == "state 20" }
        #expect(Set(told.compactMap(\.tokenFingerprint)).count == Self.activities)
        let refused = try #require(entries.last { $0.reason == "InvalidProviderToken" })
        #expect(!entries.contains { $0.number > refused.number && $0.connection == refused.connection })
        #expect(registry.snapshot().number("waypulse_signing_key_changes_total", "adopted") == 1)
        #expect(registry.snapshot().number("waypulse_updates_total", "refused") == 0)

        // Every line of the keys, every part of the provider tokens, every device token.
        var secrets = [old.privateKeyPEM, new.privateKeyPEM].flatMap { pem in
            String(decoding: pem, as: UTF8.self).split(separator: "\n").map(String.init).filter {
                !$0.contains("-----")
            }
        }
        for text in [firstText, try providerToken.bearer().authorization] {
            secrets += text.split(separator: ".").dropFirst().map(String.init)
        }
        secrets += (0..<Self.activities).map { Self.token($0) }
        let everything =
            lines.withLock { $0.joined() } + String(decoding: registry.snapshot().prometheusText(), as: UTF8.self)
            + String(decoding: registry.snapshot().json(), as: UTF8.self)
        #expect(everything.count > 1_000)
        for secret in secrets { #expect(!everything.contains(secret)) }
    }
}
