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

        Files: the records are written to a new recording, each once though its letter may stand there twice; the file is left as it is. Line
        breaks in a record become blanks.

        A position that is older than what its phone was told is discarded, as ever. Updates (stage push) are no records: they are counted and
        left. It exits with 1 where something was left for which it was asked.

        """ + DlqPlace.help
    private static let output = Flag(
        "-o", value: "FILE",
        "The recording to write what files hold to, compressed if it ends in .zst; - is standard output")
    private static let rate = Flag("--rate", value: "N/s", "At most so many records a second, into streams")
    private static let dryRun = Flag("--dry-run", "Say what would be done, and do nothing")
    static let flags: [Flag] = DlqFilter.flags + [output, rate, dryRun] + DlqPlace.flags + [.json]

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
                    .usage, "--rate is for streams", remedy: "waypulse replay --rate, with the recording")
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

/// One redrive from its first letter to its report.
private struct Redrive {
    var walk: DlqWalk
    let isDry: Bool
    private var sum = DlqSum()
    private var published = 0
    /// Taken by somebody else, or standing there twice.
    private var gone = 0
    private var updates = 0
    private var isStopped = false

    init(walk: DlqWalk, isDry: Bool) {
        (self.walk, self.isDry) = (walk, isDry)
    }

    /// Whether all was done that was asked for.
    var isWhole: Bool { !isStopped && updates == 0 }

    private mutating func takes(_ letter: DeadLetter) -> Bool {
        guard letter.stage != .push else {
            updates += 1
            return false
        }
        sum.add(letter)
        return true
    }

    mutating func files(_ paths: [String], to path: String?) throws {
        // A file that is there already is told before anything is read.
        let writer = isDry ? nil : try path.map { path throws(SourceFault) in try RecordingWriter(path: path) }
        var written: Set<[String]> = []
        var walk = walk
        try walk.files(paths) { _, letter in
            guard takes(letter) else { return true }
            // Where a process was killed between letter and position, its successor wrote the letter again.
            let isKnown = letter.offset >= 0 || letter.record != nil
            guard !isKnown || written.insert([letter.source, letter.origin, "\(letter.partition)"]).inserted else {
                gone += 1
                return true
            }
            published += 1
            try writer?.write { $0.append(recorded: letter) }
            return true
        }
        self.walk = walk
        try writer?.finish()
    }

    mutating func streams(
        _ place: RedisTopicPlace, _ topic: String, _ prefix: String, _ rate: Double?, _ signals: StopSignals
    ) throws {
        let loop = try TopicLoop(signals: signals)
        let letters = RedisDeadLetters(client: try loop.redis(place.redis), topic: topic, topicPrefix: prefix)
        let begin = EventLoop.currentMilliseconds()
        var walk = walk
        try walk.streams(letters, partitions: place.partitions, on: loop) { partition, page in
            var rest = page.filter { takes($0.letter) }[...]
            while !rest.isEmpty {
                guard !isDry else {
                    published += rest.count
                    return true
                }
                let some = rest.prefix(try room(rate, since: begin, on: loop))
                guard !loop.isStopped else {
                    isStopped = true
                    return false
                }
                rest = rest.dropFirst(some.count)
                let done = try publish(Array(some), of: partition, letters, loop)
                published += done.published
                gone += done.gone
            }
            return true
        }
        self.walk = walk
    }

    private static let lettersAStep = 64
    private static let mostTries = 5

    /// How many may go now; it waits until there is one, or somebody stops it.
    private func room(_ rate: Double?, since begin: Int64, on loop: TopicLoop) throws -> Int {
        guard let rate else { return Self.lettersAStep }
        while !loop.isStopped {
            let due = Double(EventLoop.currentMilliseconds() - begin) / 1000 * rate + 1 - Double(published + gone)
            if due >= 1 { return Int(min(due, Double(Self.lettersAStep))) }
            loop.turn(atMostMilliseconds: Int32(min(100, max(1, (1 - due) / rate * 1000))))
        }
        return 0
    }

    /// Where an answer was lost it is asked again: what was published then is gone from the dead letters.
    private func publish(
        _ some: [RedisDeadLetters.Stored], of partition: Int32, _ letters: RedisDeadLetters, _ loop: TopicLoop
    ) throws -> RedisDeadLetters.Redriven {
        var tries = 1
        while true {
            do {
                return try loop.answer { letters.redrive(some, of: partition, done: $0) }
            } catch let fault as RedisFault where tries < Self.mostTries && fault.kind == .timeout {
                tries += 1
            }
        }
    }

    func text(of place: DlqPlace) -> String {
        var text =
            isDry
            ? "\(Figures.counted(published, "record")) would be published again, nothing was done\n"
            : "\(Figures.counted(published, "record")) published again, from \(place.description)\n"
        if published + gone > 0 { text += sum.rows }
        if gone > 0 { text += "  \(gone) that were published before, or stand there twice\n" }
        if updates > 0 { text += "  \(Figures.counted(updates, "update")) left: no record to publish\n" }
        if isStopped { text += "  stopped before the end\n" }
        return text
    }

    var json: String {
        #"{"dryRun":\#(isDry),"published":\#(published),"gone":\#(gone),"updatesLeft":\#(updates),"stopped":\#(isStopped),"reasons":\#(sum.json)}"#
    }
}
