import Telemetry

@testable import Pacing

/// Events without a decoder. Times are seconds of the recording's clock, places are meters north and east of a point in London.
struct EventBuilder {
    static let epochMilliseconds: Int64 = 1_773_000_000_000
    static let metersPerDegree = Coordinate.earthRadiusMeters * Double.pi / 180
    static let origin = Coordinate(latitude: 51.5, longitude: -0.1)

    var activity = "ride-1"
    var isForSubject = false

    static func milliseconds(_ seconds: Double) -> Int64 {
        epochMilliseconds + Int64((seconds * 1000).rounded())
    }

    static func coordinate(north: Double = 0, east: Double = 0) -> Coordinate {
        Coordinate(
            latitude: origin.latitude + north / metersPerDegree,
            longitude: origin.longitude + east / metersPerDegree / 0.622_514_636_637_619_5)
    }

    func position(
        _ seconds: Double, north: Double = 0, east: Double = 0, accuracy: Double = .nan, speed: Double = .nan,
        heading: Double = .nan, fields: JSONObject? = nil, id: UInt64 = 0
    ) -> Event {
        position(
            seconds, at: EventBuilder.coordinate(north: north, east: east), accuracy: accuracy, speed: speed,
            heading: heading, fields: fields, id: id)
    }

    func position(
        _ seconds: Double, at coordinate: Coordinate, accuracy: Double = .nan, speed: Double = .nan,
        heading: Double = .nan, fields: JSONObject? = nil, id: UInt64 = 0
    ) -> Event {
        event(
            .position, seconds, id: id,
            position: Position(
                coordinate: coordinate, accuracyMeters: accuracy, speedMetersPerSecond: speed, headingDegrees: heading),
            detail: fields.map { EventDetail(contentState: $0) })
    }

    func status(
        _ seconds: Double, _ status: String? = nil, fields: JSONObject? = nil, alert: Alert? = nil,
        relevance: Double? = nil, id: UInt64 = 0
    ) -> Event {
        var patch = fields
        if let status {
            patch = patch ?? JSONObject()
            patch?["status"] = .string(status)
        }
        return event(
            .status, seconds, id: id,
            detail: EventDetail(contentState: patch, alert: alert, relevanceScore: relevance))
    }

    func started(
        _ seconds: Double, _ target: StartTarget = .none, fields: JSONObject? = nil, alert: Alert? = nil,
        type: String? = nil, attributes: JSONObject? = nil, follows: String? = nil, frequent: Bool? = nil,
        renewal: PushToken? = nil, app: String? = nil, replaces: String? = nil, id: UInt64 = 0
    ) -> Event {
        event(
            .activityStarted, seconds, id: id,
            detail: EventDetail(
                app: app, contentState: fields, alert: alert, attributesType: type, attributes: attributes,
                follows: follows, target: target, renewalStartToken: renewal, frequentUpdates: frequent,
                replaces: replaces))
    }

    func token(_ seconds: Double, _ token: PushToken, frequent: Bool? = nil, id: UInt64 = 0) -> Event {
        event(
            .token, seconds, id: id,
            detail: EventDetail(target: .updateToken(token), frequentUpdates: frequent))
    }

    /// - Parameter token: nil for whatever was registered until then.
    func revoked(_ seconds: Double, _ token: PushToken? = nil) -> Event {
        event(
            .token, seconds, id: 0,
            detail: EventDetail(target: token.map { .updateToken($0) } ?? .none, isRevoked: true))
    }

    func ended(
        _ seconds: Double, fields: JSONObject? = nil, alert: Alert? = nil, dismissal: Dismissal? = nil, id: UInt64 = 0
    ) -> Event {
        event(
            .activityEnded, seconds, id: id,
            detail: EventDetail(contentState: fields, alert: alert, dismissal: dismissal))
    }

    private func event(
        _ kind: Event.Kind, _ seconds: Double, id: UInt64, position: Position = .none, detail: EventDetail?
    ) -> Event {
        // The event borrows its id: the bytes of a test live as long as the test process.
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: activity.utf8.count, alignment: 1)
        bytes.copyBytes(from: activity.utf8)
        return Event(
            kind: kind, isForSubject: isForSubject, identifier: UnsafeRawBufferPointer(bytes),
            timestampMilliseconds: EventBuilder.milliseconds(seconds), eventIdentifierHash: id, position: position,
            detail: detail)
    }
}

extension PushToken {
    /// A token of 32 equal bytes.
    static func of(_ byte: UInt8) -> PushToken { PushToken(bytes: Array(repeating: byte, count: 32)) }
}

extension Alert {
    static func saying(_ title: String) -> Alert { Alert(title: .string(title), body: nil, sound: nil) }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(uniqueMembers: elements.map { Member(name: $0.0, value: $0.1) })
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }
    public init(floatLiteral value: Double) { self = .number(JSONNumber(double: value, text: "\(value)")) }
    public init(nilLiteral: ()) { self = .null }
}
