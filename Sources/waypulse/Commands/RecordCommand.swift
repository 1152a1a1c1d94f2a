import Configuration
import KafkaClient
import Sockets
import Streams
import Telemetry

enum RecordCommand: Command {
    static let name = "record"
    static let summary = "Write a recording of what is published to Redis Streams or Kafka"
    static let examples: [Example] = [
        Example(
            "waypulse record --from redis://localhost --topic rides --partitions 8 -o rides.jsonl.zst",
            "From now on, until it is stopped."),
        Example(
            "waypulse record --from kafka://localhost:9092 --topic rides --from-beginning --until-idle 5s -o rides.jsonl",
            "Everything that a topic of Kafka holds."),
        Example(
            "waypulse record --config waypulse.yaml --from-beginning --until-idle 5s -o rides.jsonl",
            "Everything that the topic of the configuration holds."),
        Example(
            "waypulse record --config waypulse.yaml --count 1000 -o - | waypulse plan -",
            "What the next 1000 events would send."),
    ]
    static let details = """
        A line holds an event with the partition, the offset, the key and the time of its record, in the order of those times; run, plan,
        validate and replay read it. Nothing is left behind: no group, no cursor, no committed offset. A file that is there is not written
        over. Of records in a schema registry's frame the JSON inside is recorded.
        It ends with SIGTERM or SIGINT, or as --until-idle, --seconds and --count say, and the recording is whole in any case.

        """ + TopicPlace.help
    private static let from = Flag(
        "--from", value: "URL", "Where it is: redis://localhost:6379 or kafka://localhost:9092")
    private static let output = Flag(
        "-o", value: "FILE", "The recording, compressed if it ends in .zst; - is standard output")
    private static let beginning = Flag("--from-beginning", "Take what the topic holds already, too")
    private static let idle = Flag(
        "--until-idle", value: "TIME", "End when nothing has come for so long, for example 5s")
    private static let seconds = Flag("--seconds", value: "N", "End after so many seconds")
    private static let count = Flag("--count", value: "N", "End after so many records")
    static let flags: [Flag] =
        [from] + TopicPlace.flags + [output, beginning, idle, seconds, count, .json]

    /// How long a line may wait for its place on the disk.
    private static let flushMilliseconds: Int64 = 1_000

    static func run(_ arguments: Arguments) throws -> ExitCode {
        // Before any thread begins, so that each of them leaves signals to the one that waits for them.
        let signals = StopSignals()
        let words = "waypulse record --from redis://localhost --topic rides --partitions 8 -o rides.jsonl.zst"
        guard let path = arguments.value(output) else {
            throw CommandFault(.usage, "record needs a file to write", remedy: words)
        }
        let idleMilliseconds = try idle(arguments)
        let seconds = arguments.has(seconds) ? try arguments.integer(Self.seconds, default: 1, in: 1...86_400_000) : nil
        let count = arguments.has(count) ? try arguments.integer(Self.count, default: 1, in: 1 ... .max) : nil
        let place = try TopicPlace(arguments, url: from, command: name, words: words)
        let topic = try TopicLoop(signals: signals)
        switch place {
        case .redis(let place):
            var settings = RedisStreamRecorder.Settings(topic: place.topic, partitions: place.partitions)
            settings.bodyField = place.bodyField
            settings.isFromBeginning = arguments.has(beginning)
            settings.mostRecords = count
            let client = try topic.redis(place.redis)
            let writer = try RecordingWriter(path: path)
            let recorder = RedisStreamRecorder(client: client, loop: topic.loop, settings: settings, writer: writer)
            try record(recorder, writer, on: topic, seconds, idleMilliseconds)
            tell(recorder, place.description, path, json: arguments.has(.json)) { count in
                "\(Figures.counted(count, "entry", "entries")) without a field \(place.bodyField) left out\n"
                    + "try:   --body-field, with the name of the field that holds the event"
            }
            if let fault = recorder.failure { throw fault }
        case .kafka(let place):
            let partitions = try topic.partitionCount(of: place.topic, at: place.settings)
            var settings = KafkaTopicRecorder.Settings(topic: place.topic, partitions: Int32(partitions))
            settings.isFromBeginning = arguments.has(beginning)
            settings.mostRecords = count
            let reader = try topic.reader(
                place.settings, KafkaReading(place.configuration, partitions: partitions))
            defer { reader.close() }
            let writer = try RecordingWriter(path: path)
            let recorder = try KafkaTopicRecorder(reader: reader, settings: settings, writer: writer)
            try record(recorder, writer, on: topic, seconds, idleMilliseconds)
            tell(
                recorder, place.description(partitions: partitions), path, json: arguments.has(.json)
            ) { "\(Figures.counted($0, "record")) without a value left out" }
            if let fault = recorder.failure { throw fault }
        }
        return .success
    }

    private static func record(
        _ recorder: some TopicRecorder, _ writer: RecordingWriter, on topic: TopicLoop, _ seconds: Int?,
        _ idleMilliseconds: Int64?
    ) throws {
        let end = seconds.map { EventLoop.currentMilliseconds() + Int64($0) * 1000 } ?? .max
        var flushed = EventLoop.currentMilliseconds()
        while !recorder.isDone, !topic.isStopped {
            topic.turn(atMostMilliseconds: recorder.isBusy ? 0 : TopicLoop.longestTurnMilliseconds)
            recorder.advance()
            let now = EventLoop.currentMilliseconds()
            if now >= end { break }
            if recorder.hasBegun, now - recorder.newestMilliseconds >= idleMilliseconds ?? .max { break }
            if now - flushed >= flushMilliseconds {
                flushed = now
                try writer.flush()
            }
        }
        // What has come is kept, whatever ended it.
        try recorder.finish()
    }

    private static func idle(_ arguments: Arguments) throws -> Int64? {
        guard let text = arguments.value(idle) else { return nil }
        do throws(Refusal) {
            let milliseconds = try Quantity.milliseconds(text)
            guard milliseconds > 0 else { throw Refusal(problem: "\"\(text)\" is no time", remedy: nil) }
            return milliseconds
        } catch {
            throw CommandFault(.usage, "--until-idle: \(error.problem)", remedy: error.remedy ?? "--until-idle 5s")
        }
    }

    private static func tell(
        _ recorder: some TopicRecorder, _ place: String, _ path: String, json: Bool, withoutBody says: (Int) -> String
    ) {
        let (records, withoutBody) = (recorder.records, recorder.withoutBody)
        guard !json else {
            Console.say(#"{"records":\#(records),"withoutBody":\#(withoutBody)}"#)
            return
        }
        let file = path == "-" ? "standard output" : path
        Console.say("\(Figures.counted(records, "record")) of \(place), in \(file)")
        if withoutBody > 0 { Console.say("warning: \(says(withoutBody))") }
    }
}
