import Instruments
import Streams
import Telemetry

enum DlqListCommand: Command {
    static let name = "dlq list"
    static let summary = "List dead letters: what could not be used, when and why"
    static let examples: [Example] = [
        Example("waypulse dlq list dead-letters.jsonl", "All that a file holds, a line each."),
        Example(
            "waypulse dlq list --config waypulse.yaml --topic rides --since 1h --reason missing_field",
            "Of the last hour, for that reason, where the configuration keeps them."),
    ]
    static let operands = "[FILE…]"
    static let details = """
        A line holds the letter's id, when it failed first, the reason, where the record came from, the activity as far as it can be read, and
        what is wrong with it. The sum by reason goes to standard error. With --json a line is the whole letter, the record in base64.

        """ + DlqPlace.help
    private static let limit = Flag("--limit", value: "N", "List so many at most")
    static let flags: [Flag] = DlqFilter.flags + [limit] + DlqPlace.flags + [.json]

    static func run(_ arguments: Arguments) throws -> ExitCode {
        let signals = StopSignals()
        let most = try arguments.integer(limit, default: .max, in: 1 ... .max)
        var walk = DlqWalk(try DlqPlace(arguments, command: name), try DlqFilter(arguments))
        let output = LineOutput()
        var sum = DlqSum()
        try walk.letters(signals) { identifier, letter in
            guard sum.letters < most else { return false }
            sum.add(letter)
            output.write { line in
                if arguments.has(.json) {
                    line.append(line: letter, identifier: identifier)
                } else {
                    line.append(row: letter, identifier)
                }
            }
            return true
        }
        output.flush()
        if !arguments.has(.json) {
            Console.say(sum.text(of: "in \(walk.place.description)"))
            walk.warn()
        }
        return .success
    }
}

/// How many, and why.
struct DlqSum {
    private(set) var letters = 0
    private var reasons: [String: Int] = [:]

    mutating func add(_ letter: DeadLetter) {
        letters += 1
        reasons[letter.reason, default: 0] += 1
    }

    private var byCount: [(key: String, value: Int)] {
        reasons.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    }

    func text(of place: String) -> String {
        guard letters > 0 else { return "no dead letter \(place)" }
        return "\(Figures.counted(letters, "dead letter")) \(place)\n" + rows
    }

    var rows: String { byCount.reduce("") { $0 + Figures.row($1.key.printable, UInt64($1.value)) } }

    /// `{"not_json":3}`
    var json: String {
        var line = ByteBuffer()
        line.append(raw: "{")
        for (place, reason) in byCount.enumerated() {
            if place > 0 { line.append(raw: ",") }
            line.append(string: reason.key)
            line.append(raw: ":")
            line.append(integer: reason.value)
        }
        line.append(raw: "}")
        return line.text
    }
}

extension ByteBuffer {
    mutating func append(row letter: DeadLetter, _ identifier: String) {
        let time = letter.firstFailedAtMilliseconds > 0 ? "\(UTCTime(letter.firstFailedAtMilliseconds))" : "-"
        let words = [identifier, time, letter.reason, letter.origin, letter.subject ?? "-"]
        append(raw: words.map(\.printable).joined(separator: "  "))
        append(raw: "  \(letter.detail.printable)\n")
    }
}

extension DeadLetter {
    /// Where the record stands in its source.
    var origin: String {
        if let record { return "\(source):\(record)" }
        if let entry { return "\(source) \(entry)" }
        return offset >= 0 ? "\(source) \(offset)" : source
    }
}

extension String {
    /// Without what would move a terminal's cursor: what is in a letter was written by anybody.
    var printable: String {
        var text = ""
        for scalar in unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            text.unicodeScalars.append(isControl ? "\u{FFFD}" : scalar)
        }
        return text
    }
}
