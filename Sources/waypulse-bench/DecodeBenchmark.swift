import CBenchmarks
import Flow
import Telemetry

/// `EventDecoder` beside simdjson's on-demand parser, on the same bytes in turns.
///
/// The rival reads the same values and does less with them: it builds no content-state, hashes no event id, and checks no ranges.
enum DecodeBenchmark {
    static func run(_ options: BenchmarkOptions) throws {
        let rounds = try options.number("rounds", default: 7)
        let events = try options.number("events", default: 20_000)
        let repetitions = try options.number("repetitions", default: 10)
        for (name, statusPercent) in [("position", UInt64(0)), ("80 % position, 20 % status", 20)] {
            let messages = Messages(count: events, statusPercent: statusPercent)
            var decoder = EventDecoder(apps: [])
            let rival = Rival()
            // The first pass of each warms caches and the scanner's memory of the order of keys.
            let expected = try messages.decode(with: &decoder, times: 1)
            guard try messages.decode(with: rival, times: 1).sum == expected.sum else {
                throw BenchmarkFault(problem: "the decoder and simdjson disagree about \(name)")
            }
            for round in 1...rounds {
                let total = Double(events * repetitions)
                let own = try messages.decode(with: &decoder, times: repetitions)
                Measurement(
                    case: name, subject: "waypulse", round: round,
                    figures: [
                        "nanosecondsPerEvent": Double(own.nanoseconds) / total,
                        "eventsPerSecond": total / Double(own.nanoseconds) * 1e9,
                        "allocationsPerEvent": Double(own.allocations) / total,
                    ]
                ).print()
                let other = try messages.decode(with: rival, times: repetitions)
                Measurement(
                    case: name, subject: "simdjson", round: round,
                    figures: [
                        "nanosecondsPerEvent": Double(other.nanoseconds) / total,
                        "eventsPerSecond": total / Double(other.nanoseconds) * 1e9,
                        "allocationsPerEvent": Double(other.allocations) / total,
                    ]
                ).print()
            }
        }
    }
}

/// Messages one behind the other, and what it takes to read them all.
final class Messages {
    struct Pass {
        var nanoseconds: Int64
        var allocations: UInt64
        /// Of what was read: equal for all who read rightly.
        var sum: Double
    }

    private let bytes: UnsafeMutableRawBufferPointer
    private let count: Int

    init(count: Int, statusPercent: UInt64) {
        self.count = count
        bytes = .allocate(byteCount: count * EventMessages.byteCount + EventMessages.paddingBytes, alignment: 64)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        let messages = EventMessages()
        var random = SplitMix(seed: 1)
        for event in 0..<count {
            let target = bytes.baseAddress! + event * EventMessages.byteCount
            let activity = Int(random.next() % 1_000_000)
            let milliseconds = EventMessages.startMilliseconds + Int64(event)
            if random.next() % 100 < statusPercent {
                messages.writeStatus(activity, event: event, milliseconds: milliseconds, into: target)
            } else {
                let offsets = (Int(random.next() % 10_000_000), Int(random.next() % 10_000_000))
                messages.writePosition(
                    activity, event: event, milliseconds: milliseconds, offsets: offsets, into: target)
            }
        }
    }

    deinit { bytes.deallocate() }

    func decode(with decoder: inout EventDecoder, times: Int) throws -> Pass {
        var sum = 0.0
        let allocations = cbenchmarks_allocations()
        let began = Clock.threadCPU()
        for _ in 0..<times {
            for index in 0..<count {
                let start = index * EventMessages.byteCount
                let message = UnsafeRawBufferPointer(rebasing: bytes[start..<start + EventMessages.byteCount])
                let event = try decoder.decode(message)
                sum += Double(event.timestampMilliseconds & 0xFFFF) + Double(event.identifier.count)
                if event.kind == .position { sum += event.position.coordinate.latitude }
            }
        }
        return Pass(
            nanoseconds: Clock.threadCPU() - began, allocations: cbenchmarks_allocations() - allocations, sum: sum)
    }

    func decode(with rival: Rival, times: Int) throws -> Pass {
        var sum = 0.0
        var event = cbenchmarks_event()
        let allocations = cbenchmarks_allocations()
        let began = Clock.threadCPU()
        for _ in 0..<times {
            for index in 0..<count {
                let start = index * EventMessages.byteCount
                let message = (bytes.baseAddress! + start).assumingMemoryBound(to: UInt8.self)
                guard
                    cbenchmarks_rival_decode(
                        rival.handle, message, EventMessages.byteCount, bytes.count - start, &event)
                else { throw BenchmarkFault(problem: "simdjson refuses message \(index)") }
                let milliseconds = Int64((event.timestamp * 1_000 + 0.5).rounded(.down))
                sum += Double(milliseconds & 0xFFFF) + Double(event.activityIdLength)
                if event.isPosition { sum += event.latitude }
            }
        }
        return Pass(
            nanoseconds: Clock.threadCPU() - began, allocations: cbenchmarks_allocations() - allocations, sum: sum)
    }
}

final class Rival {
    let handle: OpaquePointer

    init() {
        guard let handle = cbenchmarks_rival_create() else { fatalError("no memory for simdjson") }
        self.handle = handle
    }

    deinit { cbenchmarks_rival_destroy(handle) }
}
