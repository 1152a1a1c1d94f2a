import Configuration
import Instruments
import Pipeline
import Streams

enum RunCommand: Command {
    static let name = "run"
    static let summary = "Read events, and push what is worth a phone's attention"
    static let examples: [Example] = [
        Example("waypulse run --config waypulse.yaml recording.jsonl", "A recording at its own speed."),
        Example(
            "waypulse run --config waypulse.yaml --speed 20x recording.jsonl.zst",
            "Twenty times as fast, on the recording's clock."),
        Example(
            "waypulse run --config waypulse.yaml",
            "The topics of source.kafka or source.redis, shared with all of its group."),
        Example("producer | waypulse run --config waypulse.yaml -", "Live, from standard input."),
    ]
    static let operands = "[RECORDING…]"
    static let details = """
        The recording may stand in the configuration as source.recording; - is standard input, which is live unless --speed is given.
        With source.kafka or source.redis the topics are read until the process is asked to stop; start more of them to share the work.
        SIGTERM or SIGINT ends reading, lets requests in flight end (drainTimeout), and exits 0; a second one exits at once.
        """
    static let speed = Flag(
        "--speed", value: "FACTOR", "1x, 20x or max (from record to record); the default is source.speed")
    static let flags: [Flag] = [.config, .set, speed]

    static func run(_ arguments: Arguments) throws -> ExitCode {
        // Before any thread begins, so that each of them leaves signals to the one that waits for them.
        let signals = StopSignals()
        var words = arguments
        if let speed = arguments.value(speed) { words.add("source.speed=\(speed)", to: .set) }
        let configuration = try words.configuration()
        guard !configuration.apps.isEmpty else {
            throw CommandFault(
                .configuration, "no app is configured, so there is nobody to push to",
                remedy: "waypulse config defaults, and fill in apps; or waypulse demo")
        }
        let paths =
            arguments.operands.isEmpty
            ? [configuration[Options.source.recording]].compactMap { $0 } : arguments.operands
        if configuration.lease != nil {
            guard arguments.operands.isEmpty else {
                throw CommandFault(
                    .usage, "run was given a recording, and source.kafka or source.redis is configured",
                    remedy: "leave one of them out")
            }
            return try run(as: configuration, signals)
        }
        guard !paths.isEmpty else {
            throw CommandFault(
                .usage, "run needs a source",
                remedy: "waypulse run --config waypulse.yaml recording.jsonl; or set source.kafka or source.redis")
        }
        return try run(
            paths, isLive: paths == ["-"] && !arguments.has(speed), configuration, signals)
    }

    /// After the run has ended, for answers to registrations that are on their way.
    private static let lastAnswerMilliseconds: Int64 = 1_000

    /// Recordings, from their beginning to their end.
    private static func run(
        _ paths: [String], isLive: Bool, _ configuration: Configuration, _ signals: StopSignals
    ) throws -> ExitCode {
        let surroundings = try RunSurroundings(configuration)
        defer { surroundings.end() }
        var settings = try RunSettings(configuration, pace: isLive ? .live : Pace(configuration))
        settings.deadLetters.version = VersionCommand.version
        let api = try RunApi(configuration, surroundings.log)
        let recordings = try paths.map { try Recording(path: $0, apps: configuration.apps) }
        let runner = try LaneRunner(
            settings: settings, recordings: MergedRecordings(recordings), registry: surroundings.registry,
            log: surroundings.log, stop: surroundings.stop)
        surroundings.begin(signals, source: paths.joined(separator: " "), settings)
        try api?.begin(
            RecordingDesk(
                settings: DeskSettings(apps: configuration.apps, shard: settings.lane.shard), mailbox: runner.questions,
                registry: surroundings.registry),
            surroundings)
        defer { api?.end(withinMilliseconds: lastAnswerMilliseconds) }
        surroundings.becomeReady()
        runner.onTick = { [unowned runner] _, _ in surroundings.tell(hindrance: runner.hindrance) }
        let ending = try runner.run()
        tell(surroundings.registry.snapshot(), surroundings.log)
        return exitCode(ending, surroundings.log)
    }

    /// Topics, as member of a group, until it is asked to stop.
    private static func run(as configuration: Configuration, _ signals: StopSignals) throws -> ExitCode {
        let surroundings = try RunSurroundings(configuration)
        defer { surroundings.end() }
        var settings = try RunSettings(configuration, pace: .live)
        settings.deadLetters.version = VersionCommand.version
        let api = try RunApi(configuration, surroundings.log)
        guard let group = try group(configuration, surroundings, signals, settings) else { return .success }
        OpenFiles.provide(
            partitions: group.member.partitions,
            connections: settings.workers * settings.pools.count * settings.delivery.connectionsPerPool,
            surroundings.log)
        let runner = try MemberRunner(
            settings: settings, group: group, registry: surroundings.registry, log: surroundings.log,
            stop: surroundings.stop)
        runner.onReadiness = { surroundings.tell(hindrance: $0) }
        if configuration.source == .redis {
            surroundings.begin(
                signals, source: group.source.topics.joined(separator: " ") + " at " + group.place, settings)
        }
        if let api {
            let desk = try MemberDesk(
                settings: DeskSettings(apps: configuration.apps, shard: settings.lane.shard), group: group,
                mailbox: runner.questions, connections: runner.connectionInstruments, registry: surroundings.registry,
                log: surroundings.log)
            try api.begin(desk, surroundings)
            if let address = api.address { runner.announce(api: address) }
        }
        defer { api?.end(withinMilliseconds: lastAnswerMilliseconds) }
        let ending = runner.run()
        tell(surroundings.registry.snapshot(), surroundings.log)
        return exitCode(ending, surroundings.log)
    }

    /// - Returns: nil where the run was stopped before it was known how many partitions there are.
    private static func group(
        _ configuration: Configuration, _ surroundings: RunSurroundings, _ signals: StopSignals,
        _ settings: RunSettings
    ) throws -> GroupRunSettings? {
        guard let kafka = try KafkaSourceSettings(configuration) else {
            return try GroupRunSettings.streams(configuration)
        }
        surroundings.begin(
            signals, source: kafka.feed.topics.joined(separator: " ") + " at " + kafka.place, settings)
        let partitions = try KafkaPartitionCount.find(
            kafka, log: surroundings.log.component("kafka"), stop: surroundings.stop
        ) { surroundings.tell(hindrance: $0) }
        guard let partitions else {
            surroundings.log.info("stopped")
            return nil
        }
        return try GroupRunSettings.kafka(configuration, kafka, partitions: partitions)
    }

    /// The sum of a run, in the log: what scrapers saw of it may be older.
    private static func tell(_ metrics: Snapshot, _ log: Log) {
        func count(_ name: String, _ labels: String...) -> Int {
            Int(
                labels.isEmpty
                    ? metrics.number(name) ?? 0 : labels.reduce(0) { $0 + (metrics.number(name, $1) ?? 0) })
        }
        log.info(
            "in all", .field("records", count("waypulse_records_total")),
            .field("activityEvents", count("waypulse_activity_events_total")),
            .field("accepted", count("waypulse_pushes_accepted_total", "urgent", "routine")),
            .field("refused", count("waypulse_updates_total", "refused", "target_gone")),
            .field("deadLetters", count("waypulse_decisions_total", "dead_letter")),
            .field("pending", count("waypulse_pending_events")))
    }

    private static func exitCode(_ ending: RunEnding, _ log: Log) -> ExitCode {
        switch ending {
        case .finished:
            log.info("the recording is done")
            return .success
        case .drained:
            log.info("stopped")
            return .success
        case .drainDeadlineExceeded(let inFlight):
            log.error("stopped with updates in flight", .field("inFlight", inFlight), .hint("raise drainTimeout"))
            return .drainDeadlineExceeded
        case .tooManyDeadLetters:
            log.error("the rest of the recording was not read", .hint("see above, and deadLetters.maxRatio"))
            return .failure
        case .notHandedOver(let partitions):
            log.error(
                "stopped, and not all was handed over", .field("partitions", partitions),
                .hint(
                    "see whether Redis answers; nothing is lost: their next owners go on from what was saved, once the leases have ended"
                ))
            return .drainDeadlineExceeded
        case .expelled(let reason):
            log.error("stopped: this process can be no member of its group", .hint(reason))
            return .expelled
        case .refusedTokens:
            log.error(
                "the provider refuses token after token; none was forgotten",
                .hint("compare environment and bundleId of the app with the builds that register tokens"))
            return .refusedCredentials
        case .refusedCredentials:
            log.error("the provider refuses the credentials", .hint("check teamId, keyId, keyFile and environment"))
            return .refusedCredentials
        }
    }
}
