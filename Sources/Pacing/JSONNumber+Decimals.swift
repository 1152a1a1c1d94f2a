import Telemetry

extension JSONNumber {
    /// Five decimals, nearest to the double's exact value, ties to even; no zeros at the end.
    ///
    /// - Parameter degrees: at most 180 in magnitude.
    init(roundedToFiveDecimals degrees: Double) {
        let scaled = JSONNumber.roundedProduct(degrees.magnitude, by: 100_000)
        let isNegative = degrees < 0 && scaled != 0
        let value = Double(scaled) / 100_000
        self.init(
            double: isNegative ? -value : value,
            text: (isNegative ? "-" : "") + JSONNumber.decimal(scaled, decimals: 5))
    }

    /// The shortest text that reads back as the same double.
    init(shortest double: Double) {
        let text = "\(double)"
        self.init(double: double, text: text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }

    /// Seconds with at most three decimals.
    init(secondsOfMilliseconds milliseconds: Int64) {
        self.init(
            double: Double(milliseconds) / 1000,
            text: (milliseconds < 0 ? "-" : "") + JSONNumber.decimal(milliseconds.magnitude, decimals: 3))
    }

    /// `value × factor` to the nearest whole number, ties to even, without the rounding that a product of doubles has before.
    private static func roundedProduct(_ value: Double, by factor: UInt64) -> UInt64 {
        guard value > 0 else { return 0 }
        let mantissa = UInt128(value.significandBitPattern | (value.isNormal ? 1 << 52 : 0)) * UInt128(factor)
        let shift = Int(value.isNormal ? value.exponentBitPattern : 1) - 1075
        if shift >= 0 { return UInt64(truncatingIfNeeded: mantissa << UInt128(shift)) }
        guard shift > -128 else { return 0 }
        let whole = mantissa >> UInt128(-shift)
        let rest = mantissa - whole << UInt128(-shift)
        let half = UInt128(1) << UInt128(-shift - 1)
        let roundsUp = rest > half || (rest == half && whole & 1 == 1)
        return UInt64(truncatingIfNeeded: whole + (roundsUp ? 1 : 0))
    }

    private static func decimal(_ scaled: UInt64, decimals: Int) -> String {
        var digits = String(scaled)
        if digits.utf8.count <= decimals {
            digits = String(repeating: "0", count: decimals + 1 - digits.utf8.count) + digits
        }
        var fraction = digits.suffix(decimals)
        while fraction.last == "0" { fraction.removeLast() }
        let whole = digits.dropLast(decimals)
        return fraction.isEmpty ? String(whole) : "\(whole).\(fraction)"
    }
}
