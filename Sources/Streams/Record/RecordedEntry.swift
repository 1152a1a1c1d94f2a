import Telemetry

extension ByteBuffer {
    /// One line of a recording: an event in a wrapper that says where and when it was published.
    ///
    /// - Parameters:
    ///   - key: nil where the entry has none.
    ///   - receivedAtMilliseconds: Unix time.
    ///   - value: the event's text, whatever it holds. Line breaks in it become blanks, which in JSON they are as well; what is no JSON
    ///     stays a line of its own that is none.
    mutating func append(
        recorded value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer?, partition: Int32, offset: Int64,
        receivedAtMilliseconds: Int64
    ) {
        append(raw: #"{"partition":"#)
        append(integer: Int64(partition))
        append(raw: #","offset":"#)
        append(integer: offset)
        if let key {
            append(raw: #","key":"#)
            append(string: String(decoding: key, as: UTF8.self))
        }
        append(raw: #","receivedAt":"#)
        append(secondsOfMilliseconds: receivedAtMilliseconds)
        append(raw: #","value":"#)
        if value.isEmpty {
            append(raw: "null")
        } else if value.contains(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            for byte in value {
                append(byte: byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") ? UInt8(ascii: " ") : byte)
            }
        } else {
            append(bytes: value)
        }
        append(raw: "}\n")
    }
}
