import Telemetry
import Testing

/// What a decoder made of one message, held by value.
struct Decoded: Equatable {
    var kind: Event.Kind
    var isForSubject: Bool
    var identifier: [UInt8]
    var timestampMilliseconds: Int64
    var eventIdentifierHash: UInt64
    /// Bit patterns, so that absent (NaN) equals absent and −0 is not 0.
    var position: [UInt64]
    var app: String?
    var contentState: JSONObject?
    var hasDetail: Bool

    init(_ event: Event) {
        kind = event.kind
        isForSubject = event.isForSubject
        identifier = Array(event.identifier)
        timestampMilliseconds = event.timestampMilliseconds
        eventIdentifierHash = event.eventIdentifierHash
        let position = event.position
        self.position = [
            position.coordinate.latitude, position.coordinate.longitude, position.accuracyMeters,
            position.speedMetersPerSecond, position.headingDegrees, position.altitudeMeters,
        ].map { $0.isNaN ? .max : $0.bitPattern }
        app = event.detail?.app
        contentState = event.detail?.contentState
        hasDetail = event.detail != nil
    }
}

/// Decodes a text and hands the event over while its bytes live.
func withEvent<Result>(
    _ text: String, apps: [String] = [], _ body: (Event) throws -> Result
) throws -> Result {
    var decoder = EventDecoder(apps: apps)
    let bytes = Array(text.utf8)
    return try bytes.withUnsafeBytes { try body(try decoder.decode($0)) }
}

/// The detail of an event that has one.
func detail(_ text: String, apps: [String] = [], sourceLocation: SourceLocation = #_sourceLocation) throws
    -> EventDetail
{
    try #require(try withEvent(text, apps: apps) { $0.detail }, sourceLocation: sourceLocation)
}

/// The fault of bytes that no event can be made of; nil where one was.
func fault(_ bytes: [UInt8], apps: [String] = []) -> EventFault? {
    var decoder = EventDecoder(apps: apps)
    return bytes.withUnsafeBytes { bytes in
        do throws(EventFault) {
            _ = try decoder.decode(bytes)
            return nil
        } catch {
            return error
        }
    }
}

func reason(_ text: String, apps: [String] = []) -> String? {
    fault(Array(text.utf8), apps: apps)?.reason.name
}

/// A start of an event whose common fields are sound, to be closed by the test.
func position(_ more: String = "", latitude: String = "48.137154", longitude: String = "11.576124") -> String {
    #"{"type":"position","activityId":"order-4711","timestamp":1773000600.5,"latitude":\#(latitude),"longitude":\#(longitude)\#(more)}"#
}

func event(_ type: String, _ more: String) -> String {
    #"{"type":"\#(type)","activityId":"order-4711","timestamp":1773000600\#(more.isEmpty ? "" : "," + more)}"#
}

func json(_ text: String) throws -> JSONValue {
    try JSONParser.parse(text)
}

func object(_ text: String) throws -> JSONObject {
    try #require(try JSONParser.parse(text).asObject)
}
