/// Log-linear buckets as HdrHistogram lays them: each power of two is cut into 32 equal parts, so a value is known to
/// 1 in 32 (3.2 %) at worst, and exactly below 64.
public enum Buckets {
    static let partBits = 5
    static let parts = 1 << partBits
    /// The largest value told apart: 2⁴⁰ − 1, twelve days in microseconds. What is above counts as this one.
    public static let highest: Int64 = 1 << 40 - 1
    @usableFromInline static let count = 1152

    /// The bucket of a value; what is negative counts as 0.
    @inlinable static func index(of value: Int64) -> Int {
        let bounded = UInt64(min(max(value, 0), highest))
        guard bounded >= 32 else { return Int(bounded) }
        let shift = 58 - bounded.leadingZeroBitCount
        return (shift << 5) + Int(bounded >> UInt64(shift))
    }

    /// The largest value that falls into a bucket.
    static func upperBound(of index: Int) -> Int64 {
        guard index >= 2 * parts else { return Int64(index) }
        let shift = (index >> partBits) - 1
        return (Int64(index - (shift << partBits)) + 1) << shift - 1
    }
}
