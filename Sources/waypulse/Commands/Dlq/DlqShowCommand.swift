import Instruments
import Streams
import Telemetry

enum DlqShowCommand: Command {
    static let name = "dlq show"
    static let summary = "Show dead letters whole, with the record as it was published"
    static let examples: [Example] = [
        Example("waypulse dlq show dead-letters.jsonl --letter 12", "The one in line 12."),
        Example(
            "waypulse dlq show --config waypulse.yaml --topic rides --letter 3/1796033145716-0 --raw",
            "The record alone, byte for byte."),
    ]
    static let operands = "[FILE…]"
    static let details = """
        Without --letter it shows the first that the filter takes. It exits with 1 where there is none.

        """ + DlqPlace.help
    private static let raw = Flag("--raw", "Print nothing but the record, byte for byte")
    static let flags: [Flag] = DlqFilter.flags + [raw] + DlqPlace.flags + [.json]

    static func run(_ arguments: Arguments) throws -> ExitCode {
        let signals = StopSignals()
        var walk = DlqWalk(try DlqPlace(arguments, command: name), try DlqFilter(arguments))
        var found: (identifier: String, letter: DeadLetter)?
        try walk.letters(signals) {
            found = ($0, $1)
            return false
        }
        guard let found else {
            throw CommandFault(
                .failure, "no such dead letter in \(walk.place.description)", remedy: "waypulse dlq list, for their ids"
            )
        }
        var output = ByteBuffer()
        if arguments.has(raw) {
            found.letter.value.withUnsafeBytes { output.append(bytes: $0) }
        } else if arguments.has(.json) {
            output.append(line: found.letter, identifier: found.identifier)
        } else {
            output.append(raw: text(found.letter, found.identifier))
        }
        output.withUnsafeBytes { Console.print($0) }
        return .success
    }

    private static func text(_ letter: DeadLetter, _ identifier: String) -> String {
        let failed = letter.firstFailedAtMilliseconds
        var rows: [(String, String?)] = [
            ("letter", identifier), ("reason", letter.reason), ("detail", letter.detail),
            ("stage", letter.stage.rawValue),
            ("source", letter.origin), ("topic", letter.topic), ("partition", "\(letter.partition)"),
            ("offset", letter.offset >= 0 ? "\(letter.offset)" : nil), ("activity", letter.subject),
            ("sequence", letter.sequence.map { "\($0)" }), ("group", letter.group), ("instance", letter.instance),
            ("version", letter.version), ("first failed", failed > 0 ? "\(UTCTime(failed))" : nil),
            ("attempts", "\(letter.attempts)"),
            ("key", letter.key.map { String(decoding: $0, as: UTF8.self) }),
        ]
        for header in letter.headers { rows.append((header.name, String(decoding: header.value, as: UTF8.self))) }
        var text = ""
        for case (let name, let value?) in rows {
            text += "\(name.printable):\(String(repeating: " ", count: max(1, 14 - name.count)))\(value.printable)\n"
        }
        return text + "\n" + String(decoding: letter.value, as: UTF8.self).printable + "\n"
    }
}
