/// The framing of Confluent's serializers: a magic byte and the id of the schema, then what the schema describes. JSON is read; Avro and
/// Protobuf have no mark of their own, and are known by not being JSON.
struct SchemaFrame {
    /// As a registry knows the schema: `schema id 42`, or a GUID.
    private let schema: String
    private let byteCount: Int

    /// Nil where there is no frame.
    init?(_ message: UnsafeRawBufferPointer) {
        switch message.first {
        case 0 where message.count >= 5:
            schema = "schema id \(UInt32(bigEndian: message.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))"
            byteCount = 5
        case 1 where message.count >= 17:
            schema = "schema \(SchemaFrame.guid(UnsafeRawBufferPointer(rebasing: message[1..<17])))"
            byteCount = 17
        default: return nil
        }
    }

    var name: String { "Confluent frame of \(schema)" }

    func content(of message: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: message[byteCount...])
    }

    func notJSON(found: String, _ headers: EventHeaders) -> EventFault {
        headers.explained(
            EventFault(
                .notJSON,
                "The \(name) holds no JSON, most likely Avro or Protobuf: \(found) Use Confluent's JSON Schema serializer, or publish plain JSON."
            ))
    }

    /// RFC 9562, section 4.
    private static func guid(_ bytes: UnsafeRawBufferPointer) -> String {
        let digits = Array("0123456789abcdef")
        var text = ""
        for (place, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(place) { text.append("-") }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return text
    }
}
