import Glibc

/// `produce --port P --activities N` (of a Redis; `--kafka HOST:PORT` for a broker) with what is to be put into the topic: `--starts yes` (over `--spread` seconds), `--positions N` at once, or `--rate`
/// positions and `--statuses` urgent statuses a second for `--seconds`. Each status goes to `--log` as a line `activity milliseconds`.
enum ProduceBenchmark {
    /// Between batches of what is produced at a rate.
    private static let tickMilliseconds: Int64 = 5

    static func run(_ options: BenchmarkOptions) throws {
        let topic = options.text("topic") ?? "rides"
        var shape = StreamProducer.Shape(
            partitions: Int32(try options.number("partitions", default: 8)),
            activities: try options.number("activities", default: 100_000))
        if options.text("moves") != nil { shape.movesPercent = UInt64(try options.number("moves", default: 1)) }
        let producer = StreamProducer(
            shape, target: try target(options, topic: topic), seed: UInt64(try options.number("seed", default: 11)))
        let spread = options.text("spread") == nil ? 0 : try options.number("spread", default: 1)
        if options.text("starts") != nil { try producer.start(within: spread) }
        if options.text("positions") != nil { try producer.positions(try options.number("positions", default: 1)) }
        try producer.settle()
        guard options.text("seconds") != nil else { return }
        let positions = options.text("rate") == nil ? 0 : try options.number("rate", default: 1)
        let statuses = options.text("statuses") == nil ? 0 : try options.number("statuses", default: 1)
        try pace(
            producer, positions: positions, statuses: statuses, seconds: try options.number("seconds", default: 1),
            log: options.text("log"))
        try producer.settle()
    }

    private static func target(_ options: BenchmarkOptions, topic: String) throws -> ProducerTarget {
        guard let servers = options.text("kafka") else {
            let most = options.text("most") == nil ? 0 : try options.number("most", default: 1)
            let port = UInt16(try options.number("port", default: 6379))
            return try ProducerTarget(redis: port, topic: topic, most: UInt32(most))
        }
        // What is produced as fast as it goes goes in large batches.
        let linger = options.text("linger") == nil ? 5 : try options.number("linger", default: 5)
        return try ProducerTarget(kafka: servers, topic: topic, lingerMilliseconds: UInt32(linger))
    }

    private static func pace(
        _ producer: StreamProducer, positions: Int, statuses: Int, seconds: Int, log path: String?
    ) throws {
        let log = path.flatMap { fopen($0, "w") }
        defer { if let log { fclose(log) } }
        let began = Clock.monotonic()
        var made = (positions: 0, statuses: 0)
        while true {
            let gone = Clock.monotonic() - began
            guard gone < Int64(seconds) * 1_000_000_000 else { return }
            let microseconds = Int(gone / 1_000)
            let due = (
                positions: positions * microseconds / 1_000_000, statuses: statuses * microseconds / 1_000_000
            )
            while made.statuses < due.statuses {
                let (activity, milliseconds) = try producer.status()
                if let log { fputs("\(activity) \(milliseconds)\n", log) }
                made.statuses += 1
            }
            try producer.turn()
            if made.positions < due.positions {
                // No more than what is due, so that one who was kept waiting catches up and statuses are still in time.
                let count = min(due.positions - made.positions, 4_000)
                try producer.positions(count)
                made.positions += count
            }
            let next = tickMilliseconds * 1_000_000 - (Clock.monotonic() - began - gone)
            if next > 0 { usleep(UInt32(next / 1_000)) }
        }
    }
}
