import CBenchmarks
import Delivery
import Flow
import Instruments
import LiveActivities
import Pacing
import Pipeline
import Streams
import Telemetry

/// Pushes whose payloads are built from state, to a server in another process: `payloads --port N --authority FILE`.
///
/// All activities are told once; then no stream is free while positions beyond the deadband arrive for each of them, so that all wait; then
/// the streams are free again. What is counted from there on is the whole process: the lane that binds each update to the newest truth,
/// judges it once more, writes payload and headers and settles the answer, and the worker that sends it.
enum PayloadBenchmark {
    static func run(_ options: BenchmarkOptions) throws {
        let round = try options.number("round", default: 1)
        let activities = try options.number("activities", default: 60_000)
        let streams = try options.number("streams", default: 500)
        let pools = [
            try PoolSettings.benchmark(
                port: UInt16(try options.number("port", default: 0)),
                tls: .trusting(fileAt: options.text("authority") ?? ""))
        ]
        let work = try PayloadRun(activities: activities, streams: streams).measure(pools: pools)
        let total = Double(activities)
        Measurement(
            case: "1 connection, \(streams) streams", subject: "payloads", round: round,
            figures: [
                "cpuSecondsPerMillionPushes": Double(work.dispatch) / total / 1_000,
                "cpuSecondsPerMillionPushesWithEvents": Double(work.dispatch + work.events) / total / 1_000,
                "bytesPerPush": Double(work.bytes) / total,
                "pushesPerRecord": total / Double(work.writes),
            ]
        ).print()
    }
}

/// A lane and a worker that tell two positions of each activity, the second when all of them wait.
final class PayloadRun {
    /// CPU nanoseconds of the process, and what it wrote.
    struct Work {
        var events: Int64 = 0
        var dispatch: Int64 = 0
        var bytes: UInt64 = 0
        var writes: UInt64 = 0
    }

    private enum Phase {
        /// Starts and first positions are told.
        case telling
        /// No stream is free; the second positions come in.
        case holding
        case sending
    }

    private let activities: Int
    private let streams: Int
    private let serverCPU: () -> Int64
    private var phase = Phase.telling
    private var work = Work()
    private var cpuBefore: Int64 = 0
    private let isTold = OnceValue<Bool>()

    /// - Parameter serverCPU: of a server in the same process, nanoseconds so far; it does not count.
    init(activities: Int, streams: Int, serverCPU: @escaping () -> Int64 = { 0 }) {
        self.activities = activities
        self.streams = streams
        self.serverCPU = serverCPU
    }

    private var cpu: Int64 { Clock.processCPU() - serverCPU() }

    func measure(pools: [PoolSettings], registry: Registry = Registry()) throws -> Work {
        var pacing = PacingSettings()
        pacing.profile = .unlimited
        // 200 m in a moment.
        pacing.maxSpeedMetersPerSecond = 1e9
        pacing.minIntervalMilliseconds = 1
        pacing.refresh = false
        var laneSettings = LaneSettings(shard: ShardSettings(default: pacing, hashSeed: 1), types: ActivityTypes())
        laneSettings.explanationBytes = ExplainMemory.bytes
        let settings = RunSettings(
            lane: laneSettings,
            pace: .live, pools: pools, delivery: DeliveryOptions())
        let runner = try LaneRunner(
            settings: settings, recordings: MergedRecordings([try Recording(path: "-", apps: [])]),
            registry: registry, log: .benchmark, stop: StopRequest())
        runner.onTick = { [unowned self] lane, _ in step(lane) }
        try StandardInput.feed { [activities, isTold] in
            PayloadEvents(activities: activities).feed($0) { _ = isTold.take() }
        }
        let ending = try runner.run()
        work.dispatch = cpu - cpuBefore
        work.bytes = cbenchmarks_written_bytes() - work.bytes
        work.writes = cbenchmarks_writes() - work.writes
        guard phase == .sending, ending == .finished else {
            throw BenchmarkFault(problem: "the lane ended early: \(ending)")
        }
        return work
    }

    /// Four times a second, on the runner's thread.
    private func step(_ lane: Lane) {
        switch phase {
        case .telling where sent(lane) == activities && lane.inFlightCount == 0:
            lane.setStreams(0, link: 0)
            cpuBefore = cpu
            phase = .holding
            isTold.give(true)
        case .holding where ready(lane) == activities:
            work.events = cpu - cpuBefore
            lane.setStreams(streams, link: 0)
            cpuBefore = cpu
            work.bytes = cbenchmarks_written_bytes()
            work.writes = cbenchmarks_writes()
            phase = .sending
        default: break
        }
    }

    private func sent(_ lane: Lane) -> Int { lane.eachShard.reduce(0) { $0 + Int($1.sendReasons.updates) } }
    private func ready(_ lane: Lane) -> Int { lane.eachShard.reduce(0) { $0 + $1.statistics.readyUpdates } }
}

/// What comes in: starts with content-states that make payloads of 800 bytes, first positions, and second ones 200 m away.
private struct PayloadEvents {
    let activities: Int
    private let messages = EventMessages(noteBytes: 498)

    init(activities: Int) {
        self.activities = activities
    }

    /// - Parameter waitUntilTold: returns when what came so far has been told.
    func feed(_ descriptor: Int32, waitUntilTold: () -> Void) {
        var writer = LineWriter(descriptor: descriptor)
        for activity in 0..<activities {
            writer.add(messages.startByteCount) {
                messages.writeStart(activity, milliseconds: wallMilliseconds(), into: $0)
            }
        }
        addPositions(latitude: 100_000, &writer)
        writer.flush()
        waitUntilTold()
        addPositions(latitude: 118_000, &writer)
        writer.flush()
    }

    private func addPositions(latitude: Int, _ writer: inout LineWriter) {
        for activity in 0..<activities {
            writer.add(EventMessages.byteCount) {
                messages.writePosition(
                    activity, event: latitude / 10_000 * activities + activity, milliseconds: wallMilliseconds(),
                    offsets: (latitude, 100_000), into: $0)
            }
        }
    }
}
