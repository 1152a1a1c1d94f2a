import CBenchmarks
import Delivery
import Flow
import Instruments
import LiveActivities
import Pacing
import Pipeline
import Streams

/// How late urgent updates are while positions pour in: an open loop. Positions, all inside their deadbands, and urgent statuses at random
/// times come to standard input at the times at which they are due, whether or not the lane keeps up; what is measured is from the time
/// at which a status arrived, to the end of the write that brought its request to the socket. Where the lane does not keep up, and the pipe
/// is full, it arrived when it was due.
///
/// Lane, worker, the sink and the one who writes the events have a thread each, on whatever cores there are.
enum UrgentBenchmark {
    static func run(_ options: BenchmarkOptions) throws {
        let plan = EventSchedule(
            activities: try options.number("activities", default: 50_000),
            positionsPerSecond: try options.number("positions", default: 200_000),
            urgentPerSecond: try options.number("urgent", default: 500),
            seconds: try options.number("seconds", default: 6),
            rounds: try options.number("rounds", default: 5))
        let server = try OppositeServer(.sink)
        let pools = [try PoolSettings.benchmark(port: server.port, tls: .trusting(server.authorityPEM))]
        cbenchmarks_watch_writes(EventSchedule.mark, plan.urgentCount)
        let feeder = EventFeeder(plan, server: server)
        let runner = try runner(pools: pools)
        runner.onTick = { lane, _ in
            let sent = lane.eachShard.reduce(0) { $0 + $1.sendReasons.updates }
            if sent == plan.activities, lane.inFlightCount == 0 { feeder.isTold.give(true) }
        }
        try StandardInput.feed { feeder.feed($0) }
        let ending = try runner.run()
        guard ending == .finished else { throw BenchmarkFault(problem: "the lane ended early: \(ending)") }
        for (index, round) in feeder.rounds.enumerated() {
            try report(round, number: index + 1, plan: plan)
        }
    }

    private static func runner(pools: [PoolSettings]) throws -> LaneRunner {
        var pacing = PacingSettings()
        pacing.profile = .unlimited
        // Positions are drawn afresh, not driven: two of one courier may be milliseconds apart.
        pacing.maxSpeedMetersPerSecond = 1e9
        pacing.refresh = false
        let settings = RunSettings(
            lane: LaneSettings(shard: ShardSettings(default: pacing, hashSeed: 1), types: ActivityTypes()),
            pace: .live, pools: pools, delivery: DeliveryOptions())
        return try LaneRunner(
            settings: settings, recordings: MergedRecordings([try Recording(path: "-", apps: [])]),
            registry: Registry(), log: .benchmark, stop: StopRequest())
    }

    private static func report(_ round: EventFeeder.Round, number: Int, plan: EventSchedule) throws {
        let delays = round.urgent.compactMap { urgent -> Int64? in
            let written = cbenchmarks_written_at(urgent.number)
            return written == 0 ? nil : written - urgent.dueNanoseconds
        }.sorted()
        guard delays.count == round.urgent.count, !delays.isEmpty else {
            throw BenchmarkFault(
                problem: "\(round.urgent.count - delays.count) of \(round.urgent.count) urgent updates were not written"
            )
        }
        func microseconds(_ quantile: Double) -> Double {
            let place = Int((Double(delays.count) * quantile).rounded(.up)) - 1
            return Double(delays[min(max(place, 0), delays.count - 1)]) / 1_000
        }
        let seconds = Double(round.wallNanoseconds) / 1e9
        let others = round.feederCPU + round.serverCPU
        Measurement(
            case: "beside \(plan.positionsPerSecond) positions/s", subject: "waypulse", round: number,
            figures: [
                "urgentMedianMicroseconds": microseconds(0.5),
                "urgentP99Microseconds": microseconds(0.99),
                "urgentP999Microseconds": microseconds(0.999),
                "urgentMaximumMicroseconds": microseconds(1),
                "urgentUpdates": Double(delays.count),
                "positionsPerSecond": Double(round.positions) / seconds,
                "feederLatenessMedianMicroseconds": Double(round.lateness.sorted()[round.lateness.count / 2]) / 1_000,
                "feederLagMaximumMicroseconds": Double(round.lagNanoseconds) / 1_000,
                "laneAndWorkerCores": Double(round.processCPU - others) / Double(round.wallNanoseconds),
                "feederAndServerCores": Double(others) / Double(round.wallNanoseconds),
            ]
        ).print()
    }
}
