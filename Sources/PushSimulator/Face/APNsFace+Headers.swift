extension APNsFace {
    static let liveActivitySuffix = ".push-type.liveactivity"

    private static let pushTypes: Set<String> = [
        "alert", "background", "complication", "controls", "fileprovider", "liveactivity", "location", "mdm",
        "pushtotalk", "voip", "widgets",
    ]

    /// H1–H7.
    /// - Parameter key: what the request is signed with; nil with a client certificate.
    func checkHeaders(_ request: FaceRequest, key: ProviderKey?, warnings: inout [String]) throws(Refusal) {
        guard let topic = request["apns-topic"] else { throw .missingTopic }
        guard !topic.isEmpty, topic.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { throw .badTopic }
        let isSuffixed = topic.hasSuffix(APNsFace.liveActivitySuffix)
        let bundleIdentifier = isSuffixed ? String(topic.dropLast(APNsFace.liveActivitySuffix.count)) : topic
        if let key, !key.covers(bundleIdentifier: bundleIdentifier) { throw .topicDisallowed }
        switch request["apns-push-type"] {
        case nil: guard !settings.isStrict else { throw .invalidPushType }
        case let type?:
            let isKnown = APNsFace.pushTypes.contains(type)
            guard isKnown, !isSuffixed || type == "liveactivity" else { throw .invalidPushType }
        }
        switch request["apns-priority"] {
        case nil, "5", "10": break
        case "1" where !settings.isStrict: break
        default: throw .badPriority
        }
        if let expiration = request["apns-expiration"] {
            guard expiration.utf8.allSatisfy(\.isDecimalDigit), let seconds = Int64(expiration) else {
                throw .badExpirationDate
            }
            if seconds >= 100_000_000_000 { warnings.append("apns-expiration looks like milliseconds") }
        }
        if let collapse = request["apns-collapse-id"] {
            guard !collapse.isEmpty, collapse.utf8.count <= 64 else { throw .badCollapseIdentifier }
        }
    }
}

extension UInt8 {
    var isDecimalDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

    var isHexDigit: Bool {
        isDecimalDigit || (self | 0x20 >= UInt8(ascii: "a") && self | 0x20 <= UInt8(ascii: "f"))
    }
}
