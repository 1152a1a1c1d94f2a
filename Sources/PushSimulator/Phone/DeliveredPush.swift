import Telemetry

/// What APNs accepted and hands to a phone.
public struct DeliveredPush: Sendable {
    /// Hex, lower case.
    public var token: String
    public var topic: String
    public var priority: Int
    /// Unix seconds; 0 tries once and stores nothing; nil lets APNs store as long as it likes.
    public var expirationSeconds: Int64?
    public var content: PhonePush
    /// When APNs accepted it, Unix milliseconds on the phones' clock.
    public var atMilliseconds: Int64

    public init(
        token: String, topic: String, priority: Int = 10, expirationSeconds: Int64? = nil, content: PhonePush,
        atMilliseconds: Int64
    ) {
        self.token = token
        self.topic = topic
        self.priority = priority
        self.expirationSeconds = expirationSeconds
        self.content = content
        self.atMilliseconds = atMilliseconds
    }

    init(_ request: FaceRequest, atMilliseconds: Int64) {
        self.init(
            token: request.deviceToken, topic: request["apns-topic"] ?? "",
            priority: request["apns-priority"].flatMap { Int($0) } ?? 10,
            expirationSeconds: request["apns-expiration"].flatMap { Int64($0) }, content: request.content,
            atMilliseconds: atMilliseconds)
    }
}

/// The `aps` dictionary as the phone reads it: whatever is missing or of another type is nil.
public struct PhonePush: Sendable {
    public enum Event: String, Sendable { case start, update, end }

    /// Whether there was an `aps` object at all.
    public var isPush: Bool
    public var event: Event?
    public var timestampSeconds: Double?
    public var contentState: JSONObject?
    public var alert: JSONValue?
    public var attributesType: String?
    public var attributes: JSONObject?
    public var staleDateSeconds: Double?
    public var dismissalDateSeconds: Double?
    public var wantsUpdateToken: Bool
    public var channel: String?

    public init(body: [UInt8]) {
        let found = JSONDocument.parse(body)?.asObject?["aps"]?.asObject
        let aps = found ?? JSONObject()
        isPush = found != nil
        event = aps["event"]?.asString.flatMap(Event.init)
        timestampSeconds = aps["timestamp"]?.asDouble
        contentState = aps["content-state"]?.asObject
        alert = aps["alert"]
        attributesType = aps["attributes-type"]?.asString
        attributes = aps["attributes"]?.asObject
        staleDateSeconds = aps["stale-date"]?.asDouble
        dismissalDateSeconds = aps["dismissal-date"]?.asDouble
        wantsUpdateToken = aps["input-push-token"]?.asDouble == 1
        channel = aps["input-push-channel"]?.asString
    }

    /// An alert without words has been seen to be dropped as if there were none.
    public var hasAlert: Bool {
        switch alert {
        case .string(let text)?: !text.isEmpty
        case .object(let object)?: PhonePush.hasWords(object["title"]) || PhonePush.hasWords(object["body"])
        default: false
        }
    }

    private static func hasWords(_ value: JSONValue?) -> Bool {
        switch value {
        case .string(let text)?: !text.isEmpty
        case .object(let localised)?: localised["loc-key"]?.asString?.isEmpty == false
        default: false
        }
    }
}
