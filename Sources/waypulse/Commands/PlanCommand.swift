import Configuration
import Flow
import Pacing
import Pipeline
import Streams
import Telemetry

enum PlanCommand: Command {
    static let name = "plan"
    static let summary = "Show what would be sent for recordings, and why; nothing is sent"
    static let examples: [Example] = [
        Example(
            "waypulse plan recording.jsonl", "One JSON line a push on standard output, a summary on standard error."),
        Example(
            "waypulse plan --set pacing.deadbandMeters=50 monday.jsonl.zst tuesday.jsonl",
            "Try another deadband on two recordings."),
        Example("cat recording.jsonl | waypulse plan --json -", "From standard input, the summary as JSON."),
    ]
    static let operands = "RECORDING…"
    static let details = """
        A recording holds one event a line (see schemas/), compressed if it ends in .zst; - is standard input. Several are merged by
        time. The engine runs in virtual time, and every push is accepted at once. The same input gives the same bytes.
        """
    static let flags: [Flag] = [.config, .set, .json]

    static func run(_ arguments: Arguments) throws -> ExitCode {
        guard !arguments.operands.isEmpty else {
            throw CommandFault(.usage, "plan needs a recording", remedy: "waypulse plan recording.jsonl")
        }
        let configuration = try arguments.configuration(warns: !arguments.has(.json))
        let settings = try LaneSettings(configuration, planTargets: true, seed: 0)
        let recordings = try arguments.operands.map { try Recording(path: $0, apps: configuration.apps) }
        let output = LineOutput()
        let planner = Planner(
            settings: settings, recordings: MergedRecordings(recordings),
            onSend: { update, bytes in output.write { PlanLine.write(update, bytes: bytes, into: &$0) } })
        try planner.run()
        output.flush()
        Console.say(arguments.has(.json) ? PlanSummary.json(planner.report) : PlanSummary.text(planner.report))
        let source = arguments.operands.joined(separator: " ")
        guard !arguments.has(.json) else { return .success }
        if planner.report.records == 0 { Console.say("warning: no record in \(source)") }
        if !planner.report.deadLetters.isEmpty {
            Console.say("try:   waypulse validate \(source), which tells each dead letter with its line")
        }
        return .success
    }
}

enum PlanLine {
    static func write(_ update: Update, bytes: Int, into line: inout ByteBuffer) {
        line.append(raw: #"{"time":"#)
        line.append(secondsOfMilliseconds: update.takenAt.nowMilliseconds)
        line.append(raw: #","activityId":"#)
        line.append(string: update.activityIdentifier)
        line.append(raw: #","sequence":"#)
        line.append(integer: update.sequence)
        line.append(raw: #","event":"#)
        line.append(string: update.kind.name)
        line.append(raw: #","reasons":["#)
        for (place, reason) in update.reasons.names.enumerated() {
            if place > 0 { line.append(raw: ",") }
            line.append(string: reason)
        }
        line.append(raw: #"],"class":"#)
        line.append(string: update.isUrgent ? "urgent" : "routine")
        line.append(raw: #","priority":"#)
        line.append(integer: update.priority)
        if let position = update.position {
            line.append(raw: #","latitude":"#)
            line.append(double: position.latitude)
            line.append(raw: #","longitude":"#)
            line.append(double: position.longitude)
        }
        if let timestamp = update.positionTimestampMilliseconds {
            line.append(raw: #","positionTimestamp":"#)
            line.append(secondsOfMilliseconds: timestamp)
        }
        line.append(raw: #","bytes":"#)
        line.append(integer: bytes)
        line.append(raw: #","contentState":"#)
        line.append(update.contentState)
        line.append(raw: "}\n")
    }
}

extension Update.Kind {
    /// As `aps.event` writes it.
    var name: String {
        switch self {
        case .start: "start"
        case .update: "update"
        case .end: "end"
        }
    }
}
