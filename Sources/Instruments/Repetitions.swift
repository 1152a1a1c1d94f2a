/// Limits how often one kind of line is written: the first few in each window, then a count.
struct Repetitions {
    struct Kind: Hashable {
        let level: LogLevel
        let component: String
        let message: String
    }

    enum Verdict: Equatable {
        /// Write it, and say how many of its kind were left out since the last.
        case write(suppressed: Int)
        case suppress
    }

    private struct Window {
        var startMilliseconds: Int64
        var written = 0
        var suppressed = 0
    }

    let burst = 5
    let windowMilliseconds: Int64 = 10_000
    /// Messages are literals, so a program has a few hundred; the limit only bounds a mistake.
    let maxKinds = 1024
    private var windows: [Kind: Window] = [:]
    var kinds: Int { windows.count }

    mutating func admit(_ kind: Kind, nowMilliseconds: Int64) -> Verdict {
        guard var window = windows[kind] else {
            if windows.count >= maxKinds { forgetQuiet(nowMilliseconds) }
            if windows.count < maxKinds { windows[kind] = Window(startMilliseconds: nowMilliseconds, written: 1) }
            return .write(suppressed: 0)
        }
        defer { windows[kind] = window }
        // A clock that stepped back starts a window as well, else the line would be silent until it caught up.
        if nowMilliseconds < window.startMilliseconds
            || nowMilliseconds - window.startMilliseconds >= windowMilliseconds
        {
            let suppressed = window.suppressed
            window = Window(startMilliseconds: nowMilliseconds, written: 1)
            return .write(suppressed: suppressed)
        }
        guard window.written < burst else {
            window.suppressed += 1
            return .suppress
        }
        window.written += 1
        return .write(suppressed: 0)
    }

    /// What is still unsaid, by kind, in a stable order; forgets everything.
    mutating func drain() -> [(Kind, suppressed: Int)] {
        defer { windows = [:] }
        return windows.filter { $0.value.suppressed > 0 }
            .map { ($0.key, suppressed: $0.value.suppressed) }
            .sorted { ($0.0.component, $0.0.message) < ($1.0.component, $1.0.message) }
    }

    private mutating func forgetQuiet(_ nowMilliseconds: Int64) {
        windows = windows.filter {
            $0.value.suppressed > 0 || nowMilliseconds - $0.value.startMilliseconds < windowMilliseconds
        }
    }
}
