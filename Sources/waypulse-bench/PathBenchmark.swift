import Delivery
import Flow
import HTTP2
import Instruments
import LiveActivities
import Pacing
import Pipeline
import Streams
import Telemetry

/// The whole path in one process: a recording in memory → decode → pacing → payload → HTTP/2 over TLS → the opposite server, and answers
/// back. A lane, a worker and the server have a thread each.
///
/// The recording begins with all activities' starts and first positions, which are told; then the lane stands idle, and there the measuring
/// begins; then all other positions are due at once, as after an outage. Couriers report every 5 s, as in `pacing`.
///
/// On the recording's clock hours pass meanwhile, which no lane at its real pace sees: so no phone's card counts as stale, and a position
/// inside its deadband takes the way that it takes in nearly all cases.
enum PathBenchmark {
    static func run(_ options: BenchmarkOptions) throws {
        let rounds = try options.number("rounds", default: 3)
        let activities = try options.number("activities", default: 30_000)
        // Each moves once: of a second move while the first one is under way, both would be told together.
        let pushes = try options.number("pushes", default: 150_000)
        for round in 1...rounds {
            for load in [
                PathLoad(name: "1 % of events sent", activities: activities, eventsEach: 30, sentPercent: 1),
                PathLoad(name: "every event sent", activities: pushes, eventsEach: 1, sentPercent: 100),
            ] {
                try PathRun(load).measure(round: round)
            }
        }
    }
}

/// A recording, and what is to become of it.
private struct PathLoad {
    let name: String
    let activities: Int
    let eventsEach: Int
    let sentPercent: UInt64
    /// Of the recording's clock, between the positions of one activity: 200 m in that time are still plausible.
    static let intervalMilliseconds: Int64 = 5_000
    /// Faster than any machine reads: what is due is due at once.
    static let speed = 10_000.0
    /// On the real clock, for starts and first positions: several times what it takes on a quiet machine.
    var preparationMilliseconds: Int64 { 7_000 + Int64(activities) / 12 }

    var events: Int { activities * eventsEach }

    var firstMeasuredMilliseconds: Int64 {
        EventMessages.startMilliseconds + Int64(Double(preparationMilliseconds) * Self.speed)
    }

    func recording() -> [UInt8] {
        let messages = EventMessages()
        var random = SplitMix(seed: 5)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(
            activities * (messages.startByteCount + 1) + (activities + events) * (EventMessages.byteCount + 1))
        let line = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(messages.startByteCount, EventMessages.byteCount), alignment: 8)
        defer { line.deallocate() }
        func append(_ count: Int) {
            bytes.append(contentsOf: line[..<count])
            bytes.append(UInt8(ascii: "\n"))
        }
        for activity in 0..<activities {
            messages.writeStart(activity, milliseconds: EventMessages.startMilliseconds, into: line.baseAddress!)
            append(messages.startByteCount)
        }
        var isNorth = [Bool](repeating: false, count: activities)
        for event in 0...eventsEach {
            let milliseconds =
                event == 0
                ? EventMessages.startMilliseconds + 1_000
                : firstMeasuredMilliseconds + Int64(event) * Self.intervalMilliseconds
            for activity in 0..<activities {
                if event > 0, random.next() % 100 < sentPercent { isNorth[activity].toggle() }
                // About 200 m apart, and 10 m of noise.
                let latitude = 100_000 + (isNorth[activity] ? 18_000 : 0) + Int(random.next() % 1_000)
                messages.writePosition(
                    activity, event: event * activities + activity, milliseconds: milliseconds,
                    offsets: (latitude, 100_000), into: line.baseAddress!)
                append(EventMessages.byteCount)
            }
        }
        return bytes
    }
}

/// One run of a lane over a load.
private struct PathRun {
    /// What had been used and done when the lane stood idle.
    private struct Start {
        var cpu: Int64 = 0
        var serverCPU: Int64 = 0
        var pushes: UInt64 = 0
        /// When the first measured event is due, on the monotonic clock.
        var dueNanoseconds: Int64 = 0
    }

    let load: PathLoad

    init(_ load: PathLoad) {
        self.load = load
    }

    func measure(round: Int) throws {
        let server = try OppositeServer()
        let pools = [try PoolSettings.benchmark(port: server.port, tls: .trusting(server.authorityPEM))]
        var pacing = PacingSettings()
        pacing.profile = .unlimited
        // At this speed hours pass while the lane reads what one second brought.
        pacing.maxAgeMilliseconds = 1_000_000_000_000
        pacing.staleAfterMilliseconds = 1_000_000_000_000
        pacing.refresh = false
        pacing.maxActivityLifeMilliseconds = nil
        var laneSettings = LaneSettings(shard: ShardSettings(default: pacing, hashSeed: 1), types: ActivityTypes())
        laneSettings.explanationBytes = ExplainMemory.bytes
        let settings = RunSettings(
            lane: laneSettings,
            pace: .times(PathLoad.speed), pools: pools, delivery: DeliveryOptions())
        let recording = Recording(name: load.name, bytes: load.recording(), apps: [])
        let time = RecordingTime()
        let runner = try LaneRunner(
            settings: settings, recordings: MergedRecordings([recording]), registry: Registry(), log: .benchmark,
            stop: StopRequest(), time: time)
        var start: Start?
        var seen: Lane?
        runner.onTick = { lane, _ in
            seen = lane
            let left = load.firstMeasuredMilliseconds - time.milliseconds
            guard left > 0, pushes(lane) == load.activities, lane.inFlightCount == 0 else { return }
            start = Start(
                cpu: Clock.processCPU(), serverCPU: server.threadCPU, pushes: pushes(lane),
                dueNanoseconds: Clock.monotonic() + Int64(Double(left) / PathLoad.speed * 1e6))
        }
        let ending = try runner.run()
        let end = Start(
            cpu: Clock.processCPU(), serverCPU: server.threadCPU, pushes: seen.map(pushes) ?? 0,
            dueNanoseconds: Clock.monotonic())
        guard let start, ending == .finished else {
            throw BenchmarkFault(
                problem:
                    "the starts took longer than \(load.preparationMilliseconds) ms; fewer --activities or --pushes, please"
            )
        }
        let seconds = Double(end.dueNanoseconds - start.dueNanoseconds) / 1e9
        let pushed = Double(end.pushes - start.pushes)
        let serverCPU = Double(end.serverCPU - start.serverCPU)
        let events = Double(load.events)
        Measurement(
            case: load.name, subject: "waypulse", round: round,
            figures: [
                "eventsPerSecond": events / seconds,
                "pushesPerSecond": pushed / seconds,
                "pushesPerEvent": pushed / events,
                "cpuMicrosecondsPerEvent": (Double(end.cpu - start.cpu) - serverCPU) / events / 1e3,
                "serverCPUMicrosecondsPerPush": serverCPU / pushed / 1e3,
            ]
        ).print()
    }

    private func pushes(_ lane: Lane) -> UInt64 {
        lane.eachShard.reduce(0) { $0 + $1.sendReasons.updates }
    }
}
