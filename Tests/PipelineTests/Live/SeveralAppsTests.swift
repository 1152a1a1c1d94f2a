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

/// Goal: what is wrong with one app touches no other. Method: three apps of three teams in one process, the key of one revoked, the tokens of one of
/// the other environment, one as it should be.
@Suite("Several apps, teams and environments in one process")
struct SeveralAppsTests {
    private static let apps = ["fine", "revoked", "mistaken"]
    private static let activitiesEach = 30

    private static func token(_ app: Int, _ index: Int) -> String {
        let digits = String(app * 1_000 + index, radix: 16)
        return String(repeating: "0", count: 128 - digits.count) + digits
    }

    private static let recording: [UInt8] = {
        var lines = ""
        for index in 0..<activitiesEach {
            for (number, app) in apps.enumerated() {
                let id = "\(app)-\(index)"
                lines += """
                    {"type":"activity.started","app":"\(app)","activityId":"\(id)","timestamp":1800000000,"attributesType":"DeliveryAttributes","token":"\(token(number, index))"}
                    {"type":"status","activityId":"\(id)","timestamp":1800000001,"status":"near"}

                    """
            }
        }
        return Array(lines.utf8)
    }()

    /// One provider an app, with a team and a key of its own.
    private struct Provider {
        let simulator: SimulatorServer
        let pool: PoolSettings

        init(_ app: String, number: Int, _ change: (inout SimulatorServer.Options) -> Void = { _ in }) throws {
            var options = SimulatorServer.Options()
            options.teamIdentifier = "T3AM00000\(number)"
            options.keyIdentifier = "K3Y000000\(number)"
            options.bundleIdentifier = "com.example.\(app)"
            options.face.unknownTokens = .adopt
            change(&options)
            simulator = try SimulatorServer(options)
            let port = try simulator.start()
            var tls = TLSContext.ClientOptions()
            tls.authorityPEM = simulator.authorityPEM
            pool = PoolSettings(
                app: app, host: "127.0.0.1", port: port,
                topic: PushHeaders.topic(bundleIdentifier: options.bundleIdentifier), tls: try .client(tls),
                providerToken: ProviderToken(
                    teamIdentifier: options.teamIdentifier, keyIdentifier: options.keyIdentifier,
                    key: try SigningKey(pem: simulator.providerKey.privateKeyPEM, name: "key")))
        }
    }

    @Test(
        "The one that is fine is told all; the alarms of the others name them, with what to do; the run says what stands in its way"
    )
    func isolated() throws {
        let providers = [
            try Provider("fine", number: 1), try Provider("revoked", number: 2),
            try Provider("mistaken", number: 3) { $0.face.unknownTokens = .refuse },
        ]
        defer { for provider in providers { provider.simulator.stop() } }
        providers[1].simulator.withCore { $0.face.revoke(keyIdentifier: "K3Y0000002") }
        let files = Self.apps.flatMap { app in
            [
                "apps.\(app).bundleId=com.example.\(app)", "apps.\(app).teamId=T3AM000001",
                "apps.\(app).keyId=K3Y0000001",
                "apps.\(app).keyFile=/dev/null",
            ]
        }
        let configuration = try Configuration(flags: files)
        let settings = RunSettings(
            lane: try LaneSettings(configuration, planTargets: false, seed: 1), pace: .max,
            pools: providers.map(\.pool), delivery: DeliveryOptions(configuration))
        let registry = Registry()
        let lines = Mutex<[String]>([])
        let runner = try LaneRunner(
            settings: settings,
            recordings: MergedRecordings([Recording(name: "three", bytes: Self.recording, apps: Self.apps)]),
            registry: registry,
            log: Log(
                component: "test",
                to: LogSink(
                    level: .info, format: .json,
                    output: { line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } })),
            stop: StopRequest())
        // The rest waits for two apps that nobody mends.
        let ending = try runner.run()
        #expect(ending == .refusedTokens)
        #expect(runner.hindrance == nil, "one app can be pushed to")

        let fine = providers[0].simulator.journal.entries
        #expect(fine.count == Self.activitiesEach && fine.allSatisfy(\.isAccepted))
        #expect(providers[1].simulator.journal.entries.allSatisfy { $0.reason == "InvalidProviderToken" })
        #expect(providers[1].simulator.journal.entries.count <= 6)
        #expect(providers[2].simulator.journal.entries.allSatisfy { $0.reason == "BadDeviceToken" })
        #expect(providers[2].simulator.journal.entries.count <= 10)

        let snapshot = registry.snapshot()
        #expect(snapshot.number("waypulse_app_paused", "revoked", "credential") == 1)
        #expect(snapshot.number("waypulse_app_paused", "mistaken", "tokens") == 1)
        for cause in Breaker.Cause.allCases {
            #expect(snapshot.number("waypulse_app_paused", "fine", cause.rawValue) == 0)
        }
        let errors = lines.withLock { $0 }.filter { $0.contains(#""level":"error""#) }
        #expect(errors.contains { $0.contains(#""app":"revoked""#) && $0.contains("InvalidProviderToken") })
        #expect(errors.contains { $0.contains(#""app":"mistaken""#) && $0.contains("BadDeviceToken") })
        #expect(!errors.contains { $0.contains(#""app":"fine""#) })
    }
}
