import Flow
import HTTP2
import LiveActivities
import PushSimulator
import Synchronization
import Testing

@testable import Delivery

@Suite("Answers of the provider reach the lane as they are, and do to connection and credential what they ask for")
struct AnswerTests {
    @Test("Accepted: one stream at first, then as many as the provider allows")
    func accepted() throws {
        let provider = try SimulatedProvider()
        let bench = provider.bench
        bench.accept()
        #expect(bench.instruments.answers.total(.success) == 1)
        #expect(bench.count(.accepted) == 1)
        let streams = bench.reports.now.reports.compactMap { report in
            if case .streams(_, let count) = report { count } else { nil }
        }
        #expect(streams.first == 1 && streams.last == 1_000)
    }

    @Test("A wrong topic")
    func wrongTopic() throws {
        let provider = try SimulatedProvider {
            $0.face.unknownTokens = .refuse
        } delivery: {
            $0.topic = PushHeaders.topic(bundleIdentifier: "com.example.other")
        }
        provider.simulator.register(token: String(repeating: "ab", count: 80))
        provider.bench.waitForStreams(1)
        #expect(provider.bench.ending(1) == ["400 DeviceTokenNotForTopic"])
        // A healthy provider's refusal: the credential was accepted.
        provider.bench.waitForStreams(1_000)
    }

    @Test("An unknown token")
    func unknownToken() throws {
        let provider = try SimulatedProvider { $0.face.unknownTokens = .refuse }
        provider.bench.waitForStreams(1)
        #expect(provider.bench.ending(1) == ["400 BadDeviceToken"])
        #expect(provider.bench.count(.refused) == 1)
        #expect(provider.bench.count(.retired) == 0)
    }

    @Test("A token that ended: 410 with its time")
    func ended() throws {
        let provider = try SimulatedProvider {
            $0.faults.errors = [.init(status: 410, reason: "Unregistered", share: 1)]
        }
        provider.bench.waitForStreams(1)
        #expect(provider.bench.ending(1) == ["410 Unregistered"])
        #expect(provider.bench.count(.retired) == 0)
    }

    @Test("A body above 4,096 bytes")
    func tooLarge() throws {
        let provider = try SimulatedProvider()
        let bench = provider.bench
        bench.waitForStreams(1)
        var batch = JobBatch()
        batch.add(
            identifier: 1, pool: 0, headers: WorkerBench.headers(1),
            body: [UInt8](repeating: UInt8(ascii: " "), count: 4_097))
        bench.worker.submit(&batch)
        #expect(bench.reports.wait { $0.endings[1] != nil }.endings[1] == ["413 PayloadTooLarge"])
    }

    @Test("Q21: TooManyRequests leaves the connection alone")
    func tooManyRequests() throws {
        let provider = try SimulatedProvider { $0.face.maxPushesPerToken = 2 }
        let bench = provider.bench
        bench.accept()
        #expect(bench.ending(2) == ["200"])
        #expect(bench.ending(3) == ["429 TooManyRequests"])
        #expect(bench.count(.retired) == 0)
        #expect(bench.count(.opened) == 1)
    }

    @Test(
        "Q9, Q27: an error reaches the lane by its reason, in whatever spelling, or else by its status",
        arguments: [
            (500, "InternalServerError", "500 InternalServerError"),
            (503, "ServiceUnavailable", "503 ServiceUnavailable"),
            (503, "Service Unavailable", "503 ServiceUnavailable"), (400, "NeverHeardOf", "400 NeverHeardOf"),
        ])
    func errors(status: Int, reason: String, name: String) throws {
        let provider = try SimulatedProvider()
        provider.bench.accept()
        provider.simulator.change { $0.errors = [.init(status: status, reason: reason, share: 1)] }
        #expect(provider.bench.ending(2) == [name])
        provider.simulator.change { $0.errors = [] }
        #expect(provider.bench.ending(3) == ["200"])
        #expect(provider.bench.count(.opened) == 1)
    }

    @Test("503 Shutdown: another connection")
    func shutdown() throws {
        let provider = try SimulatedProvider()
        provider.bench.accept()
        provider.simulator.change { $0.errors = [.init(status: 503, reason: "Shutdown", share: 1)] }
        #expect(provider.bench.ending(2) == ["503 Shutdown"])
        provider.simulator.change { $0.errors = [] }
        provider.bench.accept(3)
        #expect(provider.entries(2).first?.connection != provider.entries(3).first?.connection)
    }

    @Test(
        "Q27: no apns-id, a body that is no JSON, or an empty one: the status decides",
        arguments: ["", "{", #"{"reason":7}"#, #"["BadTopic"]"#, "\u{0}\u{FFFD}"])
    func oddBodies(body: String) throws {
        let provider = try ScriptedProvider { request, _, _ in _ = request.respond(status: 503, body: Array(body.utf8))
        }
        let bench = try provider.bench()
        bench.waitForStreams(1)
        #expect(bench.ending(1) == ["503 status 503"])
        #expect(bench.count(.retired) == 0)
    }

    @Test("On the wire: the fields of section 4, each once, apns-expiration 0 among them and apns-id in lower case")
    func wire() throws {
        let seen = Mutex<[String]>([])
        let provider = try ScriptedProvider { request, _, _ in
            var lines = [
                String(decoding: request.method, as: UTF8.self), String(decoding: request.path, as: UTF8.self),
            ]
            for index in 0..<request.fieldCount {
                let name = String(decoding: request.name(at: index), as: UTF8.self)
                lines.append("\(name): \(String(decoding: request.value(at: index), as: UTF8.self))")
            }
            lines.append(String(decoding: request.body, as: UTF8.self))
            seen.withLock { $0 = lines }
            _ = request.respond(status: 200)
        }
        let bench = try provider.bench()
        bench.waitForStreams(1)
        #expect(bench.ending(0xABCDEF) == ["200"])
        #expect(
            try seen.withLock { $0 } == [
                "POST", "/3/device/" + String(repeating: "ab", count: 80),
                "authorization: \(bench.providerToken.bearer().authorization)",
                "apns-topic: com.example.courier.push-type.liveactivity", "apns-push-type: liveactivity",
                "apns-priority: 5", "apns-expiration: 0", "apns-id: 0f6c2a3e-6d0a-4f0e-9a55-000000abcdef",
                #"{"aps":{"timestamp":11260375,"event":"update","content-state":{"sequenceNumber":11259375}}}"#,
            ])
    }

    @Test(
        "The authority carries the port where it is not 443",
        arguments: [
            ("api.push.apple.com", 443, "api.push.apple.com"),
            ("api.push.apple.com", 2_197, "api.push.apple.com:2197"), ("127.0.0.1", 8_443, "127.0.0.1:8443"),
            ("::1", 443, "[::1]"), ("::1", 8_443, "[::1]:8443"),
        ] as [(String, UInt16, String)])
    func authority(host: String, port: UInt16, authority: String) throws {
        let settings = PoolSettings(
            app: "courier", host: host, port: port, topic: "t", tls: try .client(),
            providerToken: ProviderToken(
                teamIdentifier: "T", keyIdentifier: "K", key: try SigningKey(pem: TestKeys.rfc7515, name: "key")))
        #expect(settings.authority == authority)
    }
}
