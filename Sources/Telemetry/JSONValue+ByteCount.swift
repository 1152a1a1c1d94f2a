/// How many bytes `ByteBuffer` would write, without writing them.
extension JSONValue {
    public var byteCount: Int {
        switch self {
        case .null: 4
        case .bool(let bool): bool ? 4 : 5
        case .number(let number): number.text.utf8.count
        case .string(let string): JSONText.byteCount(ofQuoted: string)
        case .array(let elements):
            2 + max(0, elements.count - 1) + elements.reduce(0) { $0 + $1.byteCount }
        case .object(let object): object.byteCount
        }
    }
}

extension JSONObject {
    public var byteCount: Int {
        2 + max(0, count - 1)
            + members.reduce(0) { $0 + JSONText.byteCount(ofQuoted: $1.name) + 1 + $1.value.byteCount }
    }
}

extension JSONText {
    static func byteCount(ofQuoted string: String) -> Int {
        var count = 2
        for byte in string.utf8 {
            count += mustBeEscaped(byte) ? (shortEscape(of: byte) == nil ? 6 : 2) : 1
        }
        return count
    }
}
