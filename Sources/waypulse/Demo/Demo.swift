import Configuration
import Delivery
import Flow
import HTTP2
import Instruments
import LiveActivities
import Pacing
import Pipeline
import PushSimulator
import Sockets
import Streams
import Telemetry

/// The whole path in one process: events → pacing → HTTP/2 over TLS → the simulator with its phones → the judge.
struct Demo {
    let input: DemoInput
    let configuration: Configuration
    let factor: Double
    let journalDirectory: String?

    struct Outcome {
        let ending: RunEnding
        let metrics: Snapshot
        let decisions: DecisionTotals
        let activityHours: ActivityHours
        let entries: [JournalEntry]
        let broken: [BrokenPromise]
        let realMilliseconds: Int64
    }

    func run(stop: StopRequest, log: Log, registry: Registry, onTick: @escaping (DemoProgress) -> Void) throws
        -> Outcome
    {
        let time = RecordingTime()
        var options = SimulatorServer.Options()
        options.clock = SimulatorClock { time.milliseconds }
        options.directory = journalDirectory
        options.bundleIdentifier = Demo.bundleIdentifier
        let simulator = try SimulatorServer(options)
        simulator.register(input.registrations)
        let port = try simulator.start()
        defer { simulator.stop() }

        var lane = try LaneSettings(configuration, planTargets: false, seed: 1)
        // The simulator's phones find the activity of a start push by this attribute.
        lane.types.others = try ActivityTypeSettings(activityIdentifierField: FieldPath("activityId"))
        let settings = RunSettings(
            lane: lane, pace: .times(factor), pools: try pools(for: simulator, port: port, apps: lane.shard.apps),
            delivery: DeliveryOptions(configuration))
        let recording = Recording(name: input.name, bytes: input.lines, apps: configuration.apps)
        let runner = try LaneRunner(
            settings: settings, recordings: MergedRecordings([recording]), registry: registry, log: log, stop: stop,
            time: time)
        let began = Clocks.monotonicMilliseconds()
        runner.onTick = { lane, _ in
            onTick(
                DemoProgress(
                    realMilliseconds: Clocks.monotonicMilliseconds() - began, inFlight: lane.inFlightCount,
                    metrics: registry.snapshot()))
        }
        let ending = try runner.run()
        let entries = simulator.journal.entries
        return Outcome(
            ending: ending, metrics: registry.snapshot(), decisions: runner.decisions,
            activityHours: try ActivityHours(Recording(name: input.name, bytes: input.lines, apps: configuration.apps)),
            entries: entries,
            broken: Judge(settings: judgeSettings(lane.shard.default), expectations: input.expectations).judge(entries),
            realMilliseconds: Clocks.monotonicMilliseconds() - began)
    }

    private static let bundleIdentifier = "com.example.courier"

    /// Every app's pushes go to the simulator.
    private func pools(for simulator: SimulatorServer, port: UInt16, apps: [String]) throws -> [PoolSettings] {
        var tls = TLSContext.ClientOptions()
        tls.authorityPEM = simulator.authorityPEM
        let context = try TLSContext.client(tls)
        let token = ProviderToken(
            teamIdentifier: simulator.providerKey.teamIdentifier, keyIdentifier: simulator.providerKey.identifier,
            key: try SigningKey(pem: simulator.providerKey.privateKeyPEM, name: "the simulator's key"))
        return (apps.isEmpty ? ["demo"] : apps).map { app in
            PoolSettings(
                app: app, host: "localhost", port: port,
                topic: PushHeaders.topic(bundleIdentifier: Demo.bundleIdentifier), tls: context, providerToken: token)
        }
    }

    /// The judge is told what pacing promises, and how far arrival and send may be apart on a clock that runs fast.
    private func judgeSettings(_ pacing: PacingSettings) -> JudgeSettings {
        var settings = JudgeSettings()
        switch pacing.profile {
        case .auto: break
        case .standard: settings.frequentCadence = .standard
        case .frequent: settings.cadence = .frequent
        case .unlimited: (settings.cadence, settings.frequentCadence) = (nil, nil)
        }
        settings.urgentMinIntervalMilliseconds = pacing.urgentMinIntervalMilliseconds
        settings.refreshAfterMilliseconds = pacing.staleAfterMilliseconds - pacing.refreshLeadMilliseconds
        settings.deadbandMeters = pacing.deadbandMeters
        settings.deadbandCeilingMeters =
            pacing.accuracyAware ? max(pacing.deadbandMeters, pacing.deadbandCeilingMeters) : pacing.deadbandMeters
        settings.tolerances = Dictionary(
            pacing.tolerances.map { ($0.field, $0.tolerance) }, uniquingKeysWith: { $1 })
        settings.discreteFields = pacing.discrete
        settings.latitudeField = pacing.positionFields.first { $0.source == .latitude }?.field
        settings.longitudeField = pacing.positionFields.first { $0.source == .longitude }?.field
        settings.writtenFields = pacing.positionFields.map(\.field)
        settings.sequenceField = pacing.sequenceField
        settings.maxActivityLifeMilliseconds = pacing.maxActivityLifeMilliseconds
        settings.slackMilliseconds = 2_000 + Int64(factor * 100)
        return settings
    }
}

/// How far a demo has come.
struct DemoProgress {
    let realMilliseconds: Int64
    let inFlight: Int
    let metrics: Snapshot
}
