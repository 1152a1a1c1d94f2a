/// So many at once, and so many a second after that.
struct TokenBucket: Sendable {
    private var tokens: Double
    private var atMilliseconds: Int64

    init(burst: Double, nowMilliseconds: Int64) {
        tokens = burst
        atMilliseconds = nowMilliseconds
    }

    /// - Returns: nil where there was one, else how many whole seconds to wait for the next.
    mutating func take(perSecond: Double, burst: Double, nowMilliseconds: Int64) -> Int? {
        // A clock that steps back gives nothing and takes nothing.
        let passed = max(0, nowMilliseconds - atMilliseconds)
        atMilliseconds = nowMilliseconds
        tokens = min(burst, tokens + Double(passed) * perSecond / 1000)
        guard tokens < 1 else {
            tokens -= 1
            return nil
        }
        return max(1, Int(((1 - tokens) / perSecond).rounded(.up)))
    }
}
