import Instruments
import Pipeline

/// The demo while it runs: one screen that is redrawn on a terminal, now and then a plain line elsewhere.
final class DemoScreen {
    private static let plainLineEveryMilliseconds: Int64 = 5_000
    private let input: DemoInput
    private let factor: Double
    private let isTerminal: Bool
    private var lines = 0
    private var nextPlainMilliseconds: Int64 = 0

    init(input: DemoInput, factor: Double, isTerminal: Bool = Console.isTerminal) {
        self.input = input
        self.factor = factor
        self.isTerminal = isTerminal
    }

    func show(_ progress: DemoProgress) {
        func number(_ name: String, _ label: String) -> Int64 { progress.metrics.number(name, label) ?? 0 }
        let events = progress.metrics.number("waypulse_activity_events_total") ?? 0
        let urgent = number("waypulse_pushes_accepted_total", "urgent")
        let routine = number("waypulse_pushes_accepted_total", "routine")
        let suppressed = events == 0 ? 0 : 1 - Double(urgent + routine) / Double(events)
        let share = min(1, Double(progress.realMilliseconds) * factor / Double(max(1, input.durationMilliseconds)))
        guard isTerminal else {
            guard progress.realMilliseconds >= nextPlainMilliseconds else { return }
            nextPlainMilliseconds = progress.realMilliseconds + DemoScreen.plainLineEveryMilliseconds
            Console.say(
                "\(Figures.percent(share)) of the recording: \(Figures.counted(Int(events), "event")) in, "
                    + "\(Figures.counted(Int(urgent + routine), "push", "pushes")) accepted (\(urgent) urgent), "
                    + "\(Figures.percent(suppressed)) suppressed"
            )
            return
        }
        let width = 40
        let filled = Int(share * Double(width))
        let rows = [
            "waypulse demo · \(input.name) · \(Figures.oneDecimal(factor)) × real time",
            "[" + String(repeating: "█", count: filled) + String(repeating: "·", count: width - filled)
                + "] \(Figures.percent(share))",
            "events in              \(events)",
            "  inside the deadband  \(number("waypulse_decisions_total", "deadband"))",
            "  conflated            \(number("waypulse_decisions_total", "conflated"))",
            "  dropped as wrong     \(["duplicate", "out_of_order", "null_island", "inaccurate", "future", "too_old", "implausible"].reduce(0) { $0 + number("waypulse_decisions_total", $1) })",
            "pushes accepted        \(urgent + routine)   (\(urgent) urgent, \(routine) routine)",
            "suppressed             \(Figures.percent(suppressed))",
            "in flight              \(progress.inFlight)",
        ]
        clear()
        Console.say(rows.map { "\u{1B}[2K" + $0 }.joined(separator: "\n"))
        lines = rows.count
    }

    /// Makes room for the report.
    func clear() {
        guard isTerminal, lines > 0 else { return }
        Console.say("\u{1B}[\(lines)A\u{1B}[J\u{1B}[1A")
        lines = 0
    }
}
