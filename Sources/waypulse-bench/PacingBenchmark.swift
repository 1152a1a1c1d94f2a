import CBenchmarks
import Flow
import Pacing
import Telemetry

/// Positions of random activities, decoded and applied to one shard, with few and with many activities in turns. Their phones are right
/// all the while, as nearly all are at any moment: every event is judged, none is sent.
enum PacingBenchmark {
    static func run(_ options: BenchmarkOptions) throws {
        let rounds = try options.number("rounds", default: 5)
        let events = try options.number("events", default: 500_000)
        let few = try options.number("few", default: 10_000)
        let many = try options.number("many", default: 1_000_000)
        let fleets = try [few, many].map { try PacedFleet(activities: $0) }
        for round in 1...rounds {
            for fleet in fleets {
                let pass = try fleet.play(events: events)
                Measurement(
                    case: "\(fleet.activities) activities", subject: "waypulse", round: round,
                    figures: [
                        "nanosecondsPerEvent": pass.nanosecondsPerEvent,
                        "eventsPerSecond": 1e9 / pass.nanosecondsPerEvent,
                        "allocationsPerEvent": pass.allocationsPerEvent,
                        "tableBytesPerActivity": fleet.tableBytesPerActivity,
                        "residentBytesPerActivity": fleet.residentBytesPerActivity,
                        "residentBytesPerActivityAfterSending": fleet.residentBytesPerActivityAfterSending,
                    ]
                ).print()
            }
        }
    }
}

/// A shard full of activities that began on their phones, each told once where its courier is.
final class PacedFleet {
    struct Pass {
        let nanosecondsPerEvent: Double
        let allocationsPerEvent: Double
    }

    /// Decoded and applied between two looks at the clock: as many as a lane takes in one turn.
    private static let batch = 512
    /// Looked ahead at together, as a lane does: their waits for memory overlap.
    private static let prefetched = 64
    /// Of the recording's clock: a million activities that report every five seconds.
    private static let eventsPerMillisecond = 200

    let activities: Int
    /// Tables and states; then all memory, with a token of 32 bytes and a content-state of about 150; then with sixteen event ids' hashes
    /// and what a first update leaves behind.
    private(set) var tableBytesPerActivity = 0.0
    private(set) var residentBytesPerActivity = 0.0
    private(set) var residentBytesPerActivityAfterSending = 0.0
    private let shard: Shard
    // One thread, and no closure: nothing to check at each event.
    @exclusivity(unchecked) private var decoder = EventDecoder(apps: [])
    private let messages = EventMessages()
    private let buffer: UnsafeMutableRawBufferPointer
    @exclusivity(unchecked) private var events: [Event] = []
    @exclusivity(unchecked) private var places: [Shard.Place] = []
    private var random = SplitMix(seed: 7)
    private var eventCount = 0

    init(activities: Int) throws {
        self.activities = activities
        var settings = PacingSettings()
        // Positions are drawn afresh, not driven: two of one courier may be milliseconds apart.
        settings.maxSpeedMetersPerSecond = 1e9
        shard = Shard(
            settings: ShardSettings(default: settings, hashSeed: 1), journal: Journal(byteLimit: ExplainMemory.bytes))
        buffer = .allocate(byteCount: Self.batch * max(EventMessages.byteCount, messages.startByteCount), alignment: 64)
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
        let before = try residentBytes()
        for activity in 0..<activities {
            messages.writeStart(activity, milliseconds: nowMilliseconds, into: buffer.baseAddress!)
            let event = try decoder.decode(UnsafeRawBufferPointer(rebasing: buffer[..<messages.startByteCount]))
            let faults = shard.apply(event, at: Instant(milliseconds: nowMilliseconds))
            guard faults.isEmpty else { throw BenchmarkFault(problem: "an activity does not start: \(faults)") }
        }
        tableBytesPerActivity = Double(shard.statistics.tableBytes) / Double(activities)
        residentBytesPerActivity = Double(try residentBytes() - before) / Double(activities)
        for activity in 0..<activities {
            writePosition(of: activity, into: buffer.baseAddress!)
            try apply(count: 1)
            sendAll()
        }
        residentBytesPerActivityAfterSending = Double(try residentBytes() - before) / Double(activities)
    }

    deinit { buffer.deallocate() }

    func play(events: Int) throws -> Pass {
        var nanoseconds: Int64 = 0
        var allocations: UInt64 = 0
        let batches = events / Self.batch
        let sentBefore = shard.sendReasons.updates
        for _ in 0..<batches {
            for index in 0..<Self.batch {
                writePosition(
                    of: Int(random.next() % UInt64(activities)),
                    into: buffer.baseAddress! + index * EventMessages.byteCount)
            }
            let allocationsBefore = cbenchmarks_allocations()
            let began = Clock.threadCPU()
            try apply(count: Self.batch)
            shard.fire(at: Instant(milliseconds: nowMilliseconds))
            nanoseconds += Clock.threadCPU() - began
            allocations += cbenchmarks_allocations() - allocationsBefore
        }
        guard shard.sendReasons.updates == sentBefore, shard.ready(pool: 0) == nil else {
            throw BenchmarkFault(problem: "an update became due, though every phone was right")
        }
        let total = Double(batches * Self.batch)
        return Pass(
            nanosecondsPerEvent: Double(nanoseconds) / total, allocationsPerEvent: Double(allocations) / total)
    }

    private var nowMilliseconds: Int64 {
        EventMessages.startMilliseconds + Int64(eventCount / Self.eventsPerMillisecond)
    }

    /// Around the activity's own place, within 30 m.
    private func writePosition(of activity: Int, into target: UnsafeMutableRawPointer) {
        let draw = random.next()
        let latitude = 100_000 + activity + Int(draw & 0x7FF)
        let longitude = 100_000 + activity + Int(draw >> 11 & 0x7FF)
        messages.writePosition(
            activity, event: eventCount, milliseconds: nowMilliseconds, offsets: (latitude, longitude), into: target)
        eventCount += 1
    }

    private func apply(count: Int) throws {
        var rest = 0..<count
        while !rest.isEmpty {
            try apply(rest.prefix(Self.prefetched))
            rest = rest.dropFirst(Self.prefetched)
        }
    }

    private func apply(_ messages: Range<Int>) throws {
        let instant = Instant(milliseconds: nowMilliseconds)
        events.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
        for index in messages {
            let start = index * EventMessages.byteCount
            let event = try decoder.decode(
                UnsafeRawBufferPointer(rebasing: buffer[start..<start + EventMessages.byteCount]))
            places.append(shard.prefetchSlot(of: event.identifier))
            events.append(event)
        }
        for place in places { shard.prefetchState(at: place) }
        for event in events {
            let faults = shard.apply(event, at: instant)
            guard faults.isEmpty else { throw BenchmarkFault(problem: "a position is refused: \(faults)") }
        }
    }

    private func sendAll() {
        let instant = Instant(milliseconds: nowMilliseconds)
        while shard.ready(pool: 0) != nil {
            guard let update = shard.take(pool: 0, at: instant) else { continue }
            shard.settle(update.ticket, .accepted, at: instant)
        }
    }
}
