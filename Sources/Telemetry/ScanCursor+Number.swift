extension ScanCursor {
    /// A number of at most 19 digits without exponent, as the nearest double, exactly; NaN for any other. What follows
    /// it is not looked at.
    @inline(__always)
    mutating func takeNumber(_ powers: ScannerTables.Powers) -> Double {
        var here = position
        let isNegative = byte == UInt8(ascii: "-")
        if isNegative { here += 1 }
        guard here < end else { return .nan }
        // The brace at the message's end stops each of these loops inside it.
        let integerStart = here
        var mantissa: UInt64 = 0
        var digit = here.load(as: UInt8.self) &- UInt8(ascii: "0")
        while digit < 10 {
            mantissa = mantissa &* 10 &+ UInt64(digit)
            here += 1
            digit = here.load(as: UInt8.self) &- UInt8(ascii: "0")
        }
        let integerDigits = here - integerStart
        guard integerDigits > 0 else { return .nan }
        if integerDigits > 1, integerStart.load(as: UInt8.self) == UInt8(ascii: "0") { return .nan }
        var fractionDigits = 0
        if digit == UInt8(ascii: ".") &- UInt8(ascii: "0") {
            here += 1
            let fractionStart = here
            while here + 8 <= end {
                let word = UInt64(littleEndian: here.loadUnaligned(as: UInt64.self))
                guard ScanCursor.isEightDigits(word) else { break }
                mantissa = mantissa &* 100_000_000 &+ ScanCursor.eightDigits(word)
                here += 8
            }
            digit = here.load(as: UInt8.self) &- UInt8(ascii: "0")
            while digit < 10 {
                mantissa = mantissa &* 10 &+ UInt64(digit)
                here += 1
                digit = here.load(as: UInt8.self) &- UInt8(ascii: "0")
            }
            fractionDigits = here - fractionStart
            guard fractionDigits > 0 else { return .nan }
        }
        guard integerDigits + fractionDigits <= 19 else { return .nan }
        if (digit &+ UInt8(ascii: "0")) | 0x20 == UInt8(ascii: "e") { return .nan }
        position = here
        let magnitude: Double
        if mantissa < 1 << 53 {
            // Both operands are exact, so the one division rounds once (Clinger, "How to read floating point numbers accurately").
            magnitude = Double(mantissa) / powers.doubles[fractionDigits]
        } else if fractionDigits == 0 {
            magnitude = Double(mantissa)
        } else {
            magnitude = ScanCursor.quotient(mantissa, powers.integers[fractionDigits])
        }
        return isNegative ? -magnitude : magnitude
    }

    @inline(__always)
    private static func isEightDigits(_ word: UInt64) -> Bool {
        let high: UInt64 = 0xF0F0_F0F0_F0F0_F0F0
        return word & high == 0x3030_3030_3030_3030
            && (word &+ 0x0606_0606_0606_0606) & high == 0x3030_3030_3030_3030
    }

    /// The number that eight digits write, the first in the lowest bits: pairs, then fours, then all eight.
    @inline(__always)
    private static func eightDigits(_ word: UInt64) -> UInt64 {
        let digits = word & 0x0F0F_0F0F_0F0F_0F0F
        let pairs = (digits &* 10 &+ digits >> 8) & 0x00FF_00FF_00FF_00FF
        let fours = (pairs &* 100 &+ pairs >> 16) & 0x0000_FFFF_0000_FFFF
        return (fours &* 10_000 &+ fours >> 32) & 0xFFFF_FFFF
    }

    /// dividend / divisor, rounded once, ties to even: for the 17 digits that doubles are often written with.
    /// - Parameters:
    ///   - dividend: at least 2^53.
    ///   - divisor: at most 10^18, so that the whole quotient has more than 54 bits.
    @inline(never)
    static func quotient(_ dividend: UInt64, _ divisor: UInt64) -> Double {
        let (quotient, remainder) = (UInt128(dividend) << 64).quotientAndRemainder(dividingBy: UInt128(divisor))
        let dropped = 128 - quotient.leadingZeroBitCount - 53
        var significand = UInt64(truncatingIfNeeded: quotient >> UInt128(dropped))
        let rest = quotient & (1 << UInt128(dropped) - 1)
        let half = UInt128(1) << UInt128(dropped - 1)
        if rest > half || (rest == half && (remainder != 0 || significand & 1 == 1)) { significand += 1 }
        return Double(significand) * Double(sign: .plus, exponent: dropped - 64, significand: 1)
    }
}
