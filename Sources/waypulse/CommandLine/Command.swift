/// A command of the program: what its help says and what it does.
protocol Command {
    /// As it is typed after `waypulse`, for example `simulate apns`.
    static var name: String { get }
    static var summary: String { get }
    /// Examples come first in the help: they are what a reader looks for.
    static var examples: [(command: String, meaning: String)] { get }
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
        text += "\nusage: waypulse \(name)\(flags.isEmpty ? "" : " [options]")\(operands.isEmpty ? "" : " \(operands)")\n"
        if !details.isEmpty { text += "\n\(details)\n" }
        text += "\noptions:\n"
        let rows = (flags + [.help]).map { ($0.value.map { value in "\($0.name) \(value)" } ?? $0.name, $0.text) }
        let width = rows.map(\.0.count).max() ?? 0
        for (name, text_) in rows {
            text += "  \(name)\(String(repeating: " ", count: width - name.count))  \(text_)\n"
        }
        return text
    }
}
