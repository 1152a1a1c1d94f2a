import Flow
import HTTP2
import Instruments
import LiveActivities
import PushSimulator
import Sockets
import Synchronization
import Telemetry
import Testing

@testable import Delivery

/// A worker, and what it is told about its provider.
final class WorkerBench {
    struct Setup {
        var host = "127.0.0.1"
        var topic = PushHeaders.topic(bundleIdentifier: "com.example.courier")
        var teamIdentifier = "S1MT3AMWAY"
        var delivery = DeliveryOptions()
        var lookUp: AddressLookUp?
        /// PEM; nil trusts nobody.
        var authority: [UInt8]?

        init() {
            delivery.reconnectDelayMilliseconds = 2
            delivery.longestReconnectDelayMilliseconds = 50
        }
    }

    let time = TestClock(unixSeconds: CredentialClock.real.unixSeconds())
    let reports = ReportLog()
    let lines = LogLines()
    let registry = Registry()
    let instruments: DeliveryInstruments
    let providerToken: ProviderToken
    let worker: Worker
    static let token = PushToken(bytes: [UInt8](repeating: 0xAB, count: 80))

    init(port: UInt16, keyPEM: [UInt8], _ setup: Setup) throws {
        instruments = DeliveryInstruments(registry: registry)
        providerToken = ProviderToken(
            teamIdentifier: setup.teamIdentifier, keyIdentifier: "S1MK3YWAYP",
            key: try SigningKey(pem: keyPEM, name: "key"), clock: time.clock)
        var tls = TLSContext.ClientOptions()
        tls.usesSystemTrust = false
        tls.authorityPEM = setup.authority
        let pool = PoolSettings(
            app: "courier", host: setup.host, port: port, topic: setup.topic, tls: try .client(tls),
            providerToken: providerToken)
        let lines = lines
        let sink = LogSink(level: .trace, format: .json, output: { lines.add($0) })
        let reports = reports
        worker = try Worker(
            name: "test-worker", pools: [pool], options: setup.delivery, instruments: instruments,
            log: Log(component: "delivery", to: sink), lookUp: setup.lookUp, reports: { reports.add($0) })
    }

    deinit { worker.stop() }

    // MARK: Pushing

    /// Its `apns-id` ends in the identifier.
    static func headers(_ identifier: UInt64) -> PushHeaders {
        PushHeaders(
            token: token, apnsIdentifier: (0x0F6C_2A3E_6D0A_4F0E, 0x9A55_0000_0000_0000 | identifier), priority: 5,
            expirationSeconds: 0)
    }

    static func body(_ identifier: UInt64) -> [UInt8] {
        Array(
            #"{"aps":{"timestamp":\#(1_000 + identifier),"event":"update","content-state":{"sequenceNumber":\#(identifier)}}}"#
                .utf8)
    }

    func push(_ identifiers: some Sequence<UInt64>) { Self.push(identifiers, through: worker) }

    static func push(_ identifiers: some Sequence<UInt64>, through worker: Worker) {
        var batch = JobBatch()
        for identifier in identifiers {
            batch.add(identifier: identifier, pool: 0, headers: headers(identifier), body: body(identifier))
        }
        worker.submit(&batch)
        #expect(batch.isEmpty)
    }

    /// Pushes, waits, and gives how each ended.
    @discardableResult
    func ending(_ identifier: UInt64, sourceLocation: SourceLocation = #_sourceLocation) -> [String]? {
        push([identifier])
        return reports.wait({ $0.endings[identifier] != nil }, sourceLocation: sourceLocation).endings[identifier]
    }

    func waitForStreams(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) {
        reports.wait({ $0.streams[0] == count }, sourceLocation: sourceLocation)
    }

    /// A connection on which the provider has accepted a push, and takes a thousand.
    func accept(_ identifier: UInt64 = 1, sourceLocation: SourceLocation = #_sourceLocation) {
        waitForStreams(1, sourceLocation: sourceLocation)
        #expect(ending(identifier, sourceLocation: sourceLocation) == ["200"], sourceLocation: sourceLocation)
        waitForStreams(1_000, sourceLocation: sourceLocation)
    }

    func count(_ event: DeliveryInstruments.ConnectionEvent) -> Int64 { instruments.connections.total(event) }
    func count(_ ending: DeliveryInstruments.Ending) -> Int64 { instruments.requests.total(ending) }
}

/// What was logged.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    func add(_ bytes: [UInt8]) {
        lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
    }

    var all: [String] { lines.withLock { $0 } }
    func contains(_ text: String) -> Bool { all.contains { $0.contains(text) } }
}

/// A simulator on its own thread, and a worker that pushes to it, over real TLS.
final class SimulatedProvider {
    let simulator: SimulatorServer
    let bench: WorkerBench

    init(
        _ changeSimulator: (inout SimulatorServer.Options) -> Void = { _ in },
        delivery change: (inout WorkerBench.Setup) -> Void = { _ in }
    ) throws {
        var options = SimulatorServer.Options()
        options.face.unknownTokens = .adopt
        changeSimulator(&options)
        simulator = try SimulatorServer(options)
        let port = try simulator.start()
        var setup = WorkerBench.Setup()
        setup.authority = simulator.authorityPEM
        change(&setup)
        bench = try WorkerBench(port: port, keyPEM: simulator.providerKey.privateKeyPEM, setup)
    }

    deinit {
        bench.worker.stop()
        simulator.stop()
    }

    /// The journal's entries of a job.
    func entries(_ identifier: UInt64) -> [JournalEntry] {
        let end = String(identifier, radix: 16)
        let suffix = String(repeating: "0", count: 12 - end.count) + end
        return simulator.journal.entries.filter { $0.apnsIdentifier?.hasSuffix(suffix) == true }
    }
}
