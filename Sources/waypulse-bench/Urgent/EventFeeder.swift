import CBenchmarks
import Flow
import Glibc
import Synchronization

/// Writes events when they are due.
final class EventFeeder: Sendable {
    struct Round: Sendable {
        var urgent: [EventSchedule.Urgent] = []
        /// By which this thread woke late for an urgent event, nanoseconds; these do not count.
        var lateness: [Int64] = []
        var positions = 0
        var wallNanoseconds: Int64 = 0
        /// The most by which a write came after its time.
        var lagNanoseconds: Int64 = 0
        var processCPU: Int64 = 0
        var feederCPU: Int64 = 0
        var serverCPU: Int64 = 0
    }

    /// Given when all activities' first positions have been told.
    let isTold = OnceValue<Bool>()
    private let schedule: EventSchedule
    private let server: OppositeServer
    private let done = Mutex<[Round]>([])

    private static let tickNanoseconds: Int64 = 200_000
    private static let messages = EventMessages()

    init(_ schedule: EventSchedule, server: OppositeServer) {
        self.schedule = schedule
        self.server = server
    }

    var rounds: [Round] { done.withLock { $0 } }

    /// - Parameter descriptor: where events go.
    func feed(_ descriptor: Int32) {
        cbenchmarks_sleep_exactly()
        var writer = LineWriter(descriptor: descriptor)
        tell(&writer)
        _ = isTold.take()
        var number = 0
        var position = 0
        for round in 1...schedule.rounds {
            let urgents = schedule.urgents(round: round, firstNumber: number)
            number += urgents.count
            let result = play(urgents, firstPosition: position, &writer)
            position += result.positions
            done.withLock { $0.append(result) }
        }
    }

    /// Starts and first positions, as fast as they are taken.
    private func tell(_ writer: inout LineWriter) {
        for activity in 0..<schedule.activities {
            writer.add(Self.messages.startByteCount) {
                Self.messages.writeStart(activity, milliseconds: wallMilliseconds(), into: $0)
            }
        }
        for activity in 0..<schedule.activities {
            addPosition(of: activity, event: activity, jitter: 0, milliseconds: wallMilliseconds(), &writer)
        }
        writer.flush()
    }

    private func play(_ urgents: [EventSchedule.Urgent], firstPosition: Int, _ writer: inout LineWriter) -> Round {
        var round = Round()
        // Off the wall clock's and the monotonic clock's reading at one time.
        let wall = wallMilliseconds()
        let begin = Clock.monotonic() + 50_000_000
        let end = begin + Int64(schedule.seconds) * 1_000_000_000
        let interval = 1e9 / Double(schedule.positionsPerSecond)
        func milliseconds(at due: Int64) -> Int64 { wall + 50 + (due - begin) / 1_000_000 }
        round.urgent = urgents.map { .init(number: $0.number, dueNanoseconds: begin + $0.dueNanoseconds) }
        sleep(until: begin)
        let cpu = (Clock.processCPU(), Clock.threadCPU(), server.threadCPU)
        var next = 0
        var tick = begin
        while tick < end {
            let due = next < round.urgent.count ? round.urgent[next].dueNanoseconds : .max
            // What is due by now, all of it; the positions of a tick come in one piece.
            tick = min(tick + Self.tickNanoseconds, due, end)
            let isHeldUp = Clock.monotonic() > tick
            let line = due == tick ? schedule.line(round.urgent[next], milliseconds: milliseconds(at: due)) : nil
            sleep(until: tick)
            let arrival = Clock.monotonic()
            while begin + Int64(Double(round.positions) * interval) < tick {
                let event = firstPosition + round.positions
                // A walk over all activities that jumps through memory, so that each has its turn at an even rate.
                addPosition(
                    of: event &* 611_953 % schedule.activities, event: schedule.activities + event,
                    jitter: event % 1_000, milliseconds: milliseconds(at: tick), &writer)
                round.positions += 1
            }
            if let line {
                writer.add(line)
                // This thread's own late waking is no lateness of the lane's. But where a full pipe has held it up, the event was there.
                round.lateness.append(isHeldUp ? 0 : arrival - tick)
                if !isHeldUp { round.urgent[next].dueNanoseconds = arrival }
                next += 1
            }
            writer.flush()
            round.lagNanoseconds = max(round.lagNanoseconds, Clock.monotonic() - tick)
        }
        round.wallNanoseconds = Clock.monotonic() - begin
        round.processCPU = Clock.processCPU() - cpu.0
        round.feederCPU = Clock.threadCPU() - cpu.1
        round.serverCPU = server.threadCPU - cpu.2
        return round
    }

    private func addPosition(
        of activity: Int, event: Int, jitter: Int, milliseconds: Int64, _ writer: inout LineWriter
    ) {
        writer.add(EventMessages.byteCount) {
            Self.messages.writePosition(
                activity, event: event, milliseconds: milliseconds, offsets: (100_000 + jitter, 100_000), into: $0)
        }
    }

    private func sleep(until nanoseconds: Int64) {
        var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        // TIMER_ABSTIME, which Swift does not see.
        while clock_nanosleep(CLOCK_MONOTONIC, 1, &time, nil) == EINTR {}
    }
}
