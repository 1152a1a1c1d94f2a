import Telemetry

/// A fixed piece of work, so many times over, and nothing else: `count --what decode|statuses|pacing|lane|worker --times N`. What it takes is exact
/// where it is counted: allocations, which it prints itself, and instructions, which `benchmarks/thresholds` has callgrind count (not those
/// of a worker: how many answers come in one read is chance). The same
/// work is done once before, so that the difference of two runs with other `--times` is that of the steady state alone.
enum CountBenchmark {
    static func run(_ options: BenchmarkOptions) throws {
        let what = options.text("what") ?? ""
        let times = try options.number("times", default: 10)
        let work = try work(what)
        _ = try work.perform()
        var allocations: UInt64 = 0
        for _ in 0..<times { allocations += try work.perform() }
        let units = Double(times * work.units)
        Measurement(
            case: what, subject: "waypulse", round: 1,
            figures: ["units": units, "allocationsPerUnit": Double(allocations) / units]
        ).print()
    }

    /// Events or pushes each time, and how many allocations they took.
    private struct Work {
        let units: Int
        let perform: () throws -> UInt64
    }

    private static func work(_ what: String) throws -> Work {
        switch what {
        case "decode": return decoding(statusPercent: 0)
        case "statuses": return decoding(statusPercent: 100)
        case "pacing":
            let fleet = try PacedFleet(activities: 2_000)
            let events = 1_024
            return Work(units: events) {
                UInt64((try fleet.play(events: events).allocationsPerEvent * Double(events)).rounded())
            }
        case "lane":
            let fleet = try PushedFleet(activities: 500)
            return Work(units: fleet.activities) { try fleet.play().allocations }
        case "worker":
            let server = try OppositeServer(.sink)
            let plan = PushPlan(
                requests: 20_000, streams: 500, port: server.port, tls: try .trusting(server.authorityPEM))
            return Work(units: plan.requests) {
                let work = try WorkerClient.push(plan)
                guard work.accepted == plan.requests else { throw BenchmarkFault(problem: "a push was not accepted") }
                return work.allocations
            }
        default:
            throw BenchmarkFault(problem: "--what \(what): decode, statuses, pacing, lane or worker")
        }
    }

    private static func decoding(statusPercent: UInt64) -> Work {
        let messages = Messages(count: 500, statusPercent: statusPercent)
        var decoder = EventDecoder(apps: [])
        return Work(units: 500) { try messages.decode(with: &decoder, times: 1).allocations }
    }
}
