import Configuration
import Instruments
import Operations
import Pipeline
import Synchronization

/// What surrounds every run: its log, its metrics, its readiness, and how it is asked to stop.
final class RunSurroundings: Sendable {
    let registry: Registry
    let log: Log
    let stop = StopRequest()
    private let sink: LogSink
    private let readiness = Readiness()
    private let notifier = ServiceNotifier()
    private let listener: OperationsListener?
    private let stopHandlers = Mutex<[@Sendable () -> Void]>([])

    /// - Throws: where metrics cannot be listened for.
    init(_ configuration: Configuration) throws {
        let registry = Registry()
        self.registry = registry
        sink = LogSink(configuration, registry: registry)
        log = Log(component: "waypulse", to: sink)
        for warning in configuration.secretFileWarnings {
            log.warning("a secret lies open", .hint(warning))
        }
        let readiness = readiness
        listener = try configuration[Options.process.metricsListen].map { address in
            do {
                return try OperationsListener(
                    host: address.host, port: UInt16(address.port), registry: registry, readiness: readiness)
            } catch {
                throw CommandFault(
                    .unavailable, "\(error)", remedy: "--set metrics.listen=off, or --set metrics.listen=127.0.0.1:0")
            }
        }
    }

    func begin(_ signals: StopSignals, source: String, _ settings: RunSettings) {
        signals.onFirst { [self] in
            readiness.become(.stopping)
            notifier.stopping(drainMilliseconds: settings.drainTimeoutMilliseconds)
            for handler in stopHandlers.withLock({ $0 }) { handler() }
            stop.stop()
        }
        log.info(
            "running", .field("source", source), .field("metricsPort", listener.map { Int($0.port) } ?? 0))
    }

    /// Called when the run is asked to stop, before it does.
    func onStop(_ handler: @escaping @Sendable () -> Void) { stopHandlers.withLock { $0.append(handler) } }

    func becomeReady() {
        guard readiness.current != .stopping else { return }
        readiness.become(.ready)
        notifier.ready()
    }

    /// - Parameter hindrance: why the process cannot do what it is for; nil where it can.
    func tell(hindrance: String?) {
        switch (readiness.current, hindrance) {
        case (.stopping, _), (.ready, nil): break
        case (_, let why?): readiness.become(.hindered(why))
        case (_, nil): becomeReady()
        }
    }

    func end() {
        listener?.stop()
        sink.flush()
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
