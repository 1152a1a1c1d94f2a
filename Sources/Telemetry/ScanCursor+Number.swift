extension ScanCursor {
    /// A number as it is written: ±mantissa / 10^fractionDigits.
    struct Decimal {
        var mantissa: UInt64
        /// At most 18.
        var fractionDigits: Int
        var isNegative: Bool

        /// The nearest double, exactly.
        @inline(__always)
        func double(_ powers: ScannerTables.Powers) -> Double {
            let magnitude: Double
            if mantissa < 1 << 53 {
                // Both operands are exact, so the one division rounds once (Clinger, "How to read floating point numbers accurately").
                magnitude = Double(Int64(bitPattern: mantissa)) / powers.doubles[fractionDigits]
            } else if fractionDigits == 0 {
                magnitude = Double(mantissa)
            } else {
                magnitude = ScanCursor.quotient(mantissa, powers.integers[fractionDigits])
            }
            return isNegative ? -magnitude : magnitude
        }
    }

    /// A sign, seven digits, a point, the word behind it, and one more byte.
    private static let bytesToRead = 18

    /// A number of at most 19 digits without exponent; nil for any other. What follows it is not looked at.
    @inline(__always)
    mutating func takeNumber(_ powers: ScannerTables.Powers) -> Decimal? {
        if holds(ScanCursor.bytesToRead), let number = takeNumberByWords(powers) { return number }
        var copy = self
        let number = copy.takeNumberByDigits()
        self = copy
        return number
    }

    /// Digits are counted and read a word at a time. Nil where the number is unusual, or too near the message's end for its length.
    @inline(__always)
    private mutating func takeNumberByWords(_ powers: ScannerTables.Powers) -> Decimal? {
        var here = position
        let isNegative = here.load(as: UInt8.self) == UInt8(ascii: "-")
        if isNegative { here += 1 }
        let word = ScanCursor.digits(at: here)
        var integerDigits = ScanCursor.countOfDigits(word)
        // A zero stands alone before the point.
        guard integerDigits > 0, word & 0xFF != 0 || integerDigits == 1 else { return nil }
        var mantissa: UInt64
        if integerDigits < 8 {
            mantissa = ScanCursor.number(word, digits: integerDigits)
        } else {
            guard end - here >= 8 + ScanCursor.bytesToRead else { return nil }
            let word2 = ScanCursor.digits(at: here + 8)
            let digits = ScanCursor.countOfDigits(word2)
            guard 1...7 ~= digits else { return nil }
            mantissa =
                ScanCursor.eightDigits(word) &* powers.integers[digits] &+ ScanCursor.number(word2, digits: digits)
            integerDigits = 8 &+ digits
        }
        here += integerDigits
        var fractionDigits = 0
        if here.load(as: UInt8.self) == UInt8(ascii: ".") {
            here += 1
            let word = ScanCursor.digits(at: here)
            fractionDigits = ScanCursor.countOfDigits(word)
            if 1...7 ~= fractionDigits {
                mantissa =
                    mantissa &* powers.integers[fractionDigits]
                    &+ ScanCursor.number(word, digits: fractionDigits)
            } else {
                guard fractionDigits == 8, end - here >= 8 + ScanCursor.bytesToRead else { return nil }
                let word2 = ScanCursor.digits(at: here + 8)
                let digits = ScanCursor.countOfDigits(word2)
                guard digits < 8 else { return nil }
                mantissa = mantissa &* 100_000_000 &+ ScanCursor.eightDigits(word)
                if digits > 0 {
                    mantissa = mantissa &* powers.integers[digits] &+ ScanCursor.number(word2, digits: digits)
                }
                fractionDigits = 8 &+ digits
            }
            here += fractionDigits
        }
        guard integerDigits &+ fractionDigits <= 19, here.load(as: UInt8.self) | 0x20 != UInt8(ascii: "e") else {
            return nil
        }
        position = here
        return Decimal(mantissa: mantissa, fractionDigits: fractionDigits, isNegative: isNegative)
    }

    @inline(never)
    private mutating func takeNumberByDigits() -> Decimal? {
        var here = position
        let isNegative = byte == UInt8(ascii: "-")
        if isNegative { here += 1 }
        guard here < end else { return nil }
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
        guard integerDigits > 0 else { return nil }
        if integerDigits > 1, integerStart.load(as: UInt8.self) == UInt8(ascii: "0") { return nil }
        var fractionDigits = 0
        if digit == UInt8(ascii: ".") &- UInt8(ascii: "0") {
            here += 1
            let fractionStart = here
            while here + 8 <= end {
                let word = ScanCursor.digits(at: here)
                guard ScanCursor.countOfDigits(word) == 8 else { break }
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
            guard fractionDigits > 0 else { return nil }
        }
        guard integerDigits + fractionDigits <= 19 else { return nil }
        if (digit &+ UInt8(ascii: "0")) | 0x20 == UInt8(ascii: "e") { return nil }
        position = here
        return Decimal(mantissa: mantissa, fractionDigits: fractionDigits, isNegative: isNegative)
    }

    /// Eight bytes, the first in the lowest bits, from each of which a zero has been taken: digits are 0 to 9 then.
    @inline(__always)
    private static func digits(at position: UnsafeRawPointer) -> UInt64 {
        UInt64(littleEndian: position.loadUnaligned(as: UInt64.self)) ^ 0x3030_3030_3030_3030
    }

    /// How many digits a word begins with; 8 where it is nothing else.
    @inline(__always)
    private static func countOfDigits(_ word: UInt64) -> Int {
        // A carry can only mark bytes behind the first true mark, and that is the one that counts.
        let marks = ((word &+ 0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080
        return marks.trailingZeroBitCount >> 3
    }

    /// The number that the first 1 to 7 digits of a word write.
    @inline(__always)
    private static func number(_ word: UInt64, digits: Int) -> UInt64 {
        // Shifted up, zeros stand before them.
        eightDigits(word &<< UInt64(truncatingIfNeeded: 64 &- 8 &* digits))
    }

    /// The number that eight digits write: pairs, then fours, then all eight.
    @inline(__always)
    private static func eightDigits(_ word: UInt64) -> UInt64 {
        let pairs = (word &* 10 &+ word >> 8) & 0x00FF_00FF_00FF_00FF
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
