import Telemetry

extension ContentState {
    /// Bytes of its compact JSON, UTF-8 unescaped.
    var byteCount: Int { JSONValue.object(object).byteCount }
}

extension JSONValue {
    var byteCount: Int {
        switch self {
        case .null: 4
        case .bool(let value): value ? 4 : 5
        case .number(let number): number.text.utf8.count
        case .string(let string): string.quotedByteCount
        case .array(let values): values.reduce(2 + max(0, values.count - 1)) { $0 + $1.byteCount }
        case .object(let object):
            object.members.reduce(2 + max(0, object.count - 1)) {
                $0 + $1.name.quotedByteCount + 1 + $1.value.byteCount
            }
        }
    }
}

extension String {
    /// Quotes and the escapes that RFC 8259 demands included.
    fileprivate var quotedByteCount: Int {
        utf8.reduce(2) { count, byte in
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x08, 0x09, 0x0A, 0x0C, 0x0D: count + 2
            case 0..<0x20: count + 6
            default: count + 1
            }
        }
    }
}
