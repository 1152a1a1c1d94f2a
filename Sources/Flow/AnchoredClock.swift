import Pacing

/// Pacing's clock in live operation: the monotonic clock, anchored to Unix time. It never goes back, whatever the wall clock does.
public struct AnchoredClock: Sendable {
    /// The wall clock may be off by so much before that counts as a step.
    public static let toleranceMilliseconds: Int64 = 2_000
    /// Backwards it is led by one millisecond in so many: a clock that is ahead runs slower, it does not return.
    public static let slewOneIn: Int64 = 10

    /// Steps of the wall clock that were followed.
    public private(set) var steps = 0
    private var offsetMilliseconds: Int64
    private var slewUntilOffsetMilliseconds: Int64?
    private var newestMonotonicMilliseconds: Int64
    private var newestNowMilliseconds: Int64

    public init(monotonicMilliseconds: Int64, wallMilliseconds: Int64) {
        offsetMilliseconds = wallMilliseconds - monotonicMilliseconds
        newestMonotonicMilliseconds = monotonicMilliseconds
        newestNowMilliseconds = wallMilliseconds
    }

    /// - Returns: both clocks of this moment. Some kernels' monotonic clocks were seen to go back: that counts as standing still.
    public mutating func read(monotonicMilliseconds: Int64, wallMilliseconds: Int64) -> Instant {
        let passed = max(0, monotonicMilliseconds - newestMonotonicMilliseconds)
        newestMonotonicMilliseconds = max(newestMonotonicMilliseconds, monotonicMilliseconds)
        slew(passed)
        let target = wallMilliseconds - newestMonotonicMilliseconds
        let ahead = target - offsetMilliseconds
        if ahead > AnchoredClock.toleranceMilliseconds {
            steps += 1
            offsetMilliseconds = target
            slewUntilOffsetMilliseconds = nil
        } else if -ahead > AnchoredClock.toleranceMilliseconds,
            slewUntilOffsetMilliseconds.map({ abs($0 - target) > AnchoredClock.toleranceMilliseconds }) ?? true
        {
            steps += 1
            slewUntilOffsetMilliseconds = target
        } else if ahead >= -AnchoredClock.toleranceMilliseconds,
            let goal = slewUntilOffsetMilliseconds, goal < target - AnchoredClock.toleranceMilliseconds
        {
            // The wall clock came back before it had been followed.
            slewUntilOffsetMilliseconds = nil
        }
        newestNowMilliseconds = max(newestNowMilliseconds, newestMonotonicMilliseconds + offsetMilliseconds)
        return Instant(nowMilliseconds: newestNowMilliseconds, wallMilliseconds: wallMilliseconds)
    }

    private var slewRemainder: Int64 = 0

    private mutating func slew(_ passed: Int64) {
        guard let goal = slewUntilOffsetMilliseconds else { return }
        let total = slewRemainder + passed
        slewRemainder = total % AnchoredClock.slewOneIn
        offsetMilliseconds = max(goal, offsetMilliseconds - total / AnchoredClock.slewOneIn)
        if offsetMilliseconds == goal { slewUntilOffsetMilliseconds = nil }
    }
}
