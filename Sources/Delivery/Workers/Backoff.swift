/// Delays before connecting again: doubled each time, spread over half of their length, so that members that lost the same server do
/// not come back in step.
struct Backoff {
    let firstMilliseconds: Int64
    let longestMilliseconds: Int64
    private var failures = 0

    init(firstMilliseconds: Int64, longestMilliseconds: Int64) {
        self.firstMilliseconds = firstMilliseconds
        self.longestMilliseconds = longestMilliseconds
    }

    /// - Returns: from half of the whole delay to all of it.
    mutating func failed(random: UInt64) -> Int64 {
        // Twenty doublings make days of a second; more would overflow.
        let whole = min(longestMilliseconds, firstMilliseconds << Int64(min(failures, 20)))
        failures += 1
        let half = whole / 2
        return half + Int64(random % UInt64(max(1, whole - half + 1)))
    }

    mutating func succeeded() {
        failures = 0
    }
}
