/// Turns the bytes of one message into a checked `Event`, or says why it cannot.
///
/// Checks are made in this order, and the first that fails names the fault: size, JSON, an object, numbers beyond double, `type`,
/// the ids, `timestamp`, `eventId`, `app`, then the fields of the type in the order in which the event reference lists them.
/// A field that the type does not have is ignored, whatever it holds; `null` outside `contentState` means absent.
///
/// A decoder is used by one thread at a time, and its copies count as the same one: they share their buffers.
public struct EventDecoder {
    private let indexer = JSONIndexer()
    private let identifierBuffer = IdentifierBuffer()
    let contentBuffer = ContentBuffer()
    private let apps: [String]?
    let scanner: EventScanner

    /// - Parameter apps: the configured applications: an event that names another cannot be used. nil takes any, for those
    ///   who pass events on.
    public init(apps: [String]?) {
        self.apps = apps
        scanner = EventScanner(apps: apps ?? [])
    }

    /// - Parameter bytes: one message. They must outlive the event, whose `identifier` points into them, or, where the id was
    ///   written with escapes, into a buffer of the decoder that holds until the next call.
    public mutating func decode(_ bytes: UnsafeRawBufferPointer) throws(EventFault) -> Event {
        if let event = scanner.scan(bytes) { return event }
        return try decodeInFull(bytes)
    }

    /// What the fast way makes of the message: for the tests that compare the two.
    mutating func decodeQuickly(_ bytes: UnsafeRawBufferPointer) -> Event? {
        scanner.scan(bytes)
    }

    /// The general way, open to every event. What the fast one takes, it takes with the same result.
    ///
    /// - Parameter fallbacks: what stands for fields that the event lacks.
    mutating func decodeInFull(
        _ bytes: UnsafeRawBufferPointer, else fallbacks: EventFallbacks = .none
    ) throws(EventFault) -> Event {
        let (fields, ranges) = try parse(bytes)
        let kind = try fields.kind()
        let (isForSubject, identifierName, identifier) = try fields.identifier()
        let milliseconds = try fields.timestamp(else: fallbacks.timestampMilliseconds)
        let eventIdentifierHash = try fields.eventIdentifierHash(else: fallbacks.eventIdentifierHash)
        let app = try fields.app(configured: apps)
        let position = kind == .position ? try fields.position() : .none
        let detail: EventDetail? =
            switch kind {
            case .activityStarted: try fields.startDetail(app: app, isForSubject: isForSubject)
            case .position: try fields.positionDetail(app: app)
            case .status: try fields.statusDetail(app: app)
            case .token: try fields.tokenDetail(app: app, isForSubject: isForSubject)
            case .activityEnded: try fields.endDetail(app: app)
            }
        return Event(
            kind: kind, isForSubject: isForSubject,
            identifier: borrow(identifier, named: identifierName, fields: fields, ranges: ranges, from: bytes),
            timestampMilliseconds: milliseconds, eventIdentifierHash: eventIdentifierHash, position: position,
            detail: detail)
    }

    private func parse(_ bytes: UnsafeRawBufferPointer) throws(EventFault) -> (EventFields, [Range<Int>]) {
        guard bytes.count <= JSONParser.maximumBytes else {
            throw JSONParser.tooLarge(bytes.count, limit: JSONParser.maximumBytes)
        }
        var reader = JSONReader(
            bytes, positions: try indexer.index(bytes), maximumDepth: JSONParser.maximumDepth)
        let value = try reader.document()
        guard case .object(let object) = value else {
            throw EventFault(
                .notAnObject,
                "The message is \(EventFields.nameOfType(value)); an event is one JSON object, for example {\"type\":\"position\",…}."
            )
        }
        if reader.foundOverflow { throw JSONParser.numberBeyondDouble(in: value) }
        return (EventFields(object: object), reader.memberRanges)
    }

    /// The id's bytes inside the message where it is written there as it is, so that a batch of events may be decoded before
    /// the first is applied.
    private func borrow(
        _ identifier: String, named name: String, fields: EventFields, ranges: [Range<Int>],
        from bytes: UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer {
        if let member = fields.object.members.firstIndex(where: { $0.name.hasSameBytes(as: name) }) {
            let range = ranges[member]
            if range.count == identifier.utf8.count + 2 {
                return UnsafeRawBufferPointer(rebasing: bytes[(range.lowerBound + 1)..<(range.upperBound - 1)])
            }
        }
        return identifierBuffer.keep(identifier)
    }
}

/// Holds the one id that stands with escapes in its message.
private final class IdentifierBuffer {
    private let storage = UnsafeMutableRawBufferPointer.allocate(
        byteCount: EventFields.maximumIdentifierBytes, alignment: 8)

    deinit {
        storage.deallocate()
    }

    /// - Parameter identifier: at most `maximumIdentifierBytes` of UTF-8.
    func keep(_ identifier: String) -> UnsafeRawBufferPointer {
        var identifier = identifier
        let count = identifier.withUTF8 { text in
            storage.copyMemory(from: UnsafeRawBufferPointer(text))
            return text.count
        }
        return UnsafeRawBufferPointer(rebasing: storage[..<count])
    }
}
