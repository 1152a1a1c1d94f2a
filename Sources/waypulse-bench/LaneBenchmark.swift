import CBenchmarks
import Flow
import LiveActivities
import Pacing
import Telemetry

/// Every event a push, and no network: decode, pacing, the payload, and what an accepted answer changes. What a lane's thread does for a
/// push, beside handing it over.
enum LaneBenchmark {
    static func run(_ options: BenchmarkOptions) throws {
        let rounds = try options.number("rounds", default: 5)
        let fleet = try PushedFleet(activities: try options.number("activities", default: 20_000))
        for round in 1...rounds {
            let pass = try fleet.play()
            let total = Double(fleet.activities)
            Measurement(
                case: "every event sent", subject: "waypulse", round: round,
                figures: [
                    "nanosecondsPerPush": Double(pass.nanoseconds) / total,
                    "allocationsPerPush": Double(pass.allocations) / total,
                    "bytesPerPayload": Double(pass.bytes) / total,
                ]
            ).print()
        }
    }
}

/// A lane of activities that all move on beyond their deadbands, at the same time.
final class PushedFleet {
    struct Pass {
        var nanoseconds: Int64 = 0
        var allocations: UInt64 = 0
        var bytes = 0
    }

    /// Long enough to go 200 m.
    private static let intervalMilliseconds: Int64 = 20_000

    let activities: Int
    private let lane: Lane
    private var decoder = EventDecoder(apps: [])
    private let messages = EventMessages()
    private let message: UnsafeMutableRawBufferPointer
    private var body = ByteBuffer(capacity: 8_192)
    private var moves = 0

    init(activities: Int) throws {
        self.activities = activities
        var pacing = PacingSettings()
        pacing.profile = .unlimited
        var settings = LaneSettings(shard: ShardSettings(default: pacing, hashSeed: 1), types: ActivityTypes())
        settings.explanationBytes = ExplainMemory.bytes
        lane = Lane(settings: settings)
        lane.setStreams(1_000, link: lane.addLink(pool: 0))
        message = .allocate(byteCount: max(EventMessages.byteCount, messages.startByteCount), alignment: 8)
        message.initializeMemory(as: UInt8.self, repeating: 0)
        for activity in 0..<activities {
            messages.writeStart(activity, milliseconds: moment.pacing.nowMilliseconds, into: message.baseAddress!)
            try apply(count: messages.startByteCount)
        }
        // The first update tells more than the later ones.
        _ = try play()
    }

    deinit { message.deallocate() }

    /// The making of the messages is counted too: some 50 ns each.
    func play() throws -> Pass {
        moves += 1
        var pass = Pass()
        let allocations = cbenchmarks_allocations()
        let began = Clock.threadCPU()
        for activity in 0..<activities {
            messages.writePosition(
                activity, event: moves * activities + activity, milliseconds: moment.pacing.nowMilliseconds,
                offsets: (latitude: 100_000 + moves % 2 * 18_000, longitude: 100_000), into: message.baseAddress!)
            try apply(count: EventMessages.byteCount)
            guard let dispatch = lane.next(at: moment, body: &body) else {
                throw BenchmarkFault(problem: "move \(moves) of activity \(activity) is not sent")
            }
            pass.bytes += body.count
            let accepted = ProviderAnswer(status: 200, reason: nil)
            _ = lane.complete(dispatch.identifier, .answered(accepted, providerTokenAgeSeconds: 60), at: moment)
        }
        pass.nanoseconds = Clock.threadCPU() - began
        pass.allocations = cbenchmarks_allocations() - allocations
        return pass
    }

    private var moment: Moment {
        let milliseconds = EventMessages.startMilliseconds + Int64(moves) * Self.intervalMilliseconds
        return Moment(pacing: Instant(milliseconds: milliseconds), realMilliseconds: milliseconds)
    }

    private func apply(count: Int) throws {
        let event = try decoder.decode(UnsafeRawBufferPointer(rebasing: message[..<count]))
        let faults = lane.apply(event, partition: 0, offset: -1, at: moment)
        guard faults.isEmpty else { throw BenchmarkFault(problem: "an event is refused: \(faults)") }
    }
}
