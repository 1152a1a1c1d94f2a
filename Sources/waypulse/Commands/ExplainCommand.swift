import Configuration
import Flow
import Pipeline
import Streams
import Telemetry

enum ExplainCommand: Command {
    private static let api = Flag(
        "--api", value: "URL", "Ask the HTTP API of that running member, for example http://127.0.0.1:9480")
    private static let keyFile = Flag(
        "--keyFile", value: "FILE",
        "Read the API's key from this file, or credential:NAME; it needs the scope explain:read")

    static let name = "explain"
    static let summary = "Show why a card moved or did not: the last decisions for an activity, with their numbers"
    static let examples: [Example] = [
        Example(
            "waypulse explain order-1 recording.jsonl --from 12:01 --to 12:04",
            "Play a recording up to 12:04, and tell what was decided for order-1 since 12:01, and how it stood then."),
        Example(
            "waypulse explain order-1 --api http://127.0.0.1:9480 --keyFile explain.key",
            "Ask a running member; one that does not own the activity says who does, and that one is asked."),
        Example("waypulse explain order-1 --json recording.jsonl", "The same with all numbers, as JSON."),
    ]
    static let operands = "ACTIVITY [RECORDING…]"
    static let details = """
        First comes why nothing moves, or what is about to, and how the activity stands; then a line a decision, and one for several alike in a row.
        Options to change stand in the lines where they decided.

        A recording is played as plan does, in virtual time, every push accepted at once: it shows what pacing decides, not what a provider
        answered. A member remembers the decisions of its activities in explain.memoryMiB, since it owns them.
        """
    static let flags: [Flag] = [TimeWindow.from, TimeWindow.to, api, keyFile, .config, .set, .json]

    static func run(_ arguments: Arguments) throws -> ExitCode {
        guard let activity = arguments.operands.first else {
            throw CommandFault(
                .usage, "explain needs the id of an activity", remedy: "waypulse explain order-1 recording.jsonl")
        }
        let window = try TimeWindow(arguments)
        let recordings = Array(arguments.operands.dropFirst())
        if recordings.isEmpty { return try ask(activity, window, arguments) }
        if arguments.has(api) {
            throw CommandFault(
                .usage, "--api asks a running member, and \(recordings[0]) is a recording: only one of them can answer",
                remedy: "leave one out")
        }
        return try play(activity, recordings, window, arguments)
    }

    // MARK: A recording

    private static func play(
        _ activity: String, _ paths: [String], _ window: TimeWindow, _ arguments: Arguments
    ) throws -> ExitCode {
        let configuration = try arguments.configuration(warns: !arguments.has(.json))
        var settings = try LaneSettings(configuration, planTargets: true, seed: 0)
        guard settings.explanationBytes > 0 else {
            throw CommandFault(
                .configuration, "explain.memoryMiB is 0: no decisions are remembered",
                remedy: "waypulse explain --set explain.memoryMiB=16 …")
        }
        // One activity is asked for, but all of the recording share the memory.
        settings.explanationBytes = max(settings.explanationBytes, 64 << 20)
        let recordings = try paths.map { try Recording(path: $0, apps: configuration.apps) }
        let planner = Planner(settings: settings, recordings: MergedRecordings(recordings), onSend: { _, _ in })
        var bounds: (begin: Int64?, end: Int64?) = (nil, nil)
        try planner.play { first in
            bounds = window.bounds(afterFirst: first)
            return bounds.end
        }
        let source = paths.joined(separator: " ")
        guard let explanation = planner.explanation(of: activity) else {
            Console.error(
                bounds.end == nil
                    ? "\(source) has no activity \"\(activity)\""
                    : "\(source) has no activity \"\(activity)\" until then",
                remedy: "waypulse plan \(source), which names the activity of each push")
            return .failure
        }
        let document = ExplanationDocument.json(explanation, isPlayed: true)
        return try show(document, origin: "from \(source)", bounds, arguments)
    }

    // MARK: A member

    private static func ask(_ activity: String, _ window: TimeWindow, _ arguments: Arguments) throws -> ExitCode {
        guard let text = arguments.value(api) else {
            throw CommandFault(
                .usage, "explain needs a recording, or --api and the address of a running member",
                remedy: "waypulse explain \(activity) recording.jsonl")
        }
        let asked = try MemberQuestion(activity, api: text, key: try arguments.value(keyFile).map(APIKey.read)).ask()
        guard let page = ExplanationPage(asked.document) else {
            throw CommandFault(
                .unavailable, "\(asked.address) answered with something that is no explanation",
                remedy: "is that the api.listen of a member?")
        }
        return try show(
            asked.document, origin: "from the member at \(asked.address)", window.bounds(before: page.atMilliseconds),
            arguments)
    }

    private static func show(
        _ document: [UInt8], origin: String, _ bounds: (begin: Int64?, end: Int64?), _ arguments: Arguments
    ) throws -> ExitCode {
        if arguments.has(.json) {
            Console.print(String(decoding: document, as: UTF8.self) + "\n")
        } else if let page = ExplanationPage(document) {
            Console.print(page.text(origin: origin, from: bounds.begin, to: bounds.end))
        }
        return .success
    }
}
