import Pacing

/// The times that a lane is told: pacing's clocks, which a recording may drive, and the real one, which back-off and probes count in.
public struct Moment: Equatable, Sendable {
    public var pacing: Instant
    /// Monotonic milliseconds; its zero means nothing.
    public var realMilliseconds: Int64

    public init(pacing: Instant, realMilliseconds: Int64) {
        self.pacing = pacing
        self.realMilliseconds = realMilliseconds
    }
}
