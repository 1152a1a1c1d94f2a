import Configuration

/// The words after a command's name, checked against its flags.
struct Arguments {
    private var values: [String: [String]] = [:]
    private(set) var operands: [String] = []
    private(set) var wantsHelp = false

    /// Both `--flag value` and `--flag=value` are understood; `--` ends the flags, and `-` is an operand (standard input).
    init(_ words: [String], flags: [Flag], command: String) throws {
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                return
            }
            guard word.hasPrefix("-"), word != "-" else {
                operands.append(word)
                continue
            }
            if word == "--help" || word == "-h" {
                wantsHelp = true
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let flag = flags.first(where: { $0.name == parts[0] }) else {
                let nearest = NearestMatch.of(parts[0], in: flags.map(\.name))
                throw CommandFault(
                    .usage,
                    "\"\(command)\" has no option \(parts[0])" + (nearest.map { "; did you mean \($0)?" } ?? ""),
                    remedy: "waypulse \(command) --help")
            }
            switch (flag.value, parts.count) {
            case (nil, 1):
                values[flag.name, default: []].append("")
            case (nil, _):
                throw CommandFault(.usage, "\(flag.name) takes no value", remedy: "waypulse \(command) --help")
            case (_, 2):
                values[flag.name, default: []].append(parts[1])
            case (let placeholder?, _):
                guard let value = rest.popFirst() else {
                    throw CommandFault(
                        .usage, "\(flag.name) needs a value", remedy: "waypulse \(command) \(flag.name) \(placeholder)")
                }
                values[flag.name, default: []].append(value)
            }
        }
    }

    func has(_ flag: Flag) -> Bool { values[flag.name] != nil }

    /// As if the flag had been given last.
    mutating func add(_ value: String, to flag: Flag) {
        values[flag.name, default: []].append(value)
    }

    /// The last value given: a later one overrides an earlier one.
    func value(_ flag: Flag) -> String? { values[flag.name]?.last }

    func all(_ flag: Flag) -> [String] { values[flag.name] ?? [] }

    func integer(_ flag: Flag, default standard: Int, in range: ClosedRange<Int>) throws -> Int {
        guard let text = value(flag) else { return standard }
        guard let number = Int(text), range.contains(number) else {
            throw CommandFault(
                .usage,
                "\(flag.name) takes a whole number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\"")
        }
        return number
    }
}
