import Configuration
import Glibc
import Sockets
import Streams
import Telemetry

enum ReplayCommand: Command {
    static let name = "replay"
    static let summary = "Publish recordings anew, to Redis Streams or Kafka"
    static let examples: [Example] = [
        Example(
            "waypulse replay ride.jsonl --to redis://localhost --topic rides --partitions 8",
            "As it was recorded, now."),
        Example(
            "waypulse replay monday.jsonl.zst --config waypulse.yaml --speed 20x",
            "Twenty times as fast, to the topic that the configuration reads."),
        Example(
            "waypulse replay ride.jsonl --to kafka://localhost:9092 --topic rides",
            "To a topic of Kafka, which knows its partitions itself."),
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

        The partition is zlib's CRC32 of the record's key, modulo their number: as librdkafka places keys. Where producers in Java write to
        the same topic, choose --placement murmur2, as theirs do. The key is the one that the recording tells; else the subject that the
        activity follows from its activity.started on; else the id in the event.

        Redis: the stream is NAME:{i}, entries are appended with the id *. Where an answer was lost, that record and those behind it in its
        stream are appended again. Kafka: the topic has to be there; an idempotent producer waits for brokers that are away, and neither
        loses nor doubles a record. The report goes to standard output.

        """ + TopicPlace.help
    private static let to = Flag(
        "--to", value: "URL", "Where it goes: redis://localhost:6379 or kafka://localhost:9092")
    private static let placement = Flag(
        "--placement", value: "HASH", "How keys are placed in Kafka: crc32 (the default), or murmur2 as in Java")
    private static let speed = Flag("--speed", value: "FACTOR", "1x (the default), 20x or max")
    private static let keepTimes = Flag("--keep-times", "Leave each event's timestamp as it was recorded")
    private static let loops = Flag("--loop", value: "N", "Play the recording so many times, one after the other")
    private static let rate = Flag("--rate", value: "N/s", "At most so many records a second")
    private static let maxLength = Flag(
        "--max-length", value: "N", "Trim each stream of Redis to about so many entries (MAXLEN ~)")
    static let flags: [Flag] =
        [to] + TopicPlace.flags + [placement, speed, keepTimes, loops, rate, maxLength, .json]

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
        var options = ReplayOptions(partitions: 1)
        options.speed = place.configuration[Options.source.speed]
        options.keepsTimes = arguments.has(keepTimes)
        options.recordsPerSecond = rate
        options.passes = passes
        // A file that is not there is told before anything is connected to.
        let recordings = opening(paths, try open(paths))
        let topic = try TopicLoop(signals: signals)
        switch place {
        case .redis(let place):
            guard !arguments.has(placement) else {
                throw CommandFault(
                    .usage, "--placement is for Kafka",
                    remedy: "leave it out: readers of streams expect zlib's CRC32")
            }
            options.partitions = place.partitions
            var settings = RedisStreamWriter.Settings(topic: place.topic, partitions: place.partitions)
            settings.bodyField = place.bodyField
            settings.maxLength = maxLength
            let writer = RedisStreamWriter(client: try topic.redis(place.redis), settings: settings)
            try play(options, recordings, to: writer, on: topic, arguments, place.description)
        case .kafka(let place):
            guard maxLength == nil else {
                throw CommandFault(
                    .usage, "--max-length is for Redis", remedy: "leave it out: topics have retention.ms and .bytes")
            }
            options.hash = try hash(arguments)
            let partitions = try topic.partitionCount(of: place.topic, at: place.settings)
            options.partitions = Int32(partitions)
            let settings = KafkaTopicWriter.Settings(topic: place.topic)
            let producer = try topic.producer(place.settings, settings.producing)
            defer { producer.close() }
            let writer = KafkaTopicWriter(producer: producer, settings: settings)
            try play(
                options, recordings, to: writer, on: topic, arguments, place.description(partitions: partitions))
        }
        return .success
    }

    private static func play(
        _ options: ReplayOptions, _ recordings: @escaping () throws(SourceFault) -> MergedRecordings,
        to writer: some TopicWriter, on topic: TopicLoop, _ arguments: Arguments, _ place: String
    ) throws {
        let player = try ReplayRun(options, open: recordings, to: writer, on: topic)
        try player.run()
        let report = player.report
        Console.print(arguments.has(.json) ? report.json + "\n" : report.text(place: place))
    }

    private static func hash(_ arguments: Arguments) throws -> KeyPlacement.Hash {
        guard let text = arguments.value(placement) else { return .crc32 }
        guard let hash = KeyPlacement.Hash(rawValue: text) else {
            throw CommandFault(
                .usage, "--placement is one of crc32, murmur2, not \"\(text)\"", remedy: "--placement murmur2")
        }
        return hash
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
