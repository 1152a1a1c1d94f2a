import Telemetry

public struct PayloadInfo: Equatable, Sendable {
    /// Of the whole body.
    public let bytes: Int
    /// Fields of the content-state that were left out to make it fit, in the order of `shed`.
    public let shed: [FieldPath]

    public init(bytes: Int, shed: [FieldPath]) {
        self.bytes = bytes
        self.shed = shed
    }
}

/// Writes the JSON body of a push: compact, its keys always in the same order, its size known before anything leaves.
///
/// Sources: Apple, "Generating a remote notification", "Starting and updating Live Activities with ActivityKit push notifications"
/// and "Displaying live data with Live Activities" (what a phone holds of one activity).
public enum PayloadWriter {
    public static let deviceLimitBytes = 4_096
    public static let broadcastLimitBytes = 5_120
    /// Attributes and content-state together, however they came.
    public static let phoneLimitBytes = 4_096

    /// Appends the body to `buffer`; where it throws, `buffer` is as it was.
    public static func write(
        _ push: Push, _ type: ActivityTypeSettings, into buffer: inout ByteBuffer
    ) throws(PayloadFault) -> PayloadInfo {
        try check(push)
        if let mismatch = type.contentStateSchema.check(push.contentState) {
            throw .contentStateMismatch(path: mismatch.path.description, explanation: mismatch.explanation)
        }
        let attributes = try attributes(of: push, type)
        let begin = buffer.count
        do throws(PayloadFault) {
            return try write(push, type, attributes, into: &buffer)
        } catch {
            buffer.truncate(to: begin)
            throw error
        }
    }

    /// What the phone holds: sent with a start, counted with every push.
    private static func attributes(
        of push: Push, _ type: ActivityTypeSettings
    ) throws(PayloadFault) -> JSONObject? {
        guard push.event == .start || push.attributes != nil else { return nil }
        let attributes = type.complete(push.attributes, activityIdentifier: push.activityIdentifier)
        if push.event == .start, let mismatch = type.attributesSchema.check(attributes) {
            throw .attributesMismatch(path: mismatch.path.description, explanation: mismatch.explanation)
        }
        return attributes
    }

    private static func write(
        _ push: Push, _ type: ActivityTypeSettings, _ attributes: JSONObject?, into buffer: inout ByteBuffer
    ) throws(PayloadFault) -> PayloadInfo {
        let begin = buffer.count
        let limitBytes = push.medium == .device ? deviceLimitBytes : broadcastLimitBytes
        let attributesBytes = push.event == .start ? 0 : try size(of: attributes, type, after: &buffer)
        var body = PayloadBody(push: push, type: type, attributes: attributes)
        var shed: [FieldPath] = []
        while true {
            try body.write(into: &buffer)
            let bytes = buffer.count - begin
            let heldBytes = max(attributesBytes, body.attributesBytes) + body.contentStateBytes
            if bytes <= limitBytes, heldBytes <= phoneLimitBytes { return PayloadInfo(bytes: bytes, shed: shed) }
            guard let next = nextToShed(push, type, from: body.shedCount) else {
                throw bytes > limitBytes
                    ? .tooLarge(bytes: bytes, limitBytes: limitBytes)
                    : .tooLargeForPhone(bytes: heldBytes, limitBytes: phoneLimitBytes)
            }
            shed.append(type.shed[next])
            body.shedCount = next + 1
            buffer.truncate(to: begin)
        }
    }

    /// The first field from `rank` on that is there to be left out.
    private static func nextToShed(_ push: Push, _ type: ActivityTypeSettings, from rank: Int) -> Int? {
        type.shed[rank...].firstIndex { JSONValue.object(push.contentState.object).holds($0.names[...]) }
    }

    private static func size(
        of attributes: JSONObject?, _ type: ActivityTypeSettings, after buffer: inout ByteBuffer
    ) throws(PayloadFault) -> Int {
        guard let attributes else { return 0 }
        let begin = buffer.count
        try buffer.append(attributes, type.attributesFields, shedCount: 0)
        let bytes = buffer.count - begin
        buffer.truncate(to: begin)
        return bytes
    }
}
