/// What upstream services publish, decoded and checked. It borrows the bytes it was decoded from: `identifier` is valid only
/// while they live, and, where the id was written with escapes, only until its decoder's next event.
public struct Event {
    public enum Kind: UInt8, Sendable {
        case activityStarted, position, status, token, activityEnded
    }

    public let kind: Kind
    /// Whether `identifier` names a subject, and so all activities that follow it.
    public let isForSubject: Bool
    /// UTF-8 of `activityId` or `subjectId`, 1–128 bytes.
    public let identifier: UnsafeRawBufferPointer
    /// Unix milliseconds, floor(t × 1000 + 0.5).
    public let timestampMilliseconds: Int64
    /// 64 bits of a keyed hash of `eventId`; 0 where the producer gave none.
    public let eventIdentifierHash: UInt64
    /// Set exactly for `position`.
    public let position: Position
    /// All that a bare position does not carry; nil for one, so that the position path allocates nothing.
    public let detail: EventDetail?

    public init(
        kind: Kind, isForSubject: Bool, identifier: UnsafeRawBufferPointer, timestampMilliseconds: Int64,
        eventIdentifierHash: UInt64, position: Position, detail: EventDetail?
    ) {
        self.kind = kind
        self.isForSubject = isForSubject
        self.identifier = identifier
        self.timestampMilliseconds = timestampMilliseconds
        self.eventIdentifierHash = eventIdentifierHash
        self.position = position
        self.detail = detail
    }
}

/// A position as reported. What was absent (or negative, where that means "unknown") is NaN, so that the struct stays flat.
public struct Position: Sendable {
    public var coordinate: Coordinate
    public var accuracyMeters: Double
    public var speedMetersPerSecond: Double
    public var headingDegrees: Double
    public var altitudeMeters: Double

    public init(
        coordinate: Coordinate, accuracyMeters: Double = .nan, speedMetersPerSecond: Double = .nan,
        headingDegrees: Double = .nan, altitudeMeters: Double = .nan
    ) {
        self.coordinate = coordinate
        self.accuracyMeters = accuracyMeters
        self.speedMetersPerSecond = speedMetersPerSecond
        self.headingDegrees = headingDegrees
        self.altitudeMeters = altitudeMeters
    }

    /// What stands in the `position` of events of other kinds.
    public static let none = Position(coordinate: Coordinate(latitude: .nan, longitude: .nan))
}
