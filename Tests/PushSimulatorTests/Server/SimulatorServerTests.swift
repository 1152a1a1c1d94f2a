import Glibc
import HTTP2
import Synchronization
import Telemetry
import Testing

@testable import PushSimulator

@Suite("The simulator answers over real TLS")
struct SimulatorServerTests {
    typealias Ending = SimulatorClient.Ending

    @Test("A connection begins with one stream; the first accepted provider token brings a thousand")
    func firstToken() throws {
        let bench = try SimulatorBench()
        let client = try bench.client()
        bench.drive { client.isReady }
        #expect(client.connection.peerStreamLimit == 1)
        client.send(0)
        bench.drive { client.connection.peerStreamLimit == 1_000 }
        #expect(client.endings[0] == .answered(200, ""))
        let entries = bench.simulator.journal.entries
        #expect(entries.map(\.verdict) == [.applied])
        #expect(entries.map(\.sequence) == [1])
        #expect(entries.map(\.tokenFingerprint) == [Fingerprint.of(token: SimulatorClient.token)])
    }

    @Test("An expired provider token, and what follows it, is refused until the connection is closed")
    func expiredToken() throws {
        let bench = try SimulatorBench()
        let old = try bench.client(ageSeconds: 3_700)
        bench.drive { old.isReady }
        old.send(0)
        bench.drive { old.endings[0] != nil }
        #expect(old.endings[0] == .answered(403, "ExpiredProviderToken"))
        #expect(old.connection.peerStreamLimit == 1)
        _ = try bench.acceptedClient()
    }

    @Test("A body above the limit is refused while it is received")
    func tooLarge() throws {
        let bench = try SimulatorBench()
        let client = try bench.acceptedClient()
        client.send(1, aps: #""x":"\#(String(repeating: "x", count: 200_000))""#)
        bench.drive { client.endings[1] != nil }
        #expect(client.endings[1] == .answered(413, "PayloadTooLarge"))
    }

    @Test("A start by push: the phone reports a token, which takes updates until its end, and is gone after it")
    func start() throws {
        let reports = Mutex<[PhoneModel.TokenReport]>([])
        let bench = try SimulatorBench { options in
            options.phones.updateTokenDelayMilliseconds = 0
            options.onTokenReport = { report in reports.withLock { $0.append(report) } }
        }
        let client = try bench.acceptedClient()
        let startToken = String(repeating: "5a", count: 32)
        client.send(
            1, token: startToken, priority: 10,
            aps: #"""
                "timestamp":1,"event":"start","content-state":{"sequenceNumber":1},"attributes-type":"Delivery",
                "attributes":{"activityId":"order-1"},"alert":{"title":"Placed","body":"now"}
                """#)
        bench.drive { !reports.withLock(\.isEmpty) }
        let token = reports.withLock { $0[0].token }
        #expect(reports.withLock { $0.map(\.activityIdentifier) } == ["order-1"])
        client.send(2, token: token)
        bench.drive { client.endings[2] != nil }
        client.send(3, token: token, aps: #""timestamp":2000,"event":"end""#)
        bench.drive { client.endings[3] != nil }
        client.send(4, token: token)
        bench.drive { client.endings[4] != nil }
        #expect(client.endings[3] == .answered(200, ""))
        #expect(client.endings[4] == .answered(410, "Unregistered"))
        let entries = bench.simulator.journal.entries.dropFirst()
        #expect(entries.map(\.verdict) == [.alerted, .applied, .ended, nil])
        #expect(entries.map(\.activityIdentifier) == ["order-1", "order-1", "order-1", "order-1"])
    }

    @Test("Registrations take effect when the phones' clock reaches them")
    func registrations() throws {
        let now = Mutex<Int64>(1_000_000)
        let bench = try SimulatorBench { options in
            options.face.unknownTokens = .refuse
            options.clock = SimulatorClock { now.withLock { $0 } }
        }
        let newToken = String(repeating: "cd", count: 64)
        func registration(_ kind: FleetRegistration.Kind, _ token: String, _ at: Int64) -> FleetRegistration {
            FleetRegistration(
                kind: kind, token: token, activityIdentifier: "A", attributesType: "T", atMilliseconds: at)
        }
        bench.simulator.register([
            registration(.replaces(token: SimulatorClient.token), newToken, 1_300_000),
            registration(.began, SimulatorClient.token, 1_200_000),
        ])
        let client = try bench.client()
        bench.drive { client.isReady }
        for (tag, time) in [1_100_000, 1_200_000, 1_300_000].enumerated() {
            now.withLock { $0 = Int64(time) }
            client.send(UInt64(tag))
            bench.drive { client.endings[UInt64(tag)] != nil }
        }
        client.send(9, token: newToken)
        bench.drive { client.endings[9] != nil }
        #expect(client.endings[0] == .answered(400, "BadDeviceToken"))
        #expect(client.endings[1] == .answered(200, ""))
        #expect(client.endings[2] == .answered(410, "ExpiredToken"))
        #expect(client.endings[9] == .answered(200, ""))
        #expect(bench.simulator.journal.entries.map(\.atMilliseconds) == [1_100_000, 1_200_000, 1_300_000, 1_300_000])
    }

    @Test("An idle connection is sent away, and too many connections a minute are closed at once")
    func limits() throws {
        let idle = try SimulatorBench { $0.idleMilliseconds = 0 }
        let client = try idle.client()
        idle.drive { client.isClosed }
        #expect(client.goAways == [#"{"reason":"IdleTimeout"}"#])
        let busy = try SimulatorBench { $0.maxConnectionsPerMinute = 1 }
        let first = try busy.client()
        busy.drive { first.isReady }
        let second = try busy.client()
        busy.drive { second.isClosed }
        #expect(!second.isReady)
        #expect(!first.isClosed)
    }

    @Test("A connection that never says anything is closed, and those that did are not")
    func silent() throws {
        let bench = try SimulatorBench { $0.handshakeMilliseconds = 100 }
        let client = try bench.acceptedClient()
        let port = try #require(bench.simulator.port)
        let socket = try Http.connect(port: port)
        defer { close(socket) }
        // The end of the stream, or its reset: in either case nothing more comes.
        #expect(TestFiles.readAll(socket).isEmpty)
        client.send(1)
        bench.drive { client.endings[1] == .answered(200, "") }
    }

    @Test("What it writes leads a client to it: authority, key and journal")
    func files() throws {
        let directory = "/tmp/waypulse-simulator-\(UInt64.random(in: 0 ... .max))"
        let bench = try SimulatorBench { $0.directory = directory }
        defer { TestFiles.remove(directory) }
        _ = try bench.acceptedClient()
        bench.simulator.stop()
        let files = try #require(bench.simulator.files)
        #expect(try TestFiles.read(files.authorityPath) == bench.simulator.authorityPEM)
        let key = String(decoding: try TestFiles.read(files.keyPath), as: UTF8.self)
        #expect(key.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect(TestFiles.mode(files.keyPath) == 0o600)
        #expect(files.keyPath.hasSuffix("/AuthKey_S1MK3YWAYP.p8"))
        let journal = try Journal(parsing: TestFiles.read(files.journalPath))
        #expect(journal.entries == bench.simulator.journal.entries)
        #expect(journal.entries.count == 1)
    }

    @Test("Started and stopped again and again it leaves nothing behind")
    func restart() throws {
        weak var shared: SimulatorShared?
        weak var server: SimulatorServer?
        do {
            let bench = try SimulatorBench { $0.controlPort = 0 }
            for _ in 0..<5 {
                _ = try bench.acceptedClient()
                bench.simulator.stop()
                #expect(bench.simulator.port == nil)
                try bench.simulator.start()
            }
            shared = bench.simulator.shared
            server = bench.simulator
            #expect(bench.simulator.journal.entries.count == 5)
        }
        #expect(server == nil)
        #expect(shared == nil)
    }

    @Test("An address that is taken is named")
    func taken() throws {
        let bench = try SimulatorBench()
        var options = SimulatorServer.Options()
        options.port = try #require(bench.simulator.port)
        let second = try SimulatorServer(options)
        let fault = #expect(throws: SimulatorFault.self) { try second.start() }
        #expect(fault?.problem.contains("127.0.0.1:\(options.port)") == true)
        #expect(second.port == nil)
    }
}
