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

/// Gives a lane its moments, which count whole milliseconds; how long to wait for one is told to the nanosecond.
struct RunClock {
    private enum Source {
        case live(AnchoredClock)
        /// Begins at the first record's time; the anchor is that, and the monotonic nanoseconds at which it was read.
        case running(factor: Double, anchor: (recording: Int64, nanoseconds: Int64)?)
        /// Stands where it was set.
        case stepping(Int64)
    }

    private var source: Source
    private(set) var moment: Moment
    /// The monotonic clock when it was looked at last.
    private var nanoseconds: Int64
    private let shared: RecordingTime

    /// - Parameter shared: is kept in step with a recording's clock.
    init(
        _ pace: Pace, shared: RecordingTime, monotonicNanoseconds: Int64 = RunClock.monotonicNanoseconds(),
        wallMilliseconds wall: Int64 = RunClock.wallMilliseconds()
    ) {
        self.shared = shared
        nanoseconds = monotonicNanoseconds
        let real = nanoseconds / 1_000_000
        switch pace {
        case .live: source = .live(AnchoredClock(monotonicMilliseconds: real, wallMilliseconds: wall))
        case .times(let factor): source = .running(factor: factor, anchor: nil)
        case .max: source = .stepping(0)
        }
        moment = Moment(pacing: Instant(milliseconds: wall), realMilliseconds: real)
    }

    /// Looks at the clocks.
    mutating func read() {
        // The wall clock is asked only where its answer counts.
        read(
            monotonicNanoseconds: RunClock.monotonicNanoseconds(),
            wallMilliseconds: isLive ? RunClock.wallMilliseconds() : 0)
    }

    mutating func read(monotonicNanoseconds: Int64, wallMilliseconds: Int64) {
        nanoseconds = monotonicNanoseconds
        let real = nanoseconds / 1_000_000
        moment.realMilliseconds = real
        switch source {
        case .live(var clock):
            moment.pacing = clock.read(monotonicMilliseconds: real, wallMilliseconds: wallMilliseconds)
            source = .live(clock)
        case .running(let factor, let anchor?):
            let passed = Int64(Double(nanoseconds - anchor.nanoseconds) * factor / 1e6)
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
            source = .running(factor: factor, anchor: (recordingMilliseconds, nanoseconds))
            shared.run(from: recordingMilliseconds, atNanoseconds: nanoseconds, factor: factor)
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

    /// Real nanoseconds from the last look at the clocks until pacing's clock reads `milliseconds`; 0 where it does.
    func nanoseconds(untilPacing milliseconds: Int64) -> Int64 {
        let left = milliseconds - moment.pacing.nowMilliseconds
        guard left > 0 else { return 0 }
        if case .running(let factor, let anchor?) = source {
            let passed = (Double(milliseconds - anchor.recording) * 1e6 / factor).rounded(.up)
            return max(1, anchor.nanoseconds + RunClock.whole(passed) - nanoseconds)
        }
        return nanoseconds(untilReal: moment.realMilliseconds + min(left, RunClock.longestNanoseconds / 1_000_000))
    }

    /// The same until the real clock does.
    func nanoseconds(untilReal milliseconds: Int64) -> Int64 {
        let (due, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? RunClock.longestNanoseconds : max(0, due - nanoseconds)
    }

    /// Longer than anyone waits, and far from overflow.
    private static let longestNanoseconds: Int64 = 1 << 60

    private static func whole(_ nanoseconds: Double) -> Int64 {
        nanoseconds < Double(longestNanoseconds) ? Int64(nanoseconds) : longestNanoseconds
    }

    /// The time that a machine sleeps counts: a lease runs on meanwhile.
    static func monotonicNanoseconds() -> Int64 { nanoseconds(CLOCK_BOOTTIME) }
    static func wallMilliseconds() -> Int64 { nanoseconds(CLOCK_REALTIME) / 1_000_000 }

    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
