/// Times as events write them, read into whole Unix milliseconds.
public enum Timestamp {
    /// Above it a number of seconds is taken for milliseconds (10^11 s is the year 5138).
    static let maximumSeconds = 1e11

    /// floor(t × 1000 + 0.5); nil beyond ±10^11 seconds.
    @inline(__always)
    static func milliseconds(seconds: Double) -> Int64? {
        guard seconds.magnitude <= maximumSeconds else { return nil }
        return Int64((seconds * 1000 + 0.5).rounded(.down))
    }

    /// The same of a number as it is written.
    @inline(__always)
    static func milliseconds(seconds: ScanCursor.Decimal, _ powers: ScannerTables.Powers) -> Int64? {
        // Up to 10^11 seconds lie, as doubles and times 1000, within a fortieth of what is written; so with at most three decimals the formula gives
        // exactly the whole milliseconds that are written.
        if seconds.fractionDigits <= 3, !seconds.isNegative {
            let (written, overflow) = seconds.mantissa.multipliedReportingOverflow(
                by: powers.integers[3 - seconds.fractionDigits])
            if !overflow, written <= UInt64(maximumSeconds) * 1000 { return Int64(written) }
        }
        return milliseconds(seconds: seconds.double(powers))
    }

    /// RFC 3339, section 5.6, with `T` and `Z` in either case and fractions of any length, rounded as a number would be.
    ///
    /// A leap second is taken where one may stand (the last second of a month in UTC) and counts as the second after it, as
    /// POSIX time has no other place for it. Nil for anything else, dates that no calendar has included.
    public static func milliseconds(rfc3339 text: UnsafeRawBufferPointer) -> Int64? {
        var reader = DigitReader(text)
        guard let year = reader.number(digits: 4), reader.take("-"),
            let month = reader.number(digits: 2), reader.take("-"),
            let day = reader.number(digits: 2), reader.take("T", or: "t"),
            let hour = reader.number(digits: 2), reader.take(":"),
            let minute = reader.number(digits: 2), reader.take(":"),
            let second = reader.number(digits: 2)
        else { return nil }
        guard 1...12 ~= month, 1...daysInMonth(month, year: year) ~= day, hour < 24, minute < 60, second <= 60 else {
            return nil
        }
        guard let fraction = reader.fractionMilliseconds(), let offsetMinutes = reader.offsetMinutes(), reader.isAtEnd
        else { return nil }
        let seconds =
            daysSinceEpoch(year: year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60 + second
            - offsetMinutes * 60
        if second == 60 {
            // Counted as the next second, it must be midnight of the first of a month, in UTC.
            guard seconds % 86_400 == 0, isFirstOfMonth(day: seconds / 86_400) else { return nil }
        }
        return Int64(seconds) * 1000 + fraction
    }

    private static func daysInMonth(_ month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days from 1970-01-01 in the Gregorian calendar. Years run from March, so that the leap day comes last.
    private static func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int {
        let shiftedYear = (month <= 2 ? year - 1 : year) + 400
        let shiftedMonth = (month + 9) % 12
        let leapDays = shiftedYear / 4 - shiftedYear / 100 + shiftedYear / 400
        let dayOfYear = (153 * shiftedMonth + 2) / 5 + day - 1
        return shiftedYear * 365 + leapDays + dayOfYear - 719_468 - 146_097
    }

    private static func isFirstOfMonth(day: Int) -> Bool {
        // Each first of a month lies within a year of its year's estimate, so few candidates need a look.
        let estimate = 1970 + Int((Double(day) / 365.2425).rounded(.down))
        for year in (estimate - 1)...(estimate + 1) {
            for month in 1...12 where daysSinceEpoch(year: year, month: month, day: 1) == day { return true }
        }
        return false
    }
}

/// Takes digits and signs off the front of a text.
private struct DigitReader {
    private let text: UnsafeRawBufferPointer
    private var position = 0

    init(_ text: UnsafeRawBufferPointer) {
        self.text = text
    }

    var isAtEnd: Bool { position == text.count }

    mutating func number(digits: Int) -> Int? {
        guard position + digits <= text.count else { return nil }
        var number = 0
        for _ in 0..<digits {
            guard JSONText.isDigit(text[position]) else { return nil }
            number = number * 10 + Int(text[position] - UInt8(ascii: "0"))
            position += 1
        }
        return number
    }

    mutating func take(_ character: Unicode.Scalar, or other: Unicode.Scalar? = nil) -> Bool {
        guard position < text.count else { return false }
        let found = text[position]
        guard found == UInt8(ascii: character) || other.map({ found == UInt8(ascii: $0) }) == true else { return false }
        position += 1
        return true
    }

    /// 0…1000, rounded half up at the fourth digit; 0 where there is no fraction, nil for a point without digits.
    mutating func fractionMilliseconds() -> Int64? {
        guard take(".") else { return 0 }
        let first = position
        var milliseconds: Int64 = 0
        var roundsUp = false
        while position < text.count, JSONText.isDigit(text[position]) {
            let digit = Int64(text[position] - UInt8(ascii: "0"))
            if position - first < 3 { milliseconds = milliseconds * 10 + digit }
            if position - first == 3 { roundsUp = digit >= 5 }
            position += 1
        }
        let count = position - first
        guard count > 0 else { return nil }
        for _ in 0..<max(0, 3 - count) { milliseconds *= 10 }
        return milliseconds + (roundsUp ? 1 : 0)
    }

    mutating func offsetMinutes() -> Int? {
        if take("Z", or: "z") { return 0 }
        let isNegative = take("-")
        guard isNegative || take("+"), let hours = number(digits: 2), take(":"), let minutes = number(digits: 2),
            hours < 24, minutes < 60
        else { return nil }
        return (isNegative ? -1 : 1) * (hours * 60 + minutes)
    }
}
