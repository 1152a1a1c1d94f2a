import Configuration
import Glibc
import Sockets
import Streams
import Telemetry

enum ReplayCommand: Command {
    static let name = "replay"
    static let summary = "Publish recordings anew, to Redis Streams"
    static let examples: [Example] = [
        Example(
            "waypulse replay ride.jsonl --to redis://localhost --topic rides --partitions 8",
            "As it was recorded, now."),
        Example(
            "waypulse replay monday.jsonl.zst --config waypulse.yaml --speed 20x",
            "Twenty times as fast, to the topic that the configuration reads."),
        Example(
            "waypulse replay fleet.jsonl --to redis://localhost --topic load --partitions 8 --speed max --rate 5000/s --loop 10",
            "A steady load of 5000 records a second, the recording ten times over."),
    ]
    static let operands = "RECORDING…"
    static let details = """
        Between two records passes as much time as was recorded, divided by the speed; each event's timestamp is moved by as much as its
        record, so it was sent a moment ago again. At max, times are pressed together a thousandfold at most. Beyond 1x a courier seems to
        be faster by the same factor: raise the reader's pacing.maxSpeedMetersPerSecond by it (at 20x from 100 to 2000), or positions
        count as jumps.

        The stream is NAME:{i}, where i is zlib's CRC32 of the record's key, modulo the number of partitions. The key is the one that
        the recording tells; else the subject that the activity follows from its activity.started on; else the id in the event.

        Entries are appended with the id *. Where an answer was lost, that record and those behind it in its stream are appended again.
        The report goes to standard output.

        """ + TopicPlace.help
    private static let to = Flag("--to", value: "URL", "Where the Redis is, for example redis://localhost:6379")
    private static let speed = Flag("--speed", value: "FACTOR", "1x (the default), 20x or max")
    private static let keepTimes = Flag("--keep-times", "Leave each event's timestamp as it was recorded")
    private static let loops = Flag("--loop", value: "N", "Play the recording so many times, one after the other")
    private static let rate = Flag("--rate", value: "N/s", "At most so many records a second")
    private static let maxLength = Flag(
        "--max-length", value: "N", "Trim each stream to about so many entries (MAXLEN ~)")
    static let flags: [Flag] =
        [to] + TopicPlace.flags + [speed, keepTimes, loops, rate, maxLength, .json]

    static func run(_ arguments: Arguments) throws -> ExitCode {
        // Before any thread begins, so that each of them leaves signals to the one that waits for them.
        let signals = StopSignals()
        let words = "waypulse replay ride.jsonl --to redis://localhost --topic rides --partitions 8"
        let paths = arguments.operands
        guard !paths.isEmpty else { throw CommandFault(.usage, "replay needs a recording", remedy: words) }
        var paced = arguments
        paced.add("source.speed=\(arguments.value(speed) ?? "1x")", to: .set)
        let rate = try rate(arguments)
        let passes = try arguments.integer(loops, default: 1, in: 1...1_000_000)
        guard passes == 1 || !paths.contains("-") else {
            throw CommandFault(.usage, "standard input can be played only once", remedy: "record it into a file first")
        }
        var maxLength: Int64?
        if arguments.has(Self.maxLength) {
            maxLength = Int64(try arguments.integer(Self.maxLength, default: 1, in: 1...1_000_000_000))
        }
        let place = try TopicPlace(paced, url: to, command: name, words: words)
        var options = ReplayOptions(partitions: place.partitions)
        options.speed = place.configuration[Options.source.speed]
        options.keepsTimes = arguments.has(keepTimes)
        options.recordsPerSecond = rate
        options.passes = passes
        var settings = RedisStreamWriter.Settings(topic: place.topic, partitions: place.partitions)
        settings.bodyField = place.bodyField
        settings.maxLength = maxLength
        // A file that is not there is told before anything is connected to.
        let first = try open(paths)
        let topic = try TopicLoop(place, signals: signals)
        let player = try ReplayRun(options, open: opening(paths, first), settings: settings, on: topic)
        try player.run()
        let report = player.report
        if arguments.has(.json) {
            Console.print(report.json + "\n")
        } else {
            Console.print(report.text(place: place.description))
        }
        return .success
    }

    private static func rate(_ arguments: Arguments) throws -> Double? {
        guard let text = arguments.value(rate) else { return nil }
        guard let number = Double(text.hasSuffix("/s") ? String(text.dropLast(2)) : text), number.isFinite, number > 0
        else { throw CommandFault(.usage, "--rate takes records a second, not \"\(text)\"", remedy: "--rate 5000/s") }
        return number
    }

    private static func open(_ paths: [String]) throws(SourceFault) -> MergedRecordings {
        var recordings: [Recording] = []
        // Whoever passes events on takes those of any app.
        for path in paths { recordings.append(try Recording(path: path, apps: nil)) }
        return MergedRecordings(recordings)
    }

    /// The first pass plays what was opened already.
    private static func opening(
        _ paths: [String], _ first: MergedRecordings
    ) -> () throws(SourceFault) -> MergedRecordings {
        var first: MergedRecordings? = first
        return { () throws(SourceFault) in
            defer { first = nil }
            if let first { return first }
            return try open(paths)
        }
    }
}
