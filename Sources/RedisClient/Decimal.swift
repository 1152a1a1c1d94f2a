/// Numbers as Redis has them.
enum Decimal {
    /// The digits are lent until `body` returns.
    static func withDigits(of number: Int64, _ body: (UnsafeRawBufferPointer) -> Void) {
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { digits in
            var start = digits.count
            var rest = number.magnitude
            repeat {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            if number < 0 {
                start -= 1
                digits[start] = UInt8(ascii: "-")
            }
            body(UnsafeRawBufferPointer(rebasing: digits[start...]))
        }
    }

    /// Digits alone, all of them, and no more than 64 bits.
    static func unsigned(_ bytes: some Collection<UInt8>) -> UInt64? {
        guard !bytes.isEmpty else { return nil }
        var number: UInt64 = 0
        for byte in bytes {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflows) = product.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
            guard !isTooLarge, !overflows else { return nil }
            number = sum
        }
        return number
    }

    static func signed(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        guard bytes.first == UInt8(ascii: "-") else { return unsigned(bytes).flatMap { Int64(exactly: $0) } }
        guard let magnitude = unsigned(bytes.dropFirst()), magnitude <= Int64.min.magnitude else { return nil }
        return Int64(truncatingIfNeeded: 0 &- magnitude)
    }
}
