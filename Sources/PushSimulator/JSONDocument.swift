import Telemetry

/// JSON as bytes, in both directions.
enum JSONDocument {
    /// Nil for anything that is not strict JSON.
    static func parse(_ bytes: [UInt8]) -> JSONValue? {
        bytes.withUnsafeBytes { try? JSONParser.parse($0) }
    }

    /// Compact: no blanks, UTF-8 unescaped.
    static func bytes(of value: JSONValue) -> [UInt8] {
        var buffer = ByteBuffer()
        buffer.append(value)
        return buffer.bytes
    }
}
