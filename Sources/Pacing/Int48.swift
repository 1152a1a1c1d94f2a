/// A whole number in six bytes: ±140 × 10¹² of what it counts, so milliseconds reach from the year −2489 to 6429. What lies beyond is
/// taken as the last one that fits, and that stands for all of them: `Int64.min` for none, `Int64.max` for never.
struct Int48: Equatable {
    private var low: UInt16
    private var middle: UInt16
    private var high: Int16

    static let min = Int48(.min)
    static let max = Int48(.max)

    init(_ value: Int64) {
        let value = Swift.max(-1 << 47, Swift.min(value, 1 << 47 - 1))
        low = UInt16(truncatingIfNeeded: value)
        middle = UInt16(truncatingIfNeeded: value >> 16)
        high = Int16(truncatingIfNeeded: value >> 32)
    }

    var value: Int64 {
        let value = Int64(high) << 32 | Int64(middle) << 16 | Int64(low)
        if value == 1 << 47 - 1 { return .max }
        return value == -1 << 47 ? .min : value
    }

    /// The two bytes of each part, lowest first: how a checkpoint keeps it.
    var parts: (UInt16, UInt16, UInt16) { (low, middle, UInt16(bitPattern: high)) }

    init(parts: (UInt16, UInt16, UInt16)) {
        (low, middle, high) = (parts.0, parts.1, Int16(bitPattern: parts.2))
    }

    /// Nil for none.
    var known: Int64? { self == .min ? nil : value }
}
