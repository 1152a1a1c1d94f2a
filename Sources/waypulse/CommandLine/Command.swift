struct Example {
    let command: String
    let meaning: String

    init(_ command: String, _ meaning: String) {
        self.command = command
        self.meaning = meaning
    }
}

/// A command of the program: what its help says and what it does.
protocol Command {
    /// As it is typed after `waypulse`, for example `simulate apns`.
    static var name: String { get }
    static var summary: String { get }
    /// Examples come first in the help: they are what a reader looks for.
    static var examples: [Example] { get }
    /// What follows the flags, for example `RECORDING…`; empty where nothing does.
    static var operands: String { get }
    static var details: String { get }
    static var flags: [Flag] { get }
    static func run(_ arguments: Arguments) throws -> ExitCode
}

extension Command {
    static var operands: String { "" }
    static var details: String { "" }

    static var help: String {
        var text = "\(summary)\n\nexamples:\n"
        for example in examples {
            text += "  \(example.command)\n      \(example.meaning)\n"
        }
        text +=
            "\nusage: waypulse \(name)\(flags.isEmpty ? "" : " [options]")\(operands.isEmpty ? "" : " \(operands)")\n"
        if !details.isEmpty { text += "\n\(details)\n" }
        text += "\noptions:\n"
        let rows: [(name: String, meaning: String)] = (flags + [.help]).map { flag in
            (flag.value.map { "\(flag.name) \($0)" } ?? flag.name, flag.text)
        }
        let width = rows.map(\.name.count).max() ?? 0
        for row in rows {
            text += "  \(row.name)\(String(repeating: " ", count: width - row.name.count))  \(row.meaning)\n"
        }
        return text
    }
}
