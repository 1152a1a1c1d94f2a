import Flow
import Instruments
import LiveActivities
import Pacing

/// Numbers and times as sentences have them.
enum ExplanationWords {
    static func meters(_ meters: Double) -> String { "\(decimal(meters, places: 1)) m" }

    /// At most so many places, without zeros at the end.
    static func decimal(_ number: Double, places: Int) -> String {
        guard number.isFinite, number.magnitude < 1e12 else { return "\(number)" }
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        let scaled = Int64((number.magnitude * scale).rounded())
        let whole = (number < 0 && scaled > 0 ? "-" : "") + "\(scaled / Int64(scale))"
        if places == 0 { return whole }
        var fraction = String(scaled % Int64(scale))
        fraction = String(repeating: "0", count: places - fraction.count) + fraction
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return fraction.isEmpty ? whole : "\(whole).\(fraction)"
    }

    /// `84 ms`, `2.1 s`, `12 min 30 s`, `3 h 5 min`.
    static func duration(_ milliseconds: Int64) -> String {
        let magnitude = abs(milliseconds)
        if magnitude < 1_000 { return "\(milliseconds) ms" }
        if magnitude < 60_000 { return "\(decimal(Double(milliseconds) / 1_000, places: 1)) s" }
        if magnitude < 3_600_000 {
            let seconds = magnitude / 1_000 % 60
            return "\(magnitude / 60_000) min" + (seconds > 0 ? " \(seconds) s" : "")
        }
        if magnitude < 48 * 3_600_000 {
            let minutes = magnitude / 60_000 % 60
            return "\(magnitude / 3_600_000) h" + (minutes > 0 ? " \(minutes) min" : "")
        }
        return "\(magnitude / 86_400_000) days"
    }

    /// An option's value as the configuration writes it.
    static func option(_ milliseconds: Int64) -> String {
        if milliseconds == 0 { return "0s" }
        let units: [(String, Int64)] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000)]
        let unit = units.first { milliseconds % $0.1 == 0 } ?? ("ms", 1)
        return "\(milliseconds / unit.1)\(unit.0)"
    }

    /// Of the day, in UTC: `12:01:03.250`, whole seconds without their zeros.
    static func time(_ milliseconds: Int64) -> String {
        let text = UTCTime(milliseconds).description
        guard let begin = text.firstIndex(of: "T") else { return text }
        let day = text[text.index(after: begin)...].dropLast()
        return day.hasSuffix(".000") ? String(day.dropLast(4)) : String(day)
    }

    static func list(_ parts: [String]) -> String { parts.joined(separator: ", ") }

    static func events(_ count: Int, _ one: String, _ many: String) -> String {
        count == 1 ? "1 \(one)" : "\(grouped(count)) \(many)"
    }

    private static func grouped(_ number: Int) -> String {
        var digits = String(number)
        var place = digits.count - 3
        while place > 0 {
            digits.insert(",", at: digits.index(digits.startIndex, offsetBy: place))
            place -= 3
        }
        return digits
    }
}

extension Reasons {
    var words: String { isEmpty ? "nothing" : ExplanationWords.list(names) }
}

extension Update.Kind {
    var word: String {
        switch self {
        case .start: "start"
        case .update: "update"
        case .end: "end"
        }
    }
}

extension PushTarget {
    /// A token as its fingerprint alone.
    var words: String {
        switch self {
        case .updateToken(let token): "update token \(Fingerprint(token.hex))"
        case .startToken(let token): "start token \(Fingerprint(token.hex))"
        case .channel(let channel): "broadcast channel \(channel)"
        case .assumed: "a target that this plan assumes"
        }
    }

    var name: String {
        switch self {
        case .updateToken: "update_token"
        case .startToken: "start_token"
        case .channel: "channel"
        case .assumed: "assumed"
        }
    }
}
