import Delivery
import Instruments
import Pipeline

/// What counting costs beside what is counted. How often a lane and its worker count is taken from their registry after a run; what one
/// addition and one record of a histogram cost is measured beside it. Of what a registry is told in bulk a few times a second, nothing
/// appears here.
enum InstrumentsBenchmark {
    static func run(_ options: BenchmarkOptions) throws {
        let round = try options.number("round", default: 1)
        let activities = try options.number("activities", default: 30_000)
        let server = try OppositeServer(.sink)
        let registry = Registry()
        let run = PayloadRun(activities: activities, streams: 500) { server.threadCPU }
        let work = try run.measure(
            pools: [try .benchmark(port: server.port, tls: .trusting(server.authorityPEM))], registry: registry)
        let counted = Counted(registry.snapshot())
        let price = Price.measure()
        // Each activity: a start and two positions read, two updates pushed.
        let records = Double(3 * activities)
        let pushes = Double(2 * activities)
        guard counted.records == records, counted.pushes == pushes else {
            throw BenchmarkFault(
                problem:
                    "\(counted.records) records and \(counted.pushes) pushes are counted, not \(records) and \(pushes)")
        }
        let additionsPerPush = (counted.additions - records) / pushes
        let event = price.addition
        let push = additionsPerPush * price.addition + counted.histogramRecords / pushes * price.record
        Measurement(
            case: "lane and worker", subject: "waypulse", round: round,
            figures: [
                "percentOfAnEvent": event / (Double(work.events) / Double(activities)) * 100,
                "percentOfAPush": (event + push) / (Double(work.events + work.dispatch) / Double(activities)) * 100,
                "nanosecondsPerAddition": price.addition,
                "nanosecondsPerHistogramRecord": price.record,
                "additionsPerPush": additionsPerPush,
                "histogramRecordsPerPush": counted.histogramRecords / pushes,
            ]
        ).print()
    }

    /// How often a registry was told something as it happened.
    private struct Counted {
        var additions = 0.0
        var histogramRecords = 0.0
        var records = 0.0
        var pushes = 0.0

        /// A lane carries these over from counts of its own.
        private static let inBulk = ["waypulse_decisions", "waypulse_activity_events", "waypulse_week_rollovers"]

        init(_ snapshot: Snapshot) {
            let text = String(decoding: snapshot.prometheusText(), as: UTF8.self)
            for line in text.split(separator: "\n") where !line.hasPrefix("#") {
                guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
                    continue
                }
                let name = line.prefix { $0 != "{" && $0 != " " }
                if name.hasSuffix("_count") {
                    histogramRecords += value
                } else if name.hasSuffix("_total"), !Self.inBulk.contains(where: name.hasPrefix) {
                    additions += value
                    if name == "waypulse_records_total" { records = value }
                    if name == "waypulse_pushes_accepted_total" { pushes += value }
                }
            }
        }
    }

    /// Nanoseconds of CPU for each, with a call and the way to the instrument through its owner: rather too much than too little.
    private struct Price {
        let addition: Double
        let record: Double

        private static let times = 2_000_000

        static func measure() -> Price {
            let owner = Owner()
            let began = Clock.threadCPU()
            for index in 0..<times { owner.add(index & 1 == 0 ? .accepted : .refused) }
            let added = Clock.threadCPU()
            for index in 0..<times { owner.record(Int64(index & 0xFFF)) }
            let recorded = Clock.threadCPU()
            return Price(
                addition: Double(added - began) / Double(times), record: Double(recorded - added) / Double(times))
        }
    }

    /// Holds its instruments as lanes and workers do.
    private final class Owner {
        private let counter: Counter<DeliveryInstruments.Ending>
        private let writer: HistogramWriter<NoLabel>

        init() {
            let registry = Registry()
            counter = registry.counter(
                "waypulse_benchmark_total", by: DeliveryInstruments.Ending.self, help: "Additions.")
            writer = registry.histogram(
                "waypulse_benchmark_seconds", unit: .milliseconds, bounds: [1, 10, 100], help: "Records."
            ).writer()
        }

        @inline(never)
        func add(_ ending: DeliveryInstruments.Ending) { counter.add(1, ending) }

        @inline(never)
        func record(_ value: Int64) { writer.record(value) }
    }
}
