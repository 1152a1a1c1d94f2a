/// Unix milliseconds as RFC 3339 in UTC. Days are counted by Howard Hinnant's `civil_from_days`
/// (https://howardhinnant.github.io/date_algorithms.html), so that no C call and no time zone is involved.
public struct UTCTime: CustomStringConvertible, Sendable {
    private let milliseconds: Int64

    public init(_ unixMilliseconds: Int64) { milliseconds = unixMilliseconds }

    /// `2026-11-30T12:30:05.123Z`
    public var description: String { "\(date)T\(timeOfDay)Z" }

    /// `12:30:05.123`
    var timeOfDay: String {
        let inDay = milliseconds - days * 86_400_000
        return
            "\(two(inDay / 3_600_000)):\(two(inDay / 60_000 % 60)):\(two(inDay / 1000 % 60)).\(padded(inDay % 1000, 3))"
    }

    private var days: Int64 { (milliseconds - (milliseconds < 0 ? 86_399_999 : 0)) / 86_400_000 }

    private var date: String {
        // Years begin in March here, so that the leap day is a year's last.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return "\(padded(year, 4))-\(two(month))-\(two(day))"
    }

    private func two(_ number: Int64) -> String { padded(number, 2) }

    private func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
