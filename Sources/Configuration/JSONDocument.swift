/// A JSON value that keeps the order of its keys.
indirect enum JSONDocument: Sendable {
    case object([(String, JSONDocument)])
    case array([JSONDocument])
    case string(String)
    /// A number as text.
    case number(String)
    case bool(Bool)

    /// Indented by two blanks.
    func text(indent: String = "") -> String {
        let inner = indent + "  "
        switch self {
        case .string(let string): return JSONText.quoted(string)
        case .number(let number): return number
        case .bool(let bool): return String(bool)
        case .array(let items) where items.isEmpty: return "[]"
        case .array(let items):
            return "[\n" + items.map { inner + $0.text(indent: inner) }.joined(separator: ",\n") + "\n\(indent)]"
        case .object(let members) where members.isEmpty: return "{}"
        case .object(let members):
            let lines = members.map { "\(inner)\(JSONText.quoted($0.0)): \($0.1.text(indent: inner))" }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
        }
    }
}
