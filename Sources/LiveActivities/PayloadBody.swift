import Telemetry

/// One way to write a push: with the first `shedCount` fields of `shed` left out.
struct PayloadBody {
    let push: Push
    let type: ActivityTypeSettings
    let attributes: JSONObject?
    var shedCount = 0
    private(set) var contentStateBytes = 0
    private(set) var attributesBytes = 0

    init(push: Push, type: ActivityTypeSettings, attributes: JSONObject?) {
        self.push = push
        self.type = type
        self.attributes = attributes
    }

    mutating func write(into buffer: inout ByteBuffer) throws(PayloadFault) {
        buffer.append(raw: "{\"aps\":{\"timestamp\":")
        buffer.append(integer: push.timestampSeconds)
        buffer.append(raw: PayloadBody.event(push.event))
        writeTimes(into: &buffer)
        if let score = push.relevanceScore {
            buffer.append(raw: ",\"relevance-score\":")
            buffer.append(double: score)
        }
        if push.event == .start { try writeAttributes(into: &buffer) }
        buffer.append(raw: ",\"content-state\":")
        let begin = buffer.count
        try buffer.append(push.contentState, type.contentStateFields, shedCount: shedCount)
        contentStateBytes = buffer.count - begin
        if push.event == .start { writeInput(into: &buffer) }
        if let alert = push.alert, !alert.isEmpty { PayloadBody.write(alert, into: &buffer) }
        buffer.append(raw: "}}")
    }

    private static func event(_ event: Push.Event) -> StaticString {
        switch event {
        case .start: ",\"event\":\"start\""
        case .update: ",\"event\":\"update\""
        case .end: ",\"event\":\"end\""
        }
    }

    private func writeTimes(into buffer: inout ByteBuffer) {
        if let staleDate = push.staleDateSeconds, push.event != .end {
            buffer.append(raw: ",\"stale-date\":")
            buffer.append(integer: staleDate)
        }
        if let dismissal = push.dismissal, push.event == .end {
            buffer.append(raw: ",\"dismissal-date\":")
            buffer.append(integer: dismissal.seconds(sentAtSeconds: push.timestampSeconds))
        }
    }

    private mutating func writeAttributes(into buffer: inout ByteBuffer) throws(PayloadFault) {
        buffer.append(raw: ",\"attributes-type\":")
        buffer.append(string: push.attributesType ?? "")
        buffer.append(raw: ",\"attributes\":")
        let begin = buffer.count
        try buffer.append(attributes ?? JSONObject(), type.attributesFields, shedCount: 0)
        attributesBytes = buffer.count - begin
    }

    /// Exactly one of the two, or iOS 18 and later report no token and follow no channel.
    private func writeInput(into buffer: inout ByteBuffer) {
        if let channel = push.followedChannel {
            buffer.append(raw: ",\"input-push-channel\":")
            buffer.append(string: channel)
        } else {
            buffer.append(raw: ",\"input-push-token\":1")
        }
    }

    /// The sound stands inside, unlike that of an ordinary push.
    private static func write(_ alert: Alert, into buffer: inout ByteBuffer) {
        buffer.append(raw: ",\"alert\":{")
        var isFirst = true
        func name(_ name: StaticString, _ buffer: inout ByteBuffer) {
            if !isFirst { buffer.append(byte: UInt8(ascii: ",")) }
            isFirst = false
            buffer.append(raw: name)
        }
        if let title = alert.title, !title.isNull {
            name("\"title\":", &buffer)
            buffer.append(title)
        }
        if let body = alert.body, !body.isNull {
            name("\"body\":", &buffer)
            buffer.append(body)
        }
        if let sound = alert.sound {
            name("\"sound\":", &buffer)
            buffer.append(string: sound)
        }
        buffer.append(byte: UInt8(ascii: "}"))
    }
}

extension Dismissal {
    /// How far back "at once" is dated: beyond any doubt past on a phone whose clock is slow, or where the timestamp runs ahead.
    static let immediateLeadSeconds: Int64 = 3_600

    /// Unix seconds, rounded down.
    func seconds(sentAtSeconds: Int64) -> Int64 {
        switch self {
        case .immediate: sentAtSeconds - Dismissal.immediateLeadSeconds
        case .at(let milliseconds): milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000
        }
    }
}

extension Alert {
    var isEmpty: Bool { !hasText && sound == nil }

    /// Whether there is anything to show.
    var hasText: Bool { Alert.hasText(title) || Alert.hasText(body) }

    private static func hasText(_ value: JSONValue?) -> Bool {
        switch value {
        case .string(let text)?: !text.isEmpty
        case .object(let localised)?: localised["loc-key"]?.asString?.isEmpty == false
        default: false
        }
    }
}
