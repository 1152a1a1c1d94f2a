import CBenchmarks
import Flow
import Glibc
import Pacing
import Telemetry

/// What a member's lane pays for checkpoints, without Redis: writing those of activities that were told something new, noting that they are
/// saved, and reading them back into an empty shard, as a new owner does.
enum CheckpointBenchmark {
    static func run(_ options: BenchmarkOptions) throws {
        let rounds = try options.number("rounds", default: 5)
        let fleet = try CheckpointedFleet(activities: try options.number("activities", default: 50_000))
        for round in 1...rounds {
            let pass = try fleet.play()
            let total = Double(pass.checkpoints)
            Measurement(
                case: "in memory", subject: "waypulse", round: round,
                figures: [
                    "takeNanosecondsPerCheckpoint": Double(pass.takeNanoseconds) / total,
                    "savedNanosecondsPerCheckpoint": Double(pass.savedNanoseconds) / total,
                    "restoreNanosecondsPerCheckpoint": Double(pass.restoreNanoseconds) / Double(pass.restored),
                    "bytesPerCheckpoint": Double(pass.bytes) / total,
                    "allocationsPerCheckpoint": Double(pass.allocations) / total,
                ]
            ).print()
        }
    }
}

private final class CheckpointedFleet {
    struct Pass {
        var checkpoints = 0
        var restored = 0
        var bytes = 0
        var takeNanoseconds: Int64 = 0
        var savedNanoseconds: Int64 = 0
        var restoreNanoseconds: Int64 = 0
        var allocations: UInt64 = 0
    }

    /// As many as a member saves at once.
    private static let batch = 1_000
    private static let intervalMilliseconds: Int64 = 20_000

    private let activities: Int
    private let shard: Shard
    private let settings: ShardSettings
    private var decoder = EventDecoder(apps: [])
    private let messages = EventMessages()
    private let message: UnsafeMutableRawBufferPointer
    private var moves = 0
    private var offset: Int64 = 0

    init(activities: Int) throws {
        self.activities = activities
        var pacing = PacingSettings()
        pacing.profile = .unlimited
        var settings = ShardSettings(default: pacing, hashSeed: 1)
        settings.keepsCheckpoints = true
        self.settings = settings
        shard = Shard(settings: settings)
        message = .allocate(byteCount: max(EventMessages.byteCount, messages.startByteCount), alignment: 8)
        message.initializeMemory(as: UInt8.self, repeating: 0)
        for activity in 0..<activities {
            messages.writeStart(activity, milliseconds: instant.nowMilliseconds, into: message.baseAddress!)
            try apply(count: messages.startByteCount)
        }
        _ = try play()
    }

    deinit { message.deallocate() }

    /// Each activity moves on, is told, and is saved; the newest checkpoint of each is read back.
    func play() throws -> Pass {
        moves += 1
        var pass = Pass()
        for activity in 0..<activities {
            messages.writePosition(
                activity, event: moves * activities + activity, milliseconds: instant.nowMilliseconds,
                offsets: (latitude: 100_000 + moves % 2 * 18_000, longitude: 100_000), into: message.baseAddress!)
            try apply(count: EventMessages.byteCount)
        }
        shard.fire(at: instant)
        // A number beyond what the store knows leaves only when it does, so that there are two turns at times.
        while true {
            sendAll()
            guard shard.hasUnsaved else { break }
            while shard.hasUnsaved { save(&pass) }
        }
        try restoreAll(&pass)
        return pass
    }

    private var instant: Instant {
        Instant(milliseconds: EventMessages.startMilliseconds + Int64(moves) * Self.intervalMilliseconds)
    }

    private func apply(count: Int) throws {
        let event = try decoder.decode(UnsafeRawBufferPointer(rebasing: message[..<count]))
        offset += 1
        let faults = shard.apply(event, offset: offset, at: instant)
        guard faults.isEmpty else { throw BenchmarkFault(problem: "an event is refused: \(faults)") }
    }

    private func sendAll() {
        while shard.ready(pool: 0) != nil {
            guard let update = shard.take(pool: 0, at: instant) else { continue }
            shard.settle(update.ticket, .accepted, at: instant)
        }
    }

    private var newest: [[UInt8]: [UInt8]] = [:]

    private func save(_ pass: inout Pass) {
        let allocations = cbenchmarks_allocations()
        let began = Clock.threadCPU()
        let (bytes, entries, receipt) = shard.takeCheckpoints(limit: Self.batch, at: instant)
        let taken = Clock.threadCPU()
        pass.allocations += cbenchmarks_allocations() - allocations
        pass.takeNanoseconds += taken - began
        pass.checkpoints += entries.count
        for entry in entries {
            pass.bytes += entry.checkpoint.count
            newest[Array(bytes[entry.identifier])] = Array(bytes[entry.checkpoint])
        }
        let answered = Clock.threadCPU()
        shard.saved(receipt, at: instant)
        pass.savedNanoseconds += Clock.threadCPU() - answered
    }

    private func restoreAll(_ pass: inout Pass) throws {
        let next = Shard(settings: settings)
        next.beginOwning(timestampLeadMilliseconds: 0, at: instant)
        let began = Clock.threadCPU()
        for (identifier, bytes) in newest {
            _ = try identifier.withUnsafeBytes { identifier in
                try bytes.withUnsafeBytes { try next.restore(identifier, from: $0, at: instant) }
            }
        }
        pass.restoreNanoseconds = Clock.threadCPU() - began
        pass.restored = newest.count
        guard next.activityCount == activities else {
            throw BenchmarkFault(problem: "\(next.activityCount) of \(activities) activities came back")
        }
    }
}
