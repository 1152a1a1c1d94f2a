/// The field `date` of an answer (RFC 9110, section 5.6.7): what the provider's clock says.
enum HTTPDate {
    private static let months = Array("JanFebMarAprMayJunJulAugSepOctNovDec".utf8)

    /// Unix seconds of `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that is still sent; nil for anything else.
    static func unixSeconds(_ text: UnsafeRawBufferPointer) -> Int64? {
        guard text.count == 29, text[3] == UInt8(ascii: ","), text[26...].elementsEqual("GMT".utf8),
            text[19] == UInt8(ascii: ":"), text[22] == UInt8(ascii: ":"),
            let day = number(text, 5, 2), let month = month(text), let year = number(text, 12, 4),
            let hour = number(text, 17, 2), let minute = number(text, 20, 2), let second = number(text, 23, 2),
            (1...31).contains(day), year >= 1970, hour < 24, minute < 60, second <= 60
        else { return nil }
        return days(year: year, month: month, day: day) * 86_400 + hour * 3_600 + minute * 60 + second
    }

    private static func number(_ text: UnsafeRawBufferPointer, _ offset: Int, _ count: Int) -> Int64? {
        var value: Int64 = 0
        for byte in text[offset..<(offset + count)] {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return value
    }

    private static func month(_ text: UnsafeRawBufferPointer) -> Int64? {
        for month in 0..<12 where text[8..<11].elementsEqual(months[(3 * month)..<(3 * month + 3)]) {
            return Int64(month) + 1
        }
        return nil
    }

    /// Since 1970-01-01, in the Gregorian calendar: years begin in March, so that the leap day is the last.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }
}
