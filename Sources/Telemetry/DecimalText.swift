/// Doubles as decimal text.
public enum DecimalText {
    /// The shortest text that reads back as the same double, in the form of RFC 8785 (that of ECMAScript): plain from
    /// 1e-6 up to below 1e21, with an exponent beyond, `0` for either zero.
    /// - Precondition: `double` is finite.
    public static func shortest(_ double: Double) -> String {
        precondition(double.isFinite, "JSON has no number for \(double)")
        if double == 0 { return "0" }
        let (digits, exponent) = shortestDigits(double.magnitude)
        let sign = double < 0 ? "-" : ""
        let count = digits.count
        // The value is 0.d1d2d3… × 10^exponent.
        switch exponent {
        case count...21:
            return sign + text(digits) + String(repeating: "0", count: exponent - count)
        case 1..<max(1, count):
            return sign + text(digits[..<exponent]) + "." + text(digits[exponent...])
        case -5...0:
            return sign + "0." + String(repeating: "0", count: -exponent) + text(digits)
        default:
            let power = exponent - 1
            let fraction = count > 1 ? "." + text(digits[1...]) : ""
            return sign + text(digits[..<1]) + fraction + "e" + (power < 0 ? "-" : "+") + String(power.magnitude)
        }
    }

    /// The value in units of 10^-6 where it is a whole number of them, so that they are its shortest text too: two decimals of at most 15 digits
    /// never read back as the same double. Nil for any other.
    /// - Parameter magnitude: not negative.
    static func wholeMillionths(_ magnitude: Double) -> UInt64? {
        guard magnitude < 1e9 else { return nil }
        let millionths = UInt64(magnitude * 1e6 + 0.5)
        // Both operands are exact, so the one division rounds once, to the double nearest to the decimal.
        return Double(millionths) / 1e6 == magnitude ? millionths : nil
    }

    /// Significant digits without zeros at either end, from Swift's own shortest description.
    private static func shortestDigits(_ magnitude: Double) -> (digits: [UInt8], exponent: Int) {
        var digits: [UInt8] = []
        var exponent = 0
        var pointPosition: Int?
        var written = Array(magnitude.description.utf8)
        if let letter = written.firstIndex(of: UInt8(ascii: "e")) {
            exponent = Int(String(decoding: written[(letter + 1)...], as: UTF8.self)) ?? 0
            written.removeSubrange(letter...)
        }
        for character in written {
            if character == UInt8(ascii: ".") { pointPosition = digits.count } else { digits.append(character) }
        }
        exponent += pointPosition ?? digits.count
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        let leading = digits.prefix { $0 == UInt8(ascii: "0") }.count
        digits.removeFirst(leading)
        return (digits, exponent - leading)
    }

    private static func text(_ digits: some Sequence<UInt8>) -> String {
        String(decoding: Array(digits), as: UTF8.self)
    }

    /// The value in units of 10^-5, nearest, ties to even, of the double's own value: `value * 1e5` would round once before the
    /// rounding. Nil from 2^44 on, where a double has hardly a fraction left, and for what is not finite.
    public static func hundredThousandths(_ value: Double) -> Int64? {
        guard value.magnitude < 0x1p44 else { return nil }
        guard value != 0 else { return 0 }
        if value.magnitude < 1024 {
            // Rounded once, by less than 2^-26: it matters only near the middle between two.
            let scaled = value.magnitude * 1e5
            let whole = Int64(scaled)
            let fraction = scaled - Double(whole)
            if (fraction - 0.5).magnitude > 0x1p-20 {
                let nearest = fraction > 0.5 ? whole + 1 : whole
                return value < 0 ? -nearest : nearest
            }
        }
        return exactHundredThousandths(value)
    }

    /// - Parameter value: neither 0 nor beyond 2^44.
    static func exactHundredThousandths(_ value: Double) -> Int64 {
        // value = significand × 2^exponent, both whole.
        let exponent = Int(value.exponent) - 52
        let significand = UInt128((value.significand * 0x1p52).magnitude)
        let scaled = significand * 100_000
        // Below 2^44 the exponent is negative.
        let shift = -exponent
        guard shift < 128 else { return 0 }
        var quotient = scaled >> UInt128(shift)
        let remainder = scaled & ((1 << UInt128(shift)) - 1)
        let half = UInt128(1) << UInt128(shift - 1)
        if remainder > half || (remainder == half && quotient & 1 == 1) { quotient += 1 }
        let magnitude = Int64(quotient)
        return value < 0 ? -magnitude : magnitude
    }
}

extension JSONNumber {
    /// The double in its shortest text.
    /// - Precondition: `double` is finite.
    public init(shortest double: Double) {
        self.init(double: double, text: DecimalText.shortest(double))
    }

    /// Degrees with at most five decimals, nearest to the double's own value, ties to even.
    /// - Precondition: `fiveDecimals` is finite.
    public init(fiveDecimals degrees: Double) {
        guard let hundredThousandths = DecimalText.hundredThousandths(degrees) else {
            self.init(shortest: degrees)
            return
        }
        var buffer = ByteBuffer(capacity: 16)
        buffer.append(fiveDecimals: degrees)
        self.init(double: Double(hundredThousandths) / 100_000, text: buffer.text)
    }

    /// Milliseconds as seconds with at most three decimals.
    public init(secondsOfMilliseconds milliseconds: Int64) {
        var buffer = ByteBuffer(capacity: 16)
        buffer.append(secondsOfMilliseconds: milliseconds)
        self.init(double: Double(milliseconds) / 1000, text: buffer.text)
    }
}
