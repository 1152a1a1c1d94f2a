import CBenchmarks
import Glibc

/// `produce --port P --activities N` with what is to be put into the streams: `--starts yes` (over `--spread` seconds), `--positions N` at once, or `--rate`
/// positions and `--statuses` urgent statuses a second for `--seconds`. Each status goes to `--log` as a line `activity milliseconds`.
enum ProduceBenchmark {
    /// Between batches of what is produced at a rate.
    private static let tickMilliseconds: Int64 = 5

    static func run(_ options: BenchmarkOptions) throws {
        var shape = StreamProducer.Shape(
            port: UInt16(try options.number("port", default: 6379)), topic: options.text("topic") ?? "rides",
            partitions: Int32(try options.number("partitions", default: 8)),
            activities: try options.number("activities", default: 100_000))
        if options.text("moves") != nil { shape.movesPercent = UInt64(try options.number("moves", default: 1)) }
        if options.text("most") != nil { shape.most = UInt32(try options.number("most", default: 1)) }
        let producer = try StreamProducer(shape, seed: UInt64(try options.number("seed", default: 11)))
        let spread = options.text("spread") == nil ? 0 : try options.number("spread", default: 1)
        if options.text("starts") != nil { try producer.start(within: spread) }
        if options.text("positions") != nil { try producer.positions(try options.number("positions", default: 1)) }
        guard options.text("seconds") != nil else { return }
        let positions = options.text("rate") == nil ? 0 : try options.number("rate", default: 1)
        let statuses = options.text("statuses") == nil ? 0 : try options.number("statuses", default: 1)
        try pace(
            producer, positions: positions, statuses: statuses, seconds: try options.number("seconds", default: 1),
            log: options.text("log"))
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
            try producer.settle()
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

/// `read --port P`: the rival of a member, a plain loop of hiredis over the same streams.
enum ReadBenchmark {
    static func run(_ options: BenchmarkOptions) throws {
        let port = UInt16(try options.number("port", default: 6379))
        let topic = options.text("topic") ?? "rides"
        let partitions = UInt32(try options.number("partitions", default: 8))
        let count = UInt32(try options.number("count", default: 500))
        guard let redis = cbenchmarks_redis_connect(port) else {
            throw BenchmarkFault(problem: "no Redis answers on port \(port) of 127.0.0.1")
        }
        defer { cbenchmarks_redis_close(redis) }
        var entries: UInt64 = 0
        var bytes: UInt64 = 0
        let (began, cpu) = (Clock.monotonic(), Clock.threadCPU())
        guard cbenchmarks_redis_read(redis, topic, partitions, count, &entries, &bytes), entries > 0 else {
            throw BenchmarkFault(problem: "Redis refused an XREAD, or there is nothing in the streams of \(topic)")
        }
        let (seconds, used) = (Double(Clock.monotonic() - began) / 1e9, Double(Clock.threadCPU() - cpu) / 1e9)
        Measurement(
            case: options.text("case") ?? "streams", subject: "hiredis", round: try options.number("round", default: 1),
            figures: [
                "entriesPerSecond": Double(entries) / seconds,
                "cpuSecondsPerMillionEvents": used / Double(entries) * 1e6,
                "bytesPerEvent": Double(bytes) / Double(entries),
            ]
        ).print()
    }
}
