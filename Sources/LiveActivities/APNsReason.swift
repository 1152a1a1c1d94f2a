/// The `reason` of an answer to a device push, or of the debug data of a GOAWAY.
///
/// Source: Apple, "Handling notification responses from APNs".
public enum APNsReason: Hashable, Sendable {
    case badCollapseId, badDeviceToken, badExpirationDate, badMessageId, badPriority, badTopic
    case deviceTokenNotForTopic, duplicateHeaders, idleTimeout, invalidPushType, missingDeviceToken, missingTopic
    case payloadEmpty, topicDisallowed
    case badCertificate, badCertificateEnvironment, expiredProviderToken, forbidden, invalidProviderToken
    case missingProviderToken, unrelatedKeyIdInToken, badEnvironmentKeyIdInToken
    case badPath, methodNotAllowed
    case expiredToken, unregistered
    case payloadTooLarge
    case tooManyProviderTokenUpdates, tooManyRequests
    case internalServerError, serviceUnavailable, shutdown
    /// Kept as it came.
    case unknown(String)
}

extension APNsReason {
    /// What Apple documents, in its order of status.
    static let documented: [(reason: APNsReason, name: String)] = [
        (.badCollapseId, "BadCollapseId"),
        (.badDeviceToken, "BadDeviceToken"),
        (.badExpirationDate, "BadExpirationDate"),
        (.badMessageId, "BadMessageId"),
        (.badPriority, "BadPriority"),
        (.badTopic, "BadTopic"),
        (.deviceTokenNotForTopic, "DeviceTokenNotForTopic"),
        (.duplicateHeaders, "DuplicateHeaders"),
        (.idleTimeout, "IdleTimeout"),
        (.invalidPushType, "InvalidPushType"),
        (.missingDeviceToken, "MissingDeviceToken"),
        (.missingTopic, "MissingTopic"),
        (.payloadEmpty, "PayloadEmpty"),
        (.topicDisallowed, "TopicDisallowed"),
        (.badCertificate, "BadCertificate"),
        (.badCertificateEnvironment, "BadCertificateEnvironment"),
        (.expiredProviderToken, "ExpiredProviderToken"),
        (.forbidden, "Forbidden"),
        (.invalidProviderToken, "InvalidProviderToken"),
        (.missingProviderToken, "MissingProviderToken"),
        (.unrelatedKeyIdInToken, "UnrelatedKeyIdInToken"),
        (.badEnvironmentKeyIdInToken, "BadEnvironmentKeyIdInToken"),
        (.badPath, "BadPath"),
        (.methodNotAllowed, "MethodNotAllowed"),
        (.expiredToken, "ExpiredToken"),
        (.unregistered, "Unregistered"),
        (.payloadTooLarge, "PayloadTooLarge"),
        (.tooManyProviderTokenUpdates, "TooManyProviderTokenUpdates"),
        (.tooManyRequests, "TooManyRequests"),
        (.internalServerError, "InternalServerError"),
        (.serviceUnavailable, "ServiceUnavailable"),
        (.shutdown, "Shutdown"),
    ]

    private static let byLetters: [String: APNsReason] = {
        var table = [letters(of: "BadEnvironmentKeyInToken"): APNsReason.badEnvironmentKeyIdInToken]
        for (reason, name) in documented { table[letters(of: name)] = reason }
        return table
    }()

    /// Any spelling: `Service Unavailable` and `serviceUnavailable` have both been met in the wild.
    public init(_ text: String) {
        self = APNsReason.byLetters[APNsReason.letters(of: text)] ?? .unknown(text)
    }

    private static func letters(of text: String) -> String {
        String(text.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }).lowercased()
    }

    /// As Apple writes it; of an unknown one, as it came.
    public var name: String {
        if case .unknown(let text) = self { return text }
        return APNsReason.documented.first { $0.reason == self }!.name
    }

    /// A closed set, fit to label a metric: what Apple has not documented is `other`.
    public var label: String {
        if case .unknown = self { "other" } else { name }
    }
}
