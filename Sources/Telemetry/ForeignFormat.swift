/// What begins as no JSON text can, by name where it has one.
struct ForeignFormat {
    /// A sentence about the bytes.
    let name: String

    /// Nil for what may be JSON, or text that is meant to be.
    ///
    /// - Parameter isFramed: what a frame was taken off has no magic of its own.
    init?(_ bytes: UnsafeRawBufferPointer, isFramed: Bool) {
        guard let first = bytes.first else { return nil }
        func begins(_ magic: [UInt8]) -> Bool { bytes.starts(with: magic) }
        if !isFramed {
            if begins([0x4F, 0x62, 0x6A, 0x01]) {
                name = "It is an Avro object container file (\"Obj\\u0001\")."
                return
            }
            if begins([0xC3, 0x01]), bytes.count >= 10 {
                name = "It is an Avro single object (C3 01)."
                return
            }
            if begins([0x03, 0x00]) || begins([0x03, 0x05]), bytes.count >= 18 {
                name = "It has the framing of the AWS Glue schema registry (03 0\(bytes[1]))."
                return
            }
            if begins([0x1F, 0x8B]) {
                name = "It is compressed with gzip; leave compression to the Kafka client (compression.type)."
                return
            }
            if begins([0x28, 0xB5, 0x2F, 0xFD]) {
                name = "It is compressed with Zstandard; leave compression to the Kafka client (compression.type)."
                return
            }
        }
        // Text may be broken in ways that the parser of JSON can name better; a byte order mark is one of them.
        let isText = first >= 0x20 && first < 0x80 || JSONText.isBlank(first) || begins([0xEF, 0xBB, 0xBF])
        guard !isText else { return nil }
        let digits = String(first, radix: 16, uppercase: true)
        name =
            "Its first byte is \(first < 16 ? "0x0" : "0x")\(digits), with which no JSON text begins\(isFramed ? "" : ", and no frame that is known")."
    }

    func fault(_ headers: EventHeaders) -> EventFault {
        headers.explained(
            EventFault(
                .notJSON,
                "The message is no JSON. \(name) Publish one JSON object a record, as it is or in Confluent's framing (JSON Schema serializer)."
            ))
    }
}

extension EventHeaders {
    /// What the headers know of bytes that are no JSON.
    func explained(_ fault: EventFault) -> EventFault {
        var explanation = fault.explanation
        if let contentType, !MediaType(contentType).isJSON {
            let quoted = EventFault.quoted(String(decoding: contentType, as: UTF8.self))
            explanation += " Its header content-type says \(quoted)."
        }
        if valueSchema != nil {
            explanation +=
                " Its header __value_schema_id says that a serializer for a schema registry wrote it; of those, the one for JSON Schema is understood."
        }
        return EventFault(fault.reason, explanation)
    }
}
