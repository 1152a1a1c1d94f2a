import Synchronization

/// The clock of a recording that is being run, readable from every thread: a simulator's phones live by it as well.
public final class RecordingTime: Sendable {
    private enum State {
        /// Monotonic nanoseconds at which the recording's clock read `recording` milliseconds.
        case running(recording: Int64, nanoseconds: Int64, factor: Double)
        case standing(Int64)
    }

    private let state = Mutex(State.standing(0))

    public init() {}

    /// Unix milliseconds on the recording's clock; 0 before its first record.
    public var milliseconds: Int64 {
        switch state.withLock({ $0 }) {
        case .standing(let milliseconds): milliseconds
        case .running(let recording, let nanoseconds, let factor):
            recording + Int64(Double(RunClock.monotonicNanoseconds() - nanoseconds) * factor / 1e6)
        }
    }

    func run(from recording: Int64, atNanoseconds nanoseconds: Int64, factor: Double) {
        state.withLock { $0 = .running(recording: recording, nanoseconds: nanoseconds, factor: factor) }
    }

    func stand(at milliseconds: Int64) {
        state.withLock { $0 = .standing(milliseconds) }
    }
}
