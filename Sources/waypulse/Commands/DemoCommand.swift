import Configuration
import Instruments
import Pipeline

enum DemoCommand: Command {
    static let name = "demo"
    static let summary = "Run everything at once, against the bundled simulator, and judge the result"
    static let examples: [Example] = [
        Example("waypulse demo", "A few hundred deliveries in about half a minute."),
        Example("waypulse demo recording.jsonl", "The same with a recording of one's own."),
        Example("waypulse demo --set pacing.deadbandMeters=25 --json", "With another deadband, the report as JSON."),
    ]
    static let operands = "[RECORDING…]"
    static let details = """
        Everything is real but the phones: TLS, HTTP/2, provider tokens, cadence. An activity of a recording that names no target gets a
        token at its first event. Exit code 1 if the judge finds a broken promise in what the simulator saw.
        """
    private static let activities = Flag("--deliveries", value: "N", "How many deliveries; the default is 300")
    private static let seed = Flag("--seed", value: "N", "Another fleet; the default is 1")
    private static let speed = Flag(
        "--speed", value: "FACTOR",
        "How many times as fast as real time, for example 20x; the default fits half a minute")
    private static let journal = Flag(
        "--journal", value: "FOLDER", "Keep the simulator's journal and key in this folder")
    static let flags: [Flag] = [.config, .set, activities, seed, speed, journal, .json]

    /// Leaves time for what is still held at the end.
    private static let realMilliseconds: Int64 = 25_000

    static func run(_ arguments: Arguments) throws -> ExitCode {
        let signals = StopSignals()
        var words = arguments
        if let speed = arguments.value(speed) { words.add("source.speed=\(speed)", to: .set) }
        let configuration = try words.configuration()
        if let unused = [activities, seed].first(where: arguments.has), !arguments.operands.isEmpty {
            throw CommandFault(
                .usage, "\(unused.name) makes a fleet, and a recording was given",
                remedy: "waypulse demo \(arguments.operands.joined(separator: " "))")
        }
        let input =
            arguments.operands.isEmpty
            ? DemoInput.fleet(
                activities: try arguments.integer(activities, default: 300, in: 1...100_000),
                seed: UInt64(try arguments.integer(seed, default: 1, in: 0...Int.max)))
            : try DemoInput.recordings(arguments.operands, configuration)
        guard !input.lines.isEmpty else {
            throw CommandFault(.unavailable, "\(input.name): holds no record", remedy: "waypulse demo")
        }
        let factor = try factor(arguments, configuration, input)
        let registry = Registry()
        let sink = LogSink(level: .error, format: .forStandardError)
        let demo = Demo(
            input: input, configuration: configuration, factor: factor, journalDirectory: arguments.value(journal))
        let screen = DemoScreen(input: input, factor: factor)
        let stop = StopRequest()
        signals.onFirst { stop.stop() }
        Console.say(
            "\(input.name), \(Figures.oneDecimal(factor)) times as fast as real time, over TLS to the bundled simulator"
        )
        let outcome = try demo.run(
            stop: stop, log: Log(component: "demo", to: sink), registry: registry, onTick: screen.show)
        screen.clear()
        sink.flush()
        guard outcome.ending == .finished else {
            throw CommandFault(.failure, "the demo was ended before its recording (\(outcome.ending))")
        }
        let report = DemoReport(input: input, outcome: outcome, factor: factor)
        Console.print(arguments.has(.json) ? report.json : report.text)
        return outcome.broken.isEmpty && outcome.decisions.sum == outcome.decisions.activityEvents ? .success : .failure
    }

    private static func factor(_ arguments: Arguments, _ configuration: Configuration, _ input: DemoInput) throws
        -> Double
    {
        guard arguments.has(speed) else { return max(1, Double(input.durationMilliseconds) / Double(realMilliseconds)) }
        guard let factor = configuration[Options.source.speed] else {
            throw CommandFault(.usage, "the demo's phones need a clock that runs", remedy: "waypulse demo --speed 100x")
        }
        return factor
    }
}
