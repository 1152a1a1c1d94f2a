extension Node {
    /// The node as JSON text: plain scalars by YAML's core schema (numbers, true, false, null), quoted ones as text.
    var json: String {
        switch content {
        case .scalar(let text, let isPlain):
            if isPlain, isNull { return "null" }
            if isPlain, text == "true" || text == "false" { return text }
            // A number is written anew: YAML allows forms, such as +1 or .5, that JSON does not.
            if isPlain, let number = Quantity.number(text) {
                return Int64(text).map(String.init) ?? Quantity.text(number: number)
            }
            return JSONText.quoted(text)
        case .sequence(let items):
            return "[" + items.map(\.json).joined(separator: ", ") + "]"
        case .mapping(let entries):
            return "{" + entries.map { JSONText.quoted($0.key) + ": " + $0.value.json }.joined(separator: ", ") + "}"
        }
    }
}

enum JSONText {
    static func quoted(_ string: String) -> String {
        var text = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}
