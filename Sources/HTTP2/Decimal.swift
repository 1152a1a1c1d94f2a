/// Numbers as header fields have them.
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
}
