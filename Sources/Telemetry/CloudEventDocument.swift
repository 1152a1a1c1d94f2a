/// A CloudEvent in structured mode: one JSON object with its attributes, the event being its `data` (CloudEvents 1.0.2, JSON event format).
struct CloudEventDocument {
    let data: EventEnvelope.Content
    let fallbacks: EventFallbacks
    /// What `time` says, where that cannot be read.
    let unreadableTime: String?

    /// The wrapper counts in the event's own size no more than that of a recording does.
    private static let mostBytes = JSONParser.maximumBytes + RecordingLine.maximumWrapperBytes

    /// - Parameter contentType: which says that it is a CloudEvent.
    init(_ text: UnsafeRawBufferPointer, declaredAs contentType: UnsafeRawBufferPointer) throws(EventFault) {
        try CloudEventDocument.check(contentType)
        guard text.count <= CloudEventDocument.mostBytes else {
            throw JSONParser.tooLarge(text.count, limit: CloudEventDocument.mostBytes)
        }
        let (document, ranges) = try CloudEventDocument.read(text)
        guard case .object(let object) = document else {
            throw EventFault(
                .notAnObject,
                "The message is \(EventFields.nameOfType(document)), and its header content-type calls it a CloudEvent, which is one JSON object."
            )
        }
        try self.init(EventFields(object: object), ranges, text)
    }

    /// Of a text that nothing but its own members could tell to be one; nil where they do not.
    init?(undeclared text: UnsafeRawBufferPointer) throws(EventFault) {
        // Bytes first: what cannot be used may come by the million.
        guard text.count <= CloudEventDocument.mostBytes, CloudEventDocument.contains(text, "\"specversion\""),
            let (document, ranges) = try? CloudEventDocument.read(text), let object = document.asObject,
            object["specversion"]?.asString != nil, object["data"] != nil || object["data_base64"] != nil
        else { return nil }
        try self.init(EventFields(object: object), ranges, text)
    }

    /// Deeper by one than an event, which is nested in it.
    private static func read(_ text: UnsafeRawBufferPointer) throws(EventFault) -> (JSONValue, [Range<Int>]) {
        let indexer = JSONIndexer()
        var reader = JSONReader(
            text, positions: try indexer.index(text), maximumDepth: JSONParser.maximumDepth + 1)
        let document = try reader.document()
        withExtendedLifetime(indexer) {}
        return (document, reader.memberRanges)
    }

    private init(
        _ fields: EventFields, _ ranges: [Range<Int>], _ text: UnsafeRawBufferPointer
    ) throws(EventFault) {
        let contentType = try fields.string("datacontenttype")
        if let place = fields.object.members.firstIndex(where: { $0.name.hasSameBytes(as: "data") }),
            let value = fields.present("data")
        {
            // An object is JSON, whatever it is called.
            if value.asObject == nil { try CloudEventDocument.checkData(contentType) }
            data = .lent(UnsafeRawBufferPointer(rebasing: text[ranges[place]]))
        } else if let encoded = try fields.string("data_base64") {
            try CloudEventDocument.checkData(contentType)
            guard let bytes = Base64.decode(encoded) else {
                throw fields.outOfRange("data_base64", "is no Base64 (RFC 4648, section 4, with padding)")
            }
            data = .decoded(bytes)
        } else {
            throw fields.missing("data", "publish the event there")
        }
        var (identifier, source, time) = try (
            fields.string("id") ?? "", fields.string("source") ?? "", fields.string("time")
        )
        var known = EventFallbacks()
        identifier.withUTF8 { identifier in
            source.withUTF8 { source in
                known = EventFallbacks(
                    cloudEventIdentifier: UnsafeRawBufferPointer(identifier), source: UnsafeRawBufferPointer(source),
                    time: nil)
            }
        }
        known.timestampMilliseconds = time?.withUTF8 { Timestamp.milliseconds(rfc3339: UnsafeRawBufferPointer($0)) }
        fallbacks = known
        unreadableTime = known.timestampMilliseconds == nil ? time : nil
    }

    private static func check(_ contentType: UnsafeRawBufferPointer) throws(EventFault) {
        let type = MediaType(contentType)
        let quoted = EventFault.quoted(String(decoding: contentType, as: UTF8.self))
        if type.isCloudEventBatch {
            throw EventFault(
                .notAnObject,
                "The message is a batch of CloudEvents (content-type \(quoted)), which has one place in the stream for several events; publish each as a record of its own."
            )
        }
        guard type.isCloudEventInJSON else {
            throw EventFault(
                .notJSON,
                "The message is a CloudEvent in a format that is not JSON (content-type \(quoted)); publish it as application/cloudevents+json, or in binary mode."
            )
        }
    }

    private static func checkData(_ contentType: String?) throws(EventFault) {
        guard var type = contentType else { return }
        let isJSON = type.withUTF8 { MediaType(UnsafeRawBufferPointer($0)).isJSON }
        guard !isJSON else { return }
        throw EventFault(
            .notJSON,
            "The data of the CloudEvent are no JSON: its datacontenttype is \(EventFault.quoted(type)); publish an event as application/json."
        )
    }

    private static func contains(_ text: UnsafeRawBufferPointer, _ wanted: StaticString) -> Bool {
        let count = wanted.utf8CodeUnitCount
        guard text.count >= count else { return false }
        for start in 0...(text.count - count) where text[start] == wanted.utf8Start[0] {
            if (1..<count).allSatisfy({ text[start + $0] == wanted.utf8Start[$0] }) { return true }
        }
        return false
    }
}
