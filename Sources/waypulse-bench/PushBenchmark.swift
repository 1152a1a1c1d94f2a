import HTTP2
import Sockets

/// One client against a server in another process, so that each may have a core: `push --client connection|worker --port N --authority FILE`.
enum PushBenchmark {
    /// What a client has done.
    struct Work: Sendable {
        var accepted = 0
        var others = 0
        var cpuNanoseconds: Int64 = 0
        var nanoseconds: Int64 = 0
        /// Of the thread that speaks HTTP/2.
        var allocations: UInt64 = 0
        var writtenBytes: UInt64 = 0
        var writes: UInt64 = 0
    }

    static func run(_ options: BenchmarkOptions) throws {
        let client = options.text("client") ?? "worker"
        let round = try options.number("round", default: 1)
        let plan = PushPlan(
            requests: try options.number("requests", default: 300_000),
            streams: try options.number("streams", default: 500),
            port: UInt16(try options.number("port", default: 0)),
            tls: try .trusting(fileAt: options.text("authority") ?? ""))
        let work: Work
        switch client {
        case "connection": work = try ConnectionClient.push(plan)
        case "worker": work = try WorkerClient.push(plan)
        default: throw BenchmarkFault(problem: "--client \(client): connection or worker")
        }
        guard work.accepted == plan.requests else {
            throw BenchmarkFault(problem: "\(work.accepted) of \(plan.requests) pushes were accepted")
        }
        let total = Double(plan.requests)
        Measurement(
            case: "1 connection, \(plan.streams) streams", subject: client, round: round,
            figures: [
                "cpuSecondsPerMillionPushes": Double(work.cpuNanoseconds) / total / 1_000,
                "pushesPerSecond": total / Double(work.nanoseconds) * 1e9,
                "allocationsPerPush": Double(work.allocations) / total,
            ]
        ).print()
    }
}

struct PushPlan: Sendable {
    let requests: Int
    let streams: Int
    let port: UInt16
    let tls: TLSContext
}
