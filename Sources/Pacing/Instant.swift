/// The two clocks of a moment, both in Unix milliseconds.
public struct Instant: Equatable, Sendable {
    /// Monotonic, anchored to Unix time at start: what all pacing counts in.
    public var nowMilliseconds: Int64
    /// The wall clock: what `timestamp`, `stale-date` and the age rules read.
    public var wallMilliseconds: Int64

    public init(nowMilliseconds: Int64, wallMilliseconds: Int64) {
        self.nowMilliseconds = nowMilliseconds
        self.wallMilliseconds = wallMilliseconds
    }

    /// Both clocks agree, as in a recording.
    public init(milliseconds: Int64) {
        self.init(nowMilliseconds: milliseconds, wallMilliseconds: milliseconds)
    }
}
