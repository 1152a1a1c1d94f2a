import Flow
import Foundation
import HTTP2
import Instruments
import LiveActivities
import Pacing
import PushSimulator
import Sockets
import Synchronization
import Telemetry
import Testing

@testable import Delivery

/// A lane, a worker and a provider: what an answer does, from the wire to the token of an activity.
///
/// Sockets, TLS and HTTP/2 are real; the clocks of lane, phones and provider token are the test's, so that a quarter of an hour costs nothing.
final class ContractBench {
    /// The phones' clock, which the simulator asks on a thread of its own.
    private final class PhoneClock: Sendable {
        let milliseconds: Atomic<Int64>
        init(_ milliseconds: Int64) { self.milliseconds = Atomic(milliseconds) }
    }

    let lane: Lane
    let time: TestClock
    let reports = ReportLog()
    let lines = LogLines()
    let instruments = DeliveryInstruments(registry: Registry())
    let providerToken: ProviderToken
    private let worker: Worker
    private let phoneClock: PhoneClock
    private var decoder = EventDecoder(apps: [])
    private var body = ByteBuffer(capacity: 8_192)
    private var read = 0
    private(set) var completions: [Completion] = []
    private(set) var dispatches: [Dispatch] = []
    /// Nil where the provider is a scripted one.
    private var owned: SimulatorServer?
    private var script: ScriptedProvider?

    var simulator: SimulatorServer {
        guard let owned else { preconditionFailure("this bench has a scripted provider") }
        return owned
    }

    /// Unix milliseconds, for pacing, back-off and phones alike.
    private(set) var now: Int64 {
        didSet { phoneClock.milliseconds.store(now, ordering: .relaxed) }
    }

    struct Setup {
        var topic = PushHeaders.topic(bundleIdentifier: "com.example.courier")
        var teamIdentifier = "S1MT3AMWAY"
        var keyIdentifier = "S1MK3YWAYP"
        var delivery = DeliveryOptions()
        var lane: (inout LaneSettings) -> Void = { _ in }

        init() {
            delivery.reconnectDelayMilliseconds = 2
            delivery.longestReconnectDelayMilliseconds = 50
        }
    }

    /// With a simulator that takes every token, unless it is told otherwise.
    convenience init(
        simulator change: (inout SimulatorServer.Options) -> Void = { _ in },
        setup changeSetup: (inout Setup) -> Void = { _ in }
    ) throws {
        let start = CredentialClock.real.unixSeconds() * 1_000
        let phoneClock = PhoneClock(start)
        var options = SimulatorServer.Options()
        options.clock = SimulatorClock { phoneClock.milliseconds.load(ordering: .relaxed) }
        options.face.unknownTokens = .adopt
        change(&options)
        let simulator = try SimulatorServer(options)
        let port = try simulator.start()
        try self.init(
            port: port, authority: simulator.authorityPEM, keyPEM: simulator.providerKey.privateKeyPEM, phoneClock,
            changeSetup)
        owned = simulator
    }

    /// With a provider that does what a test says.
    convenience init(_ provider: ScriptedProvider, _ changeSetup: (inout Setup) -> Void = { _ in }) throws {
        let phoneClock = PhoneClock(CredentialClock.real.unixSeconds() * 1_000)
        try self.init(
            port: provider.port, authority: ScriptedProvider.authority, keyPEM: TestKeys.rfc7515, phoneClock,
            changeSetup)
        script = provider
    }

    private init(
        port: UInt16, authority: [UInt8]?, keyPEM: [UInt8], _ phoneClock: PhoneClock, _ change: (inout Setup) -> Void
    ) throws {
        var setup = Setup()
        change(&setup)
        self.phoneClock = phoneClock
        now = phoneClock.milliseconds.load(ordering: .relaxed)
        time = TestClock(unixSeconds: now / 1_000)
        providerToken = ProviderToken(
            teamIdentifier: setup.teamIdentifier, keyIdentifier: setup.keyIdentifier,
            key: try SigningKey(pem: keyPEM, name: "key"), clock: time.clock)
        var laneSettings = LaneSettings(shard: ShardSettings(), types: ActivityTypes())
        // What time alone would send is no part of any row.
        laneSettings.shard.default.refresh = false
        setup.lane(&laneSettings)
        lane = Lane(settings: laneSettings)
        _ = lane.addLink(pool: 0)
        var tls = TLSContext.ClientOptions()
        tls.usesSystemTrust = false
        tls.authorityPEM = authority
        let pool = PoolSettings(
            app: "courier", host: "127.0.0.1", port: port, topic: setup.topic, tls: try .client(tls),
            providerToken: providerToken)
        let lines = lines
        let sink = LogSink(level: .trace, format: .json, output: { lines.add($0) })
        let reports = reports
        worker = try Worker(
            name: "contract", pools: [pool], options: setup.delivery, instruments: instruments,
            log: Log(component: "delivery", to: sink), reports: { reports.add($0) })
    }

    deinit {
        worker.stop()
        owned?.stop()
    }

    var moment: Moment { Moment(pacing: Instant(milliseconds: now), realMilliseconds: now) }

    // MARK: Events

    func apply(
        _ type: String, _ activity: String, _ fields: String = "", sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let faults = try faults(
            #"{"type":"\#(type)","activityId":"\#(activity)","timestamp":\#(Double(now) / 1_000)\#(fields.isEmpty ? "" : ",")\#(fields)}"#
        )
        #expect(faults.map(\.explanation) == [], sourceLocation: sourceLocation)
    }

    /// Why the lane cannot use an event; none where it can.
    func faults(_ event: String) throws -> [EventFault] {
        try Array(event.utf8).withUnsafeBytes { bytes in
            lane.apply(try decoder.decode(bytes), partition: 0, offset: -1, at: moment).faults
        }
    }

    /// A token of its own for each name, 160 digits long.
    static func token(_ name: String) -> String {
        let digits = name.utf8.map { String(UInt16($0) | 0x100, radix: 16).suffix(2) }.joined()
        return String(repeating: "0", count: 160 - digits.count) + digits
    }

    /// On the phone, with an update token of its own.
    func begin(_ activity: String) throws {
        try apply(
            "activity.started", activity, #""attributesType":"DeliveryAttributes","token":"\#(Self.token(activity))""#)
    }

    func status(_ activity: String, _ status: String) throws {
        try apply("status", activity, #""status":"\#(status)""#)
    }

    // MARK: To and fro

    /// Publishes a status and waits for what becomes of the push that tells it.
    @discardableResult
    func tell(_ activity: String, _ status: String, sourceLocation: SourceLocation = #_sourceLocation) throws
        -> Completion
    {
        let count = completions.count
        try self.status(activity, status)
        run(until: { self.completions.count > count }, sourceLocation: sourceLocation)
        return try #require(completions.last, sourceLocation: sourceLocation)
    }

    /// Carries pushes and answers until it holds. The half minute is no expectation, only the end of a test that hangs.
    func run(until isDone: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        let end = Date(timeIntervalSinceNow: 30)
        while true {
            hear()
            if isDone() { return }
            if send() == 0 { reports.waitBriefly(beyond: read) }
            guard Date() < end else {
                Issue.record(
                    "never happened; \(completions.map(\.fate)), breaker \(lane.breakerState(pool: 0))",
                    sourceLocation: sourceLocation)
                return
            }
        }
    }

    /// What the worker has reported, in one batch each turn.
    func hear() {
        let all = reports.now.reports
        for report in all[read...] {
            switch report {
            case .streams(_, let count): lane.setStreams(count, link: 0)
            case .completed(let identifier, let outcome):
                if let completion = lane.complete(identifier, outcome, at: moment) { completions.append(completion) }
            }
        }
        read = all.count
    }

    /// - Returns: how many pushes left.
    @discardableResult
    func send() -> Int {
        var batch = JobBatch()
        while let dispatch = lane.next(at: moment, body: &body) {
            dispatches.append(dispatch)
            body.withUnsafeBytes {
                batch.add(identifier: dispatch.identifier, pool: 0, headers: dispatch.headers!, body: $0)
            }
        }
        let count = batch.count
        if count > 0 { worker.submit(&batch) }
        return count
    }

    /// Nothing leaves now, though a stream is free.
    func expectQuiet(sourceLocation: SourceLocation = #_sourceLocation) {
        run(
            until: { self.lane.inFlightCount == 0 && self.reports.now.streams[0] ?? 0 > 0 },
            sourceLocation: sourceLocation)
        let sent = send()
        #expect(
            sent == 0,
            "\(dispatches.suffix(sent).map { "\($0.update.kind) \($0.update.reasons) \($0.update.sequence)" })",
            sourceLocation: sourceLocation)
    }

    /// All clocks go on; what is due in between fires.
    func pass(seconds: Int64) { pass(milliseconds: seconds * 1_000) }

    func pass(milliseconds: Int64) {
        let end = now + milliseconds
        while let due = lane.nextPacingDueMilliseconds, due <= end {
            now = max(now, due)
            lane.fire(at: moment)
        }
        now = end
        lane.fire(at: moment)
    }

    // MARK: Faults and findings

    func fail(_ status: Int, _ reason: String) {
        simulator.change { $0.errors = [.init(status: status, reason: reason, share: 1)] }
    }

    func recover() {
        simulator.change { $0.errors = [] }
    }

    func count(_ event: DeliveryInstruments.ConnectionEvent) -> Int64 { instruments.connections.total(event) }

    /// Requests that told this status, in order.
    func requests(_ status: String) -> [JournalEntry] {
        simulator.journal.entries.filter { $0.contentState?["status"]?.asString == status }
    }

    /// Those that were accepted.
    func arrivals(_ status: String) -> [JournalEntry] { requests(status).filter(\.isAccepted) }
}
