import Instruments
import Telemetry

/// From when to when somebody wants to know: moments, or times of the day that the explanation is of.
struct TimeWindow {
    static let from = Flag(
        "--from", value: "TIME", "Only decisions since then, in UTC: 12:01, 12:01:30 or 2026-11-30T12:01:00Z")
    static let to = Flag("--to", value: "TIME", "Only those until then; a recording is played no further")

    private enum Time {
        case moment(Int64)
        case ofDay(Int64)
    }

    private let begin: Time?
    private let end: Time?

    private static let day: Int64 = 86_400_000

    init(_ arguments: Arguments) throws {
        begin = try Self.time(arguments, Self.from)
        end = try Self.time(arguments, Self.to)
    }

    var hasBegin: Bool { begin != nil }

    /// On the day of a recording's first record; what lies more than half a day before it is of the next.
    func bounds(afterFirst first: Int64) -> (begin: Int64?, end: Int64?) {
        func place(_ time: Time?) -> Int64? {
            switch time {
            case nil: return nil
            case .moment(let moment): return moment
            case .ofDay(let time):
                let today = first - Self.inDay(first) + time
                return today < first - Self.day / 2 ? today + Self.day : today
            }
        }
        return (place(begin), place(end))
    }

    /// The last time before now.
    func bounds(before now: Int64) -> (begin: Int64?, end: Int64?) {
        func place(_ time: Time?) -> Int64? {
            switch time {
            case nil: return nil
            case .moment(let moment): return moment
            case .ofDay(let time):
                let today = now - Self.inDay(now) + time
                return today > now ? today - Self.day : today
            }
        }
        return (place(begin), place(end))
    }

    private static func inDay(_ milliseconds: Int64) -> Int64 { (milliseconds % day + day) % day }

    private static func time(_ arguments: Arguments, _ flag: Flag) throws -> Time? {
        guard let text = arguments.value(flag) else { return nil }
        func moment(_ text: String) -> Int64? {
            var text = text
            return text.withUTF8 { Timestamp.milliseconds(rfc3339: UnsafeRawBufferPointer($0)) }
        }
        if let moment = moment(text) { return .moment(moment) }
        // The same reader, given a day.
        let seconds = text.split(separator: ":", omittingEmptySubsequences: false).count == 2 ? "\(text):00" : text
        if let ofDay = moment("1970-01-01T\(seconds)Z") { return .ofDay(ofDay) }
        throw CommandFault(
            .usage, "\(flag.name): \"\(text)\" is no time",
            remedy: "\(flag.name) 12:01 (UTC), or \(flag.name) 2026-11-30T12:01:00Z")
    }
}
