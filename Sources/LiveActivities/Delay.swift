/// Arithmetic of growing, jittered delays, without overflow whatever the count.
enum Delay {
    static func doubled(_ milliseconds: Int64, times: Int, atMost longest: Int64) -> Int64 {
        guard times < 40, milliseconds < longest else { return longest }
        let (grown, isTooLong) = milliseconds.multipliedReportingOverflow(by: 1 << Int64(max(0, times)))
        return isTooLong ? longest : min(longest, grown)
    }

    /// 0 up to and including `milliseconds`, by the upper half of `random`.
    static func share(of milliseconds: Int64, random: UInt64) -> Int64 {
        guard milliseconds > 0 else { return 0 }
        return Int64(truncatingIfNeeded: (random.multipliedFullWidth(by: UInt64(milliseconds) + 1)).high)
    }
}
