import Pacing
import Telemetry

/// What an activity takes at the least and at the most, all in. Content-states are of about 150 bytes, tokens of 32.
///
/// At the most: the memory of event ids is full, what the phone shows is not what is true, an update is under way, and newer content waits
/// behind it.
enum MemoryBenchmark {
    static func run(_ options: BenchmarkOptions) throws {
        let round = try options.number("round", default: 1)
        let activities = try options.number("activities", default: 200_000)
        let fleet = try FullFleet(activities: activities)
        Measurement(
            case: "\(activities) activities", subject: "waypulse", round: round,
            figures: [
                "bytesPerActivityBegun": fleet.begun, "bytesPerActivityTold": fleet.told,
                "bytesPerActivityFull": fleet.full,
            ]
        ).print()
    }
}

/// A shard whose activities have all that an activity can have.
private final class FullFleet {
    private(set) var begun = 0.0
    private(set) var told = 0.0
    private(set) var full = 0.0
    private let shard: Shard
    private var decoder = EventDecoder(apps: [])
    private let messages = EventMessages()
    private let buffer: UnsafeMutableRawBufferPointer
    private var eventCount = 0
    private var nowMilliseconds = EventMessages.startMilliseconds

    init(activities: Int) throws {
        var settings = PacingSettings()
        settings.profile = .unlimited
        settings.minIntervalMilliseconds = 1
        settings.maxSpeedMetersPerSecond = 1e9
        shard = Shard(settings: ShardSettings(default: settings, hashSeed: 1))
        buffer = .allocate(byteCount: max(EventMessages.byteCount, messages.startByteCount), alignment: 64)
        let before = try residentBytes()
        func bytesPerActivity() throws -> Double { Double(try residentBytes() - before) / Double(activities) }
        for activity in 0..<activities { try start(activity) }
        begun = try bytesPerActivity()
        for activity in 0..<activities {
            try move(activity, latitude: 100_000)
            try take(isAnswered: true)
        }
        told = try bytesPerActivity()
        for activity in 0..<activities {
            // Inside the deadband, each with an id of its own: more than are remembered.
            for step in 1...20 { try move(activity, latitude: 100_000 + step) }
            try change(activity)
            try take(isAnswered: false)
            try move(activity, latitude: 130_000)
        }
        full = try bytesPerActivity()
        guard shard.statistics.unsettledUpdates == activities else {
            throw BenchmarkFault(problem: "\(shard.statistics.unsettledUpdates) of \(activities) updates are under way")
        }
    }

    deinit { buffer.deallocate() }

    private func start(_ activity: Int) throws {
        messages.writeStart(activity, milliseconds: nowMilliseconds, into: buffer.baseAddress!)
        try apply(count: messages.startByteCount)
    }

    private func move(_ activity: Int, latitude: Int) throws {
        pass()
        messages.writePosition(
            activity, event: eventCount, milliseconds: nowMilliseconds, offsets: (latitude, 100_000),
            into: buffer.baseAddress!)
        try apply(count: EventMessages.byteCount)
    }

    private func change(_ activity: Int) throws {
        pass()
        messages.writeStatus(activity, event: eventCount, milliseconds: nowMilliseconds, into: buffer.baseAddress!)
        try apply(count: EventMessages.byteCount)
    }

    private func pass() {
        eventCount += 1
        nowMilliseconds += 1
    }

    private func apply(count: Int) throws {
        let event = try decoder.decode(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        let faults = shard.apply(event, at: Instant(milliseconds: nowMilliseconds))
        guard faults.isEmpty else { throw BenchmarkFault(problem: "an event is refused: \(faults)") }
    }

    private func take(isAnswered: Bool) throws {
        pass()
        let instant = Instant(milliseconds: nowMilliseconds)
        shard.fire(at: instant)
        guard let update = shard.take(pool: 0, at: instant) else {
            throw BenchmarkFault(problem: "event \(eventCount) made no update")
        }
        if isAnswered { shard.settle(update.ticket, .accepted, at: instant) }
    }
}
