/// What the envelope of an event says that the event itself may lack.
public struct EventFallbacks: Equatable, Sendable {
    /// 0 for none.
    public var eventIdentifierHash: UInt64 = 0
    /// Unix milliseconds; nil for none.
    public var timestampMilliseconds: Int64?

    public init() {}

    public static let none = EventFallbacks()
}

extension EventFallbacks {
    /// What a CloudEvent's attributes stand for.
    ///
    /// Its ids are unique together with its source only (CloudEvents 1.0.2, `id`): two producers that count their events would else pass
    /// for one that repeats itself. An empty id is none, as with `eventId`.
    ///
    /// - Parameter time: as it is written; what is no RFC 3339 time is none.
    init(
        cloudEventIdentifier identifier: UnsafeRawBufferPointer?, source: UnsafeRawBufferPointer?,
        time: UnsafeRawBufferPointer?
    ) {
        timestampMilliseconds = time.flatMap { Timestamp.milliseconds(rfc3339: $0) }
        guard let identifier, !identifier.isEmpty else { return }
        guard let source, !source.isEmpty else {
            eventIdentifierHash = Event.identifierHash(ofEventIdentifier: identifier)
            return
        }
        // No attribute holds a control character, so the parts cannot be told apart wrongly.
        let name = Array(source) + [0] + Array(identifier)
        eventIdentifierHash = name.withUnsafeBytes { Event.identifierHash(ofEventIdentifier: $0) }
    }
}
