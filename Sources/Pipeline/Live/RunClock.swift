import Flow
import Glibc
import Pacing

/// How time passes in a run.
public enum Pace: Equatable, Sendable {
    /// The machine's own clocks.
    case live
    /// The recording's clock, so many times as fast as real time.
    case times(Double)
    /// From record to record and timer to timer, waiting for answers.
    case max
}

/// Gives a lane its moments.
struct RunClock {
    private enum Source {
        case live(AnchoredClock)
        /// Begins at the first record's time.
        case running(factor: Double, anchor: (recording: Int64, real: Int64)?)
        /// Stands where it was set.
        case stepping(Int64)
    }

    private var source: Source
    private(set) var moment: Moment
    private let shared: RecordingTime

    /// - Parameter shared: is kept in step with a recording's clock.
    init(_ pace: Pace, shared: RecordingTime) {
        self.shared = shared
        let real = RunClock.monotonicMilliseconds()
        let wall = RunClock.wallMilliseconds()
        switch pace {
        case .live: source = .live(AnchoredClock(monotonicMilliseconds: real, wallMilliseconds: wall))
        case .times(let factor): source = .running(factor: factor, anchor: nil)
        case .max: source = .stepping(0)
        }
        moment = Moment(pacing: Instant(milliseconds: wall), realMilliseconds: real)
    }

    /// Looks at the clocks.
    mutating func read() {
        let real = RunClock.monotonicMilliseconds()
        moment.realMilliseconds = real
        switch source {
        case .live(var clock):
            moment.pacing = clock.read(monotonicMilliseconds: real, wallMilliseconds: RunClock.wallMilliseconds())
            source = .live(clock)
        case .running(let factor, let anchor?):
            let passed = Int64(Double(real - anchor.real) * factor)
            moment.pacing = Instant(milliseconds: max(moment.pacing.nowMilliseconds, anchor.recording + passed))
        case .running(_, nil):
            break
        case .stepping(let milliseconds):
            moment.pacing = Instant(milliseconds: milliseconds)
        }
    }

    /// The time of the first record; later calls change nothing.
    mutating func begin(at recordingMilliseconds: Int64) {
        switch source {
        case .running(let factor, nil):
            source = .running(factor: factor, anchor: (recordingMilliseconds, moment.realMilliseconds))
            shared.run(from: recordingMilliseconds, at: moment.realMilliseconds, factor: factor)
            moment.pacing = Instant(milliseconds: recordingMilliseconds)
        case .stepping(0):
            step(to: recordingMilliseconds)
        default: break
        }
    }

    /// Moves a clock that stands; others go by themselves.
    mutating func step(to milliseconds: Int64) {
        guard case .stepping = source else { return }
        source = .stepping(milliseconds)
        shared.stand(at: milliseconds)
        moment.pacing = Instant(milliseconds: milliseconds)
    }

    var stands: Bool {
        if case .stepping = source { true } else { false }
    }

    var isLive: Bool {
        if case .live = source { true } else { false }
    }

    /// Steps of the wall clock that were followed.
    var steps: Int {
        if case .live(let clock) = source { clock.steps } else { 0 }
    }

    /// Real milliseconds until pacing's clock reads `milliseconds`; 0 where it does.
    func realMilliseconds(until milliseconds: Int64) -> Int64 {
        let left = milliseconds - moment.pacing.nowMilliseconds
        guard left > 0 else { return 0 }
        if case .running(let factor, _) = source { return Int64((Double(left) / factor).rounded(.up)) }
        return left
    }

    static func monotonicMilliseconds() -> Int64 { milliseconds(CLOCK_MONOTONIC) }
    static func wallMilliseconds() -> Int64 { milliseconds(CLOCK_REALTIME) }

    private static func milliseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
