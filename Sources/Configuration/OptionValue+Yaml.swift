extension OptionValue {
    /// The value as one line of YAML.
    var yaml: String {
        switch self {
        case .off: "off"
        case .flag(let value): String(value)
        case .integer(let value): String(value)
        case .number(let value): Quantity.text(number: value)
        case .milliseconds(let value): Quantity.text(milliseconds: value)
        case .bytes(let value): Quantity.text(bytes: value)
        case .text(let value), .schema(.file(let value)): Self.yaml(value)
        case .schema(.inline(let json)): json
        case .list(let words): "[" + words.map(Self.yaml).joined(separator: ", ") + "]"
        case .numbers(let numbers):
            Self.flow(numbers.mapValues { Quantity.text(number: $0) })
        case .names(let names): Self.flow(names.mapValues(Self.yaml))
        case .texts(let texts): Self.flow(Self.shown(texts).mapValues(Self.yaml))
        }
    }

    var isScalar: Bool {
        switch self {
        case .list, .numbers, .names, .texts, .schema: false
        default: true
        }
    }

    /// With dots in place of what is a secret by its name.
    static func shown(_ texts: [String: String]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: texts.map { ($0.key, Secret.isMeant(by: $0.key) ? "•••" : $0.value) })
    }

    private static func flow(_ entries: [String: String]) -> String {
        let pairs = entries.sorted { $0.key < $1.key }.map { "\(yaml($0.key)): \($0.value)" }
        return "{" + pairs.joined(separator: ", ") + "}"
    }

    /// Text, in quotes unless it is a word that no YAML reader takes for anything else.
    static func yaml(_ text: String) -> String {
        let reserved: Set<String> = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "~", ""]
        let isWord =
            text.utf8.allSatisfy { TextRule.isLetterOrDigit($0) || "._/-".utf8.contains($0) }
            && text.utf8.first.map { TextRule.isLetterOrDigit($0) || $0 == UInt8(ascii: "/") } == true
        if isWord, !reserved.contains(asciiLowercased(text)), Quantity.number(text) == nil { return text }
        return JSONText.quoted(text)
    }
}
