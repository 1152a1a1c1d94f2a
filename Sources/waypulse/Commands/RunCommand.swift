import Configuration
import Flow
import Instruments
import Operations
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
        Example("producer | waypulse run --config waypulse.yaml -", "Live, from standard input."),
    ]
    static let operands = "[RECORDING…]"
    static let details = """
        The recording may stand in the configuration as source.recording; - is standard input, which is live unless --speed is given.
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
        guard !paths.isEmpty else {
            throw CommandFault(
                .usage, "run needs a source", remedy: "waypulse run --config waypulse.yaml recording.jsonl")
        }
        let isLive = paths == ["-"] && !arguments.has(speed)
        let registry = Registry()
        let sink = LogSink(configuration, registry: registry)
        defer { sink.flush() }
        let log = Log(component: "waypulse", to: sink)
        let settings = try RunSettings(configuration, pace: isLive ? .live : Pace(configuration))
        let recordings = try paths.map { try Recording(path: $0, apps: configuration.apps) }
        let readiness = Readiness()
        let notifier = ServiceNotifier()
        let listener = try configuration[Options.process.metricsListen].map { address in
            do {
                return try OperationsListener(
                    host: address.host, port: UInt16(address.port), registry: registry, readiness: readiness)
            } catch {
                throw CommandFault(
                    .unavailable, "\(error)", remedy: "--set metrics.listen=off, or --set metrics.listen=127.0.0.1:0")
            }
        }
        defer { listener?.stop() }
        let stop = StopRequest()
        let runner = try LaneRunner(
            settings: settings, recordings: MergedRecordings(recordings), registry: registry, log: log, stop: stop)
        signals.onFirst {
            readiness.become(.stopping)
            notifier.stopping(drainMilliseconds: settings.drainTimeoutMilliseconds)
            stop.stop()
        }
        readiness.become(.ready)
        notifier.ready()
        log.info(
            "running", .field("source", paths.joined(separator: " ")),
            .field("metricsPort", listener.map { Int($0.port) } ?? 0))
        let ending = try runner.run()
        tell(registry.snapshot(), log)
        return exitCode(ending, log)
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
            log.info("stopped; nothing was in flight")
            return .success
        case .drainDeadlineExceeded(let inFlight):
            log.error("stopped with updates in flight", .field("inFlight", inFlight), .hint("raise drainTimeout"))
            return .drainDeadlineExceeded
        case .refusedCredentials:
            log.error("the provider refuses the credentials", .hint("check teamId, keyId, keyFile and environment"))
            return .refusedCredentials
        }
    }
}

extension LogSink {
    convenience init(_ configuration: Configuration, registry: Registry) {
        guard let level = LogLevel(rawValue: configuration[Options.process.logLevel]) else {
            preconditionFailure(
                "log.level: \(configuration[Options.process.logLevel]) is declared and unknown to the log")
        }
        self.init(
            level: level, format: LogFormat(rawValue: configuration[Options.process.logFormat]) ?? .forStandardError,
            registry: registry)
    }
}
