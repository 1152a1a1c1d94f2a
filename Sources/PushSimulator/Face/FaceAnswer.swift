import Telemetry

/// What goes back to the client, and what else the request causes.
public struct FaceAnswer: Sendable {
    public var status: Int
    /// Nil exactly with 200.
    public var reason: String?
    /// The one that was sent, or a new one.
    public var apnsIdentifier: String
    /// In the sandbox only.
    public var uniqueIdentifier: String?
    /// With 410: the last moment at which the token was found invalid, Unix milliseconds on the phones' clock.
    public var timestampMilliseconds: Int64?
    /// The refusal is a fault's, not the face's own.
    public var isInjected = false
    /// Stands in place of the JSON, where a fault orders it.
    public var oddBody: String?
    /// The answer has no `apns-id`.
    public var omitsIdentifier = false
    /// What APNs takes without a word although it is most likely a mistake.
    public var warnings: [String] = []
    public var effects: [ConnectionEffect] = []
    /// With 200: what the phone is given.
    public var push: DeliveredPush?

    public var fields: [(String, String)] {
        var fields = omitsIdentifier ? [] : [("apns-id", apnsIdentifier)]
        if let uniqueIdentifier { fields.append(("apns-unique-id", uniqueIdentifier)) }
        if reason != nil { fields.append(("content-type", "application/json")) }
        return fields
    }

    public var body: [UInt8] {
        if let oddBody { return Array(oddBody.utf8) }
        guard let reason else { return [] }
        var object = JSONObject()
        object["reason"] = .string(reason)
        if let timestampMilliseconds { object["timestamp"] = .number(JSONNumber(timestampMilliseconds)) }
        return JSONDocument.bytes(of: .object(object))
    }
}

public enum ConnectionEffect: Sendable, Equatable {
    /// Announce another `SETTINGS_MAX_CONCURRENT_STREAMS`.
    case streamLimit(UInt32)
    /// GOAWAY with `{"reason": …}` as its debug data.
    case goAway(reason: String)
}

/// A refusal as Apple lists it ("Handling notification responses from APNs"). The list stands here once more, apart from the client's own
/// table, so that a slip in that one cannot hide behind the same slip in this.
public struct Refusal: Error, Equatable, Sendable {
    public let status: Int
    public let reason: String
    public var timestampMilliseconds: Int64?

    public init(_ status: Int, _ reason: String, timestampMilliseconds: Int64? = nil) {
        self.status = status
        self.reason = reason
        self.timestampMilliseconds = timestampMilliseconds
    }

    static let duplicateHeaders = Refusal(400, "DuplicateHeaders")
    static let badPath = Refusal(404, "BadPath")
    static let methodNotAllowed = Refusal(405, "MethodNotAllowed")
    static let missingDeviceToken = Refusal(400, "MissingDeviceToken")
    static let badMessageIdentifier = Refusal(400, "BadMessageId")
    static let missingProviderToken = Refusal(403, "MissingProviderToken")
    static let invalidProviderToken = Refusal(403, "InvalidProviderToken")
    static let expiredProviderToken = Refusal(403, "ExpiredProviderToken")
    static let tooManyProviderTokenUpdates = Refusal(429, "TooManyProviderTokenUpdates")
    static let unrelatedKey = Refusal(403, "UnrelatedKeyIdInToken")
    static let badEnvironmentKey = Refusal(403, "BadEnvironmentKeyIdInToken")
    static let forbidden = Refusal(403, "Forbidden")
    static let missingTopic = Refusal(400, "MissingTopic")
    static let badTopic = Refusal(400, "BadTopic")
    static let topicDisallowed = Refusal(400, "TopicDisallowed")
    static let invalidPushType = Refusal(400, "InvalidPushType")
    static let badPriority = Refusal(400, "BadPriority")
    static let badExpirationDate = Refusal(400, "BadExpirationDate")
    static let badCollapseIdentifier = Refusal(400, "BadCollapseId")
    static let payloadEmpty = Refusal(400, "PayloadEmpty")
    static let payloadTooLarge = Refusal(413, "PayloadTooLarge")
    static let badDeviceToken = Refusal(400, "BadDeviceToken")
    static let deviceTokenNotForTopic = Refusal(400, "DeviceTokenNotForTopic")
    static let tooManyRequests = Refusal(429, "TooManyRequests")

    static func unregistered(sinceMilliseconds: Int64) -> Refusal {
        Refusal(410, "Unregistered", timestampMilliseconds: sinceMilliseconds)
    }

    static func expiredToken(sinceMilliseconds: Int64) -> Refusal {
        Refusal(410, "ExpiredToken", timestampMilliseconds: sinceMilliseconds)
    }
}
