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

/// A small fleet's recording, run through everything at high speed against a simulator that is made to misbehave in the middle.
///
/// What is judged is what a fault may never cost: final states and order. How far apart pushes arrive is not: after a fault what was held comes
/// together.
struct FaultRun {
    static let fleet: FleetRecording = {
        var options = FleetOptions()
        options.activities = 40
        options.durationMilliseconds = 600_000
        options.openShare = 0
        // A recording tells an update token some seconds after its start whether or not the start got through; a phone would not.
        options.startTokenShare = 0
        return Fleet(options).record()
    }()
    /// The recording's ten minutes in about four seconds.
    private static let factor = 150.0

    let ending: RunEnding
    let entries: [JournalEntry]
    let broken: [BrokenPromise]
    let registry: Registry
    let decisions: DecisionTotals

    /// - Parameters:
    ///   - change: to a configuration in which every real delay is short.
    ///   - clock: of the provider token.
    ///   - steps: taken one after another, on the runner's thread.
    init(
        flags: [String] = [], simulator change: (inout SimulatorServer.Options) -> Void = { _ in },
        token clock: CredentialClock = .real, stop: StopRequest = StopRequest(), steps: [Step]
    ) throws {
        let time = RecordingTime()
        var options = SimulatorServer.Options()
        options.clock = SimulatorClock { time.milliseconds }
        change(&options)
        let simulator = try SimulatorServer(options)
        simulator.register(Self.fleet.registrations)
        let port = try simulator.start()
        defer { simulator.stop() }

        let configuration = try Configuration(flags: Self.quick + flags)
        let lane = try LaneSettings(configuration, planTargets: false, seed: 1)
        var tls = TLSContext.ClientOptions()
        tls.authorityPEM = simulator.authorityPEM
        let pool = PoolSettings(
            app: "courier", host: "127.0.0.1", port: port,
            topic: PushHeaders.topic(bundleIdentifier: options.bundleIdentifier), tls: try .client(tls),
            providerToken: ProviderToken(
                teamIdentifier: options.teamIdentifier, keyIdentifier: options.keyIdentifier,
                key: try SigningKey(pem: simulator.providerKey.privateKeyPEM, name: "key"), clock: clock))
        let settings = RunSettings(
            lane: lane, pace: .times(Self.factor), pools: [pool], delivery: DeliveryOptions(configuration))
        registry = Registry()
        let runner = try LaneRunner(
            settings: settings,
            recordings: MergedRecordings([Recording(name: "fleet", bytes: Self.fleet.lines(), apps: [])]),
            registry: registry,
            log: Log(component: "test", to: LogSink(level: .error, format: .json, output: { _ in })),
            stop: stop, time: time)
        let left = Steps(steps, simulator)
        runner.onTick = { _, _ in left.tick() }
        ending = try runner.run()
        #expect(left.isEmpty, "the run was over before every fault had come")
        decisions = runner.decisions
        entries = simulator.journal.entries
        let costly: Set<BrokenPromise.Promise> = [
            .sequenceRises, .timestampRises, .sequenceKeepsContent, .nothingAfterEnd, .finalStateTold, .wellFormed,
        ]
        broken = Judge(expectations: Self.fleet.expectations).judge(entries).filter { costly.contains($0.promise) }
    }

    /// Ends well: everything told, nothing broken, every event accounted for.
    func expectGood(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(ending == .finished, sourceLocation: sourceLocation)
        #expect(broken.map(\.description) == [], sourceLocation: sourceLocation)
        #expect(decisions.sum == decisions.activityEvents, sourceLocation: sourceLocation)
        #expect(
            Set(entries.compactMap(\.activityIdentifier)).count == Self.fleet.options.activities,
            sourceLocation: sourceLocation)
    }

    func count(_ name: String, _ label: String) -> Int64 { registry.snapshot().number(name, label) ?? 0 }

    private static let quick = [
        "attributesTypes.DeliveryAttributes.activityIdAttribute=activityId", "delivery.serverErrorHold=100ms",
        "delivery.probeDelay=50ms", "delivery.reconnectDelay=10ms", "delivery.reconnectDelayMax=100ms",
    ]

    /// What is done to the simulator, and when: once so many requests have reached it and so many ticks have passed since the step before.
    struct Step {
        var requests = 0
        var ticks = 0
        let take: (SimulatorServer) -> Void

        static func atRequests(_ count: Int, _ take: @escaping (SimulatorServer) -> Void) -> Step {
            Step(requests: count, take: take)
        }

        static func afterTicks(_ count: Int, _ take: @escaping (SimulatorServer) -> Void) -> Step {
            Step(ticks: count, take: take)
        }
    }

    private final class Steps {
        private var left: ArraySlice<Step>
        private let simulator: SimulatorServer
        private var ticks = 0

        init(_ steps: [Step], _ simulator: SimulatorServer) {
            left = steps[...]
            self.simulator = simulator
        }

        var isEmpty: Bool { left.isEmpty }

        func tick() {
            ticks += 1
            guard let next = left.first, ticks >= next.ticks, simulator.journal.nextNumber >= next.requests else {
                return
            }
            left.removeFirst()
            next.take(simulator)
            ticks = 0
        }
    }
}
