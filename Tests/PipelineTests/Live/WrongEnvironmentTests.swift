import Configuration
import Delivery
import Flow
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

/// Goal: a wrong environment costs nothing but time. Method: a thousand activities with production tokens, run against the sandbox; then run again
/// with the configuration mended.
@Suite("A run against the wrong environment")
struct WrongEnvironmentTests {
    private static let activities = 1_000

    private static func token(_ index: Int) -> String {
        let digits = String(index, radix: 16)
        return String(repeating: "0", count: 128 - digits.count) + digits
    }

    private static let recording: [UInt8] = {
        var lines = ""
        for index in 0..<activities {
            lines += """
                {"type":"activity.started","activityId":"a\(index)","timestamp":1800000000,"attributesType":"DeliveryAttributes","token":"\(token(index))"}
                {"type":"status","activityId":"a\(index)","timestamp":1800000001,"status":"near"}

                """
        }
        return Array(lines.utf8)
    }()

    private struct Outcome {
        let ending: RunEnding
        let entries: [JournalEntry]
        let registry: Registry
        let lines: [String]
        let hindrance: String?
    }

    /// - Parameter environment: the simulator's; the tokens are production's.
    private func run(against environment: APNsEnvironment) throws -> Outcome {
        var options = SimulatorServer.Options()
        let time = RecordingTime()
        options.clock = SimulatorClock { time.milliseconds }
        options.face.environment = environment
        let simulator = try SimulatorServer(options)
        simulator.withCore { core in
            for index in 0..<Self.activities {
                core.face.tokens.register(
                    Self.token(index), kind: .update, topic: "com.example.courier.push-type.liveactivity",
                    environment: .production, activityIdentifier: "a\(index)")
            }
        }
        let port = try simulator.start()
        defer { simulator.stop() }
        let configuration = try Configuration(flags: [])
        var tls = TLSContext.ClientOptions()
        tls.authorityPEM = simulator.authorityPEM
        let pool = PoolSettings(
            app: "courier", host: "127.0.0.1", port: port,
            topic: PushHeaders.topic(bundleIdentifier: options.bundleIdentifier), tls: try .client(tls),
            providerToken: ProviderToken(
                teamIdentifier: options.teamIdentifier, keyIdentifier: options.keyIdentifier,
                key: try SigningKey(pem: simulator.providerKey.privateKeyPEM, name: "key")))
        let settings = RunSettings(
            lane: try LaneSettings(configuration, planTargets: false, seed: 1), pace: .max, pools: [pool],
            delivery: DeliveryOptions(configuration))
        let registry = Registry()
        let lines = Lines()
        let runner = try LaneRunner(
            settings: settings,
            recordings: MergedRecordings([Recording(name: "thousand", bytes: Self.recording, apps: [])]),
            registry: registry,
            log: Log(component: "test", to: LogSink(level: .info, format: .json, output: lines.add)),
            stop: StopRequest(), time: time)
        let ending = try runner.run()
        return Outcome(
            ending: ending, entries: simulator.journal.entries, registry: registry, lines: lines.all,
            hindrance: runner.hindrance)
    }

    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ bytes: [UInt8]) { lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) } }
    }

    @Test(
        "None of a thousand tokens is forgotten, and it says what is wrong, where, and how to mend it; mended, all are told"
    )
    func thousand() throws {
        let wrong = try run(against: .sandbox)
        #expect(wrong.ending == .refusedTokens)
        // A handful of errors, not a thousand: APNs closes connections for less.
        #expect((5...10).contains(wrong.entries.count))
        #expect(wrong.entries.allSatisfy { $0.reason == "BadDeviceToken" })
        let snapshot = wrong.registry.snapshot()
        #expect(snapshot.number("waypulse_updates_total", "target_gone") == 0)
        #expect(snapshot.number("waypulse_alarms_total", "suspect_tokens") ?? 0 > 0)
        #expect(snapshot.number("waypulse_app_paused", "courier", "tokens") == 1)
        let line = try #require(wrong.lines.first { $0.contains("refuses token after token") })
        for word in ["courier", "BadDeviceToken", "environment", "sandbox for builds run from Xcode"] {
            #expect(line.contains(word), "\(word) is missing in \(line)")
        }
        let hindrance = try #require(wrong.hindrance)
        #expect(hindrance.contains("app courier") && hindrance.contains("BadDeviceToken"))
        // No token in full, anywhere.
        #expect(!wrong.lines.contains { line in (0..<20).contains { line.contains(Self.token($0)) } })

        let right = try run(against: .production)
        #expect(right.ending == .finished)
        #expect(Set(right.entries.filter(\.isAccepted).compactMap(\.activityIdentifier)).count == Self.activities)
        #expect(right.registry.snapshot().number("waypulse_app_paused", "courier", "tokens") == 0)
    }
}
