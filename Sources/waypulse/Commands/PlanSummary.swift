import Pacing
import Pipeline
import Telemetry

/// The sum of a plan, for people and for machines.
enum PlanSummary {
    static func json(_ report: PlanReport) -> String {
        var line = ByteBuffer()
        line.append(raw: #"{"records":"#)
        line.append(integer: report.records)
        line.append(raw: #","activityEvents":"#)
        line.append(integer: report.decisions.activityEvents)
        line.append(raw: #","decisions":{"#)
        for decision in Decision.allCases {
            line.append(string: decision.name)
            line.append(raw: ":")
            line.append(integer: report.decisions[decision])
            line.append(raw: ",")
        }
        line.append(raw: #""pending":"#)
        line.append(integer: report.decisions.pending)
        line.append(raw: #"},"decisionsSum":"#)
        line.append(integer: report.decisions.sum)
        line.append(raw: #","weekRollovers":"#)
        line.append(integer: report.decisions.weekRollovers)
        line.append(raw: #","deadLetters":"#)
        append(report.deadLetters, to: &line)
        line.append(raw: #","unpushable":"#)
        append(report.unpushable, to: &line)
        line.append(raw: #","pushes":"#)
        line.append(integer: report.pushes)
        line.append(raw: #","sends":{"#)
        for (place, send) in report.sends.enumerated() {
            if place > 0 { line.append(raw: ",") }
            line.append(string: send.reason)
            line.append(raw: ":")
            line.append(integer: send.count)
        }
        line.append(raw: #"},"activities":"#)
        line.append(integer: report.activityHours.activities)
        line.append(raw: #","activityHours":"#)
        line.append(double: report.activityHours.hours)
        line.append(raw: #","pushesPerActivityHour":"#)
        if let rate = report.pushesPerActivityHour { line.append(double: rate) } else { line.append(raw: "null") }
        line.append(raw: "}")
        return line.text
    }

    private static func append(_ counts: [String: Int], to line: inout ByteBuffer) {
        line.append(raw: "{")
        for (place, count) in counts.sorted(by: { $0.key < $1.key }).enumerated() {
            if place > 0 { line.append(raw: ",") }
            line.append(string: count.key)
            line.append(raw: ":")
            line.append(integer: count.value)
        }
        line.append(raw: "}")
    }

    static func text(_ report: PlanReport) -> String {
        let decisions = report.decisions
        var text = Figures.counted(report.records, "record")
        text += ", " + Figures.counted(Int(decisions.activityEvents), "activity event")
        text += ", " + Figures.counted(report.pushes, "push", "pushes")
        if decisions[.deadLetter] < decisions.activityEvents {
            text += " (\(Figures.percent(1 - Double(report.pushes) / Double(decisions.activityEvents))) suppressed)"
        }
        text += "\n\ndecisions\n"
        let rows = Decision.allCases.map { ($0.name, decisions[$0]) } + [("pending", decisions.pending)]
        for (name, count) in rows where count > 0 { text += Figures.row(name, count) }
        text += Figures.row("= sum", decisions.sum)
        if report.pushes > 0 { text += "\nsends by reason (one send may have several)\n" }
        for send in report.sends where send.count > 0 { text += Figures.row(send.reason, send.count) }
        for (title, counts) in [("dead letters", report.deadLetters), ("refused payloads", report.unpushable)]
        where !counts.isEmpty {
            text += "\n\(title)\n"
            for (name, count) in counts.sorted(by: { $0.key < $1.key }) { text += Figures.row(name, UInt64(count)) }
        }
        if let rate = report.pushesPerActivityHour {
            text +=
                "\n\(Figures.oneDecimal(rate)) pushes per activity and hour (\(Figures.counted(report.activityHours.activities, "activity", "activities")))\n"
        }
        return text
    }
}

/// Numbers as reports show them.
enum Figures {
    static func row(_ name: String, _ count: UInt64) -> String {
        let number = String(count)
        return "  \(name)\(String(repeating: " ", count: max(1, 32 - name.count - number.count)))\(number)\n"
    }

    static func counted(_ count: Int, _ one: String, _ many: String? = nil) -> String {
        "\(count) \(count == 1 ? one : many ?? one + "s")"
    }

    static func oneDecimal(_ value: Double) -> String {
        let tenths = Int64((value * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))"
    }

    static func percent(_ share: Double) -> String { oneDecimal(share * 100) + " %" }
}
