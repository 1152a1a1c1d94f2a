import Instruments
import Pacing
import Pipeline
import PushSimulator
import Telemetry

/// What a demo tells at its end.
struct DemoReport {
    let input: DemoInput
    let outcome: Demo.Outcome
    let factor: Double

    private var accepted: Int { outcome.entries.count { $0.status == 200 } }
    private var shown: Int { outcome.entries.count { $0.verdict?.isShown == true } }
    /// What was answered but 200, and what was left without an answer.
    private var otherAnswers: [(String, Int)] {
        let names = outcome.entries.filter { $0.status != 200 }
            .map { $0.status == 0 ? "no answer" : "\($0.status) \($0.reason ?? "")" }
        return Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +).sorted { $0.key < $1.key }
    }
    private var suppressedShare: Double {
        outcome.decisions.activityEvents == 0 ? 0 : 1 - Double(accepted) / Double(outcome.decisions.activityEvents)
    }
    private var pushesPerActivityHour: Double {
        outcome.activityHours.hours > 0 ? Double(accepted) / outcome.activityHours.hours : 0
    }

    /// Real milliseconds: the recording's clock ran `factor` times as fast.
    private func quantile(_ share: Double, _ label: LaneInstruments.ClassLabel) -> Double? {
        outcome.metrics.distribution("waypulse_event_to_accepted_seconds", label.rawValue)?.quantile(share).map {
            Double($0) / 1_000
        }
    }

    var text: String {
        let decisions = outcome.decisions
        var text =
            "\(input.name) at \(Figures.oneDecimal(factor)) times real speed, \(Figures.oneDecimal(Double(outcome.realMilliseconds) / 1_000)) s\n\n"
        text += "decisions on \(decisions.activityEvents) activity events\n"
        for decision in Decision.allCases where decisions[decision] > 0 {
            text += Figures.row(decision.name, decisions[decision])
        }
        if decisions.pending > 0 { text += Figures.row("pending", decisions.pending) }
        text += Figures.row("= sum", decisions.sum)
        text += "\npushes\n"
        text += Figures.row("requests at the provider", UInt64(outcome.entries.count))
        text += Figures.row("accepted", UInt64(accepted))
        for (answer, count) in otherAnswers { text += Figures.row(answer, UInt64(count)) }
        text += Figures.row("shown by a phone", UInt64(shown))
        text += "\n  \(Figures.percent(suppressedShare)) of the events needed no push\n"
        text +=
            "  \(Figures.oneDecimal(pushesPerActivityHour)) pushes per activity and hour (\(Figures.counted(outcome.activityHours.activities, "activity", "activities")))\n"
        for label in LaneInstruments.ClassLabel.allCases {
            guard let median = quantile(0.5, label), let tail = quantile(0.99, label) else { continue }
            text +=
                "  \(label.rawValue): event to accepted p50 \(Figures.oneDecimal(median)) s, p99 \(Figures.oneDecimal(tail)) s on the recording's clock\n"
        }
        text += "  \(OwnProcess.residentBytes / 1_048_576) MiB of memory, simulator and phones included\n\n"
        text += verdict
        return text
    }

    private var verdict: String {
        guard !outcome.broken.isEmpty else {
            return "The judge read \(Figures.counted(outcome.entries.count, "request")) and found no broken promise.\n"
        }
        var text = "The judge found \(Figures.counted(outcome.broken.count, "broken promise")):\n"
        for broken in outcome.broken.prefix(20) { text += "  \(broken)\n" }
        if outcome.broken.count > 20 { text += "  … and \(outcome.broken.count - 20) more\n" }
        return text
    }

    var json: String {
        let decisions = outcome.decisions
        var line = ByteBuffer()
        line.append(raw: #"{"activityEvents":"#)
        line.append(integer: decisions.activityEvents)
        line.append(raw: #","decisions":{"#)
        for decision in Decision.allCases {
            line.append(string: decision.name)
            line.append(raw: ":")
            line.append(integer: decisions[decision])
            line.append(raw: ",")
        }
        line.append(raw: #""pending":"#)
        line.append(integer: decisions.pending)
        line.append(raw: #"},"decisionsSum":"#)
        line.append(integer: decisions.sum)
        line.append(raw: #","requests":"#)
        line.append(integer: outcome.entries.count)
        line.append(raw: #","accepted":"#)
        line.append(integer: accepted)
        line.append(raw: #","shown":"#)
        line.append(integer: shown)
        line.append(raw: #","suppressedShare":"#)
        line.append(double: suppressedShare)
        line.append(raw: #","pushesPerActivityHour":"#)
        line.append(double: pushesPerActivityHour)
        line.append(raw: #","eventToAcceptedSeconds":{"#)
        for (place, label) in LaneInstruments.ClassLabel.allCases.enumerated() {
            if place > 0 { line.append(raw: ",") }
            line.append(string: label.rawValue)
            line.append(raw: #":{"p50":"#)
            line.append(double: quantile(0.5, label) ?? 0)
            line.append(raw: #","p99":"#)
            line.append(double: quantile(0.99, label) ?? 0)
            line.append(raw: "}")
        }
        line.append(raw: #"},"residentBytes":"#)
        line.append(integer: OwnProcess.residentBytes)
        line.append(raw: #","realSeconds":"#)
        line.append(double: Double(outcome.realMilliseconds) / 1_000)
        line.append(raw: #","speed":"#)
        line.append(double: factor)
        line.append(raw: #","brokenPromises":["#)
        for (place, broken) in outcome.broken.enumerated() {
            if place > 0 { line.append(raw: ",") }
            line.append(string: "\(broken)")
        }
        line.append(raw: "]}\n")
        return line.text
    }
}
