import Glibc
import Synchronization

/// How lines look.
public enum LogFormat: String, Sendable {
    /// For people: `12:30:05.123 warning delivery connection lost host=… `.
    case text
    /// For machines: one JSON object a line.
    case json

    /// Text where standard error is a terminal, else JSON.
    public static var forStandardError: LogFormat { isatty(STDERR_FILENO) == 1 ? .text : .json }
}

/// Where log lines go. One lock guards the table of repetitions; a line is kept whole by being written in one call.
public final class LogSink: Sendable {
    public let level: LogLevel
    public let format: LogFormat
    private let repetitions: Mutex<Repetitions>
    private let lines: Counter<LogLevel>?
    private let now: @Sendable () -> Int64
    private let output: @Sendable ([UInt8]) -> Void

    /// - Parameters:
    ///   - registry: where `waypulse_log_messages_total` is declared, if anywhere.
    ///   - now: Unix time in milliseconds.
    ///   - output: takes one whole line with its line feed.
    public init(
        level: LogLevel = .info, format: LogFormat, registry: Registry? = nil,
        now: @escaping @Sendable () -> Int64 = LogSink.wallClockMilliseconds,
        output: @escaping @Sendable ([UInt8]) -> Void = LogSink.writeToStandardError
    ) {
        self.level = level
        self.format = format
        self.now = now
        self.output = output
        repetitions = Mutex(Repetitions())
        lines = registry?.counter(
            "waypulse_log_messages_total", by: LogLevel.self, help: "Log lines by level, suppressed ones included.")
    }

    func write(_ level: LogLevel, component: String, message: String, _ fields: [LogField]) {
        lines?.add(1, level)
        let time = now()
        let kind = Repetitions.Kind(level: level, component: component, message: message)
        guard case .write(let suppressed) = repetitions.withLock({ $0.admit(kind, nowMilliseconds: time) }) else {
            return
        }
        let line = LogLine(
            timeMilliseconds: time, level: level, component: component, message: message, fields: fields,
            suppressed: suppressed)
        output(line.bytes(format))
    }

    /// Says of each kind how many lines are still unsaid; call it last.
    public func flush() {
        let time = now()
        for (kind, suppressed) in repetitions.withLock({ $0.drain() }) {
            let line = LogLine(
                timeMilliseconds: time, level: kind.level, component: kind.component, message: kind.message, fields: [],
                suppressed: suppressed)
            output(line.bytes(format))
        }
    }

    public static let wallClockMilliseconds: @Sendable () -> Int64 = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// A line that standard error does not take (closed, full disk) is lost: a log must never stop the program.
    public static let writeToStandardError: @Sendable ([UInt8]) -> Void = { line in
        line.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let result = Glibc.write(STDERR_FILENO, bytes.baseAddress! + written, bytes.count - written)
                if result < 0 && errno == EINTR { continue }
                guard result > 0 else { return }
                written += result
            }
        }
    }
}
