import RedisClient
import Sockets
import Streams
import Telemetry

enum DlqRedriveCommand: Command {
    static let name = "dlq redrive"
    static let summary = "Publish again what could not be used, once its cause is mended"
    static let examples: [Example] = [
        Example(
            "waypulse dlq redrive --config waypulse.yaml --topic rides --reason unknown_app --dry-run",
            "How many there are; nothing is done."),
        Example(
            "waypulse dlq redrive --config waypulse.yaml --topic rides --reason unknown_app --rate 200/s",
            "Back to the streams that they came from, 200 a second."),
        Example(
            "waypulse dlq redrive dead-letters.jsonl -o again.jsonl",
            "From a file into a recording, for waypulse run, or for waypulse replay --to."),
    ]
    static let operands = "[FILE…]"
    static let details = """
        Streams: the record goes back into the stream it came from, byte for byte with all its fields, and leaves the dead letters, in one step of
        Redis: however often this is run or cut short, each letter is published once. Letters that come meanwhile are left for another time. One
        that cannot be used again comes back with one attempt more.

        Kafka: the record goes back into the topic and partition that it came from, byte for byte with its key and headers. Letters cannot be
        removed from a topic. How far they were published again the consumer group GROUP.dlq notes in each partition of dlq.NAME, where
        GROUP is source.kafka.group: the next redrive goes on there. A letter that the filter leaves holds that place, so those behind it
        come again, and what reads them discards what is older than what it knows. --again begins at the first letter that is there.

        Files: the records are written to a new recording, each once though its letter may stand there twice; the file is left as it is. Line
        breaks in a record become blanks.

        A position that is older than what its phone was told is discarded, as ever. Updates (stage push) are no records: they are counted and
        left. It exits with 1 where something was left for which it was asked.

        """ + DlqPlace.help
    private static let output = Flag(
        "-o", value: "FILE",
        "The recording to write what files hold to, compressed if it ends in .zst; - is standard output")
    private static let rate = Flag("--rate", value: "N/s", "At most so many records a second, into streams and topics")
    private static let again = Flag("--again", "Kafka: begin at the first letter that is there")
    private static let dryRun = Flag("--dry-run", "Say what would be done, and do nothing")
    static let flags: [Flag] = DlqFilter.flags + [output, rate, again, dryRun] + DlqPlace.flags + [.json]

    static func run(_ arguments: Arguments) throws -> ExitCode {
        let signals = StopSignals()
        let rate = try rate(arguments)
        let place = try DlqPlace(arguments, command: name)
        let walk = DlqWalk(place, try DlqFilter(arguments))
        var redrive = Redrive(walk: walk, isDry: arguments.has(dryRun))
        switch place {
        case .files(let paths):
            guard rate == nil else {
                throw CommandFault(
                    .usage, "--rate is for streams and topics", remedy: "waypulse replay --rate, with the recording")
            }
            let path = arguments.value(output)
            guard path != nil || redrive.isDry else {
                throw CommandFault(
                    .usage, "dlq redrive needs a recording to write what files hold to",
                    remedy: "waypulse dlq redrive \(paths.joined(separator: " ")) -o again.jsonl")
            }
            try redrive.files(paths, to: path)
        case .streams(let topic, let name, let prefix):
            guard !arguments.has(output) else {
                throw CommandFault(.usage, "-o is for files; records of streams go back to their streams", remedy: nil)
            }
            try redrive.streams(topic, name, prefix, rate, signals)
        case .topic(let topic, let prefix):
            guard !arguments.has(output) else {
                throw CommandFault(.usage, "-o is for files; records of topics go back to their topics", remedy: nil)
            }
            try redrive.topic(topic, prefix, rate, again: arguments.has(again), signals)
        }
        if arguments.has(.json) {
            Console.print(redrive.json + "\n")
        } else {
            Console.print(redrive.text(of: place))
            redrive.walk.warn()
        }
        return redrive.isWhole ? .success : .failure
    }

    private static func rate(_ arguments: Arguments) throws -> Double? {
        guard let text = arguments.value(rate) else { return nil }
        guard let number = Double(text.hasSuffix("/s") ? String(text.dropLast(2)) : text), number.isFinite, number > 0
        else { throw CommandFault(.usage, "--rate takes records a second, not \"\(text)\"", remedy: "--rate 200/s") }
        return number
    }
}
