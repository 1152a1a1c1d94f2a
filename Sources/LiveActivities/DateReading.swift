import Telemetry

/// A date field's value, read from what a producer gave (Unix seconds or RFC 3339) and written as the app decodes it.
struct DateReading: Equatable {
    enum Fault: Error, Equatable {
        case noDate, looksLikeMilliseconds, beyondCalendar

        /// To stand behind the path.
        var problem: String {
            switch self {
            case .noDate:
                "is a date: give Unix seconds or RFC 3339 text such as 2026-11-29T12:00:00Z"
            case .looksLikeMilliseconds:
                "looks like milliseconds; give Unix seconds or RFC 3339 text"
            case .beyondCalendar:
                "lies outside the years 0000 to 9999, which RFC 3339 can write"
            }
        }
    }

    /// 2001-01-01T00:00:00Z, from which a Swift `Date` counts.
    static let appleEpochSeconds: Int64 = 978_307_200
    /// 10^11 seconds are the year 5138; what is given above it is milliseconds by mistake.
    static let limitSeconds = 1e11

    let unixMilliseconds: Int64

    init(_ value: JSONValue) throws(Fault) {
        switch value {
        case .number(let number):
            guard number.double.magnitude < DateReading.limitSeconds else { throw .looksLikeMilliseconds }
            unixMilliseconds = Int64((number.double * 1000 + 0.5).rounded(.down))
        case .string(let text):
            guard let milliseconds = RFC3339.milliseconds(text) else { throw .noDate }
            unixMilliseconds = milliseconds
        default:
            throw .noDate
        }
    }

    /// Seconds are whole where they are whole, so that an app may decode an `Int`; else they have at most three decimals.
    func write(as format: DateFormat, into buffer: inout ByteBuffer) throws(Fault) {
        switch format {
        case .unix: buffer.append(secondsOfMilliseconds: unixMilliseconds)
        case .apple: buffer.append(secondsOfMilliseconds: appleMilliseconds)
        case .iso8601: buffer.append(string: try rfc3339)
        }
    }

    func written(as format: DateFormat) throws(Fault) -> JSONValue {
        let milliseconds: Int64
        switch format {
        case .unix: milliseconds = unixMilliseconds
        case .apple: milliseconds = appleMilliseconds
        case .iso8601: return .string(try rfc3339)
        }
        var text = ByteBuffer()
        text.append(secondsOfMilliseconds: milliseconds)
        return .number(JSONNumber(double: Double(milliseconds) / 1000, text: text.text))
    }

    private var appleMilliseconds: Int64 { unixMilliseconds - DateReading.appleEpochSeconds * 1000 }

    private var rfc3339: String {
        get throws(Fault) {
            guard let text = RFC3339.text(unixMilliseconds: unixMilliseconds) else { throw .beyondCalendar }
            return text
        }
    }
}

enum RFC3339 {
    /// Unix milliseconds; nil for what is no date-time of RFC 3339.
    static func milliseconds(_ text: String) -> Int64? {
        var text = text
        return text.withUTF8 { Timestamp.milliseconds(rfc3339: UnsafeRawBufferPointer($0)) }
    }

    /// Whether the text is a `full-date` (RFC 3339, section 5.6).
    static func isFullDate(_ text: String) -> Bool {
        text.utf8.count == 10 && milliseconds(text + "T00:00:00Z") != nil
    }

    /// UTC in whole seconds, rounded down: the `iso8601` strategy of Swift's `JSONDecoder` refuses fractions. Nil outside the years
    /// 0000 to 9999.
    static func text(unixMilliseconds: Int64) -> String? {
        let seconds = (Double(unixMilliseconds) / 1000).rounded(.down)
        guard (-62_167_219_200...253_402_300_799).contains(seconds) else { return nil }
        let (days, ofDay) = floorDivide(Int(seconds), 86_400)
        let (year, month, day) = civil(days: days)
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
            + "T\(padded(ofDay / 3600, 2)):\(padded(ofDay / 60 % 60, 2)):\(padded(ofDay % 60, 2))Z"
    }

    /// Gregorian date of a count of days from 1970-01-01. Years run from March, so that the leap day comes last; an era is 400 years.
    private static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
        let (era, ofEra) = floorDivide(days + 719_468, 146_097)
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * ofYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, ofYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func floorDivide(_ value: Int, _ divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
