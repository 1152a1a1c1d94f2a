/// What producers wrap around an event, taken off: Confluent's framing, CloudEvents in structured mode; and what the headers of one in
/// binary mode add. Where there is no envelope, the event is the message.
public struct EventEnvelope {
    public enum Content {
        /// A part of the message, or all of it.
        case lent(UnsafeRawBufferPointer)
        /// It was encoded.
        case decoded([UInt8])
    }

    /// Not looked into yet: the decoder judges it.
    public let event: Content
    public let fallbacks: EventFallbacks
    /// Whether the message is itself a CloudEvent, in structured mode.
    let isStructured: Bool
    private let frame: SchemaFrame?
    private let headers: EventHeaders
    /// A time that stands for the event's, and cannot be read: which attribute, and what it says.
    private let unreadableTime: (attribute: String, text: String)?

    /// - Parameter message: must outlive the envelope, as the headers must.
    /// - Throws: where the message is known to hold no event that could be read: `not_json` for every format that is not JSON, with the
    ///   format's name in the sentence. It is the truth about the bytes, and the set of reasons stays small enough to label a metric.
    ///   `not_an_object` for a batch of CloudEvents, and what is wrong with a CloudEvent.
    public init(_ message: UnsafeRawBufferPointer, headers: EventHeaders) throws(EventFault) {
        let frame = SchemaFrame(message)
        let content = frame?.content(of: message) ?? message
        if let contentType = headers.contentType, MediaType(contentType).isCloudEvent {
            let document = try CloudEventDocument(content, declaredAs: contentType)
            self.init(document, frame, headers)
            return
        }
        if let format = ForeignFormat(content, isFramed: frame != nil) {
            throw frame?.notJSON(found: format.name, headers) ?? format.fault(headers)
        }
        self.init(event: .lent(content), headers.fallbacks, isStructured: false, frame, headers, time: nil)
    }

    private init(_ document: CloudEventDocument, _ frame: SchemaFrame?, _ headers: EventHeaders) {
        self.init(
            event: document.data, document.fallbacks, isStructured: true, frame, headers,
            time: document.unreadableTime.map { ("\"time\" of the CloudEvent", $0) })
    }

    private init(
        event: Content, _ fallbacks: EventFallbacks, isStructured: Bool, _ frame: SchemaFrame?, _ headers: EventHeaders,
        time: (attribute: String, text: String)?
    ) {
        self.event = event
        self.fallbacks = fallbacks
        self.isStructured = isStructured
        self.frame = frame
        self.headers = headers
        unreadableTime = time
    }

    /// The envelope of a CloudEvent in structured mode of which no header says so; nil where the event is none. To be asked only where the
    /// event cannot be used as it is: a plain one stays what it is, whatever its unknown fields are called.
    func undeclaredCloudEvent() throws(EventFault) -> EventEnvelope? {
        guard !isStructured, case .lent(let content) = event,
            let document = try CloudEventDocument(undeclared: content)
        else { return nil }
        return EventEnvelope(document, frame, headers)
    }

    /// What to say of an event inside that cannot be used.
    func explained(_ fault: EventFault) -> EventFault {
        if fault.reason == .missingField("timestamp"), let (attribute, text) = lackingTime {
            return EventFault(
                .badTimestamp,
                "The event has no \"timestamp\", and the \(attribute), which stands for it, is \(EventFault.quoted(text)) and so no RFC 3339 time; publish one such as \"2026-03-08T20:10:00.5Z\"."
            )
        }
        if isStructured {
            return EventFault(fault.reason, "In \"data\" of the CloudEvent: " + fault.explanation)
        }
        guard fault.reason == .notJSON else {
            return frame.map { EventFault(fault.reason, "In the \($0.name): " + fault.explanation) } ?? fault
        }
        return frame?.notJSON(found: fault.explanation, headers) ?? headers.explained(fault)
    }

    private var lackingTime: (attribute: String, text: String)? {
        if let unreadableTime { return unreadableTime }
        guard !isStructured, fallbacks.timestampMilliseconds == nil, let time = headers.cloudEventTime else {
            return nil
        }
        return ("header ce_time", String(decoding: time, as: UTF8.self))
    }
}
