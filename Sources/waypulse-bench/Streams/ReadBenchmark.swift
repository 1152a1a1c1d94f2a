import CBenchmarks

/// The rivals of a member: `read --port P`, a plain loop of hiredis over the same streams, and `read --kafka HOST:PORT --from OFFSET,…`, one of
/// librdkafka over the same topic.
enum ReadBenchmark {
    static func run(_ options: BenchmarkOptions) throws {
        if let servers = options.text("kafka") { return try readTopic(of: servers, options) }
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
    private static func readTopic(of servers: String, _ options: BenchmarkOptions) throws {
        let topic = options.text("topic") ?? "rides"
        let from = (options.text("from") ?? "").split(separator: ",").compactMap { Int64($0) }
        let count = UInt64(try options.number("count", default: 1_000_000))
        var reading = cbenchmarks_reading()
        guard cbenchmarks_kafka_read(servers, topic, from, UInt32(from.count), count, &reading) else {
            throw BenchmarkFault(problem: "fewer than \(count) records of \(topic) were read from \(servers)")
        }
        Measurement(
            case: options.text("case") ?? "kafka", subject: "librdkafka",
            round: try options.number("round", default: 1),
            figures: [
                "entriesPerSecond": Double(reading.records) / reading.seconds,
                "cpuSecondsPerMillionEvents": reading.cpuSeconds / Double(reading.records) * 1e6,
                "bytesPerEvent": Double(reading.bytes) / Double(reading.records),
            ]
        ).print()
    }

    /// `listen --kafka HOST:PORT --count N`: how long after its making each of so many records comes out of a plain loop.
    static func listen(_ options: BenchmarkOptions) throws {
        let (servers, topic) = (options.text("kafka") ?? "", options.text("topic") ?? "rides")
        let partitions = UInt32(try options.number("partitions", default: 8))
        let count = UInt64(try options.number("count", default: 1_000_000))
        var delays = [UInt64](repeating: 0, count: 60_000)
        guard cbenchmarks_kafka_listen(servers, topic, partitions, count, &delays, UInt32(delays.count)) else {
            throw BenchmarkFault(problem: "fewer than \(count) records of \(topic) came from \(servers)")
        }
        func quantile(_ share: Double) -> Double {
            var below: UInt64 = 0
            let place = delays.firstIndex {
                below += $0
                return Double(below) >= share * Double(count)
            }
            return Double(place ?? delays.count)
        }
        Measurement(
            case: options.text("case") ?? "kafka", subject: "librdkafka",
            round: try options.number("round", default: 1),
            figures: [
                "medianMilliseconds": quantile(0.5), "p99Milliseconds": quantile(0.99),
                "longestMilliseconds": quantile(1),
            ]
        ).print()
    }
}
