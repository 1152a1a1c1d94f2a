/// `activity.started` and `token`: where pushes go.
extension EventFields {
    func startDetail(app: String?, isForSubject: Bool) throws(EventFault) -> EventDetail {
        let attributesType = try nonEmptyString("attributesType")
        let attributes = try object("attributes")
        let contentState = try object("contentState")
        let follows = try identifier("follows")
        let (target, renewal) = try startTarget()
        let isBroadcast = if case .channel = target { true } else { false }
        if isForSubject && !isBroadcast {
            throw missing("activityId", "a subject is itself an activity only with a \"channelId\"")
        }
        let startsByToken = renewal != nil || target.startsByPush
        if startsByToken && attributesType == nil {
            throw missing("attributesType", "a start by push names the ActivityAttributes type that the phone decodes")
        }
        let fcmToken = try nonEmptyString("fcmToken")
        let frequentUpdates = try bool("frequentUpdates")
        let replaces = try identifier("replaces")
        if let replaces, try string(isForSubject ? "subjectId" : "activityId")?.hasSameBytes(as: replaces) == true {
            throw outOfRange("replaces", "names the activity itself; name the one that ends because this one begins")
        }
        return EventDetail(
            app: app, contentState: contentState, alert: try alert(), attributesType: attributesType,
            attributes: attributes,
            follows: follows, target: target, renewalStartToken: renewal, fcmToken: fcmToken,
            frequentUpdates: frequentUpdates, replaces: replaces)
    }

    func tokenDetail(app: String?, isForSubject: Bool) throws(EventFault) -> EventDetail {
        if isForSubject {
            throw missing("activityId", "an update token belongs to one activity, never to a subject's followers")
        }
        let token = try token("token")
        let isRevoked = try bool("revoked") ?? false
        guard token != nil || isRevoked else {
            throw missing(
                "token",
                "publish the activity's new update token, or \"revoked\": true to take back what was registered")
        }
        return EventDetail(
            app: app, target: token.map { .updateToken($0) } ?? .none, frequentUpdates: try bool("frequentUpdates"),
            isRevoked: isRevoked)
    }

    private func startTarget() throws(EventFault) -> (target: StartTarget, renewal: PushToken?) {
        let updateToken = try token("token")
        let startToken = try token("startToken")
        let user = try nonEmptyString("userId")
        let channel = try channel()
        let named = [
            updateToken == nil ? nil : "token", startToken == nil ? nil : "startToken", user == nil ? nil : "userId",
            channel == nil ? nil : "channelId",
        ].compactMap { $0 }
        if let updateToken, let startToken, named.count == 2 { return (.updateToken(updateToken), startToken) }
        guard named.count <= 1 else {
            let names = named.map { "\"\($0)\"" }.joined(separator: ", ")
            throw EventFault(
                .tooManyTargets,
                "The start has the targets \(names); publish one (only a \"startToken\" may stand beside a \"token\").")
        }
        if let updateToken { return (.updateToken(updateToken), nil) }
        if let startToken { return (.startToken(startToken), nil) }
        if let user { return (.user(user), nil) }
        if let channel { return (.channel(channel), nil) }
        return (.none, nil)
    }

    /// Goes into a request's header, so that nothing but visible ASCII is taken.
    private func channel() throws(EventFault) -> String? {
        guard let channel = try nonEmptyString("channelId") else { return nil }
        guard channel.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw outOfRange("channelId", "holds characters that base64 has not; publish it as the provider gave it")
        }
        return channel
    }

    private func token(_ name: String) throws(EventFault) -> PushToken? {
        guard let text = try string(name) else { return nil }
        guard let token = PushToken(hex: text) else {
            throw EventFault(
                .badToken,
                "The field \"\(name)\" has \(text.utf8.count) bytes and is no token; publish \(PushToken.hexDigits.lowerBound) to \(PushToken.hexDigits.upperBound) hex digits, an even number of them."
            )
        }
        return token
    }
}

extension StartTarget {
    /// Whether the activity is to be begun on the phone by a push.
    var startsByPush: Bool {
        switch self {
        case .startToken, .user: true
        case .none, .updateToken, .channel: false
        }
    }
}

extension PushToken {
    /// How many hex digits a token may have.
    public static let hexDigits = 64...400

    /// - Parameter hex: letters of either case. Nil where it is no token.
    public init?(hex: String) {
        guard PushToken.hexDigits ~= hex.utf8.count, hex.utf8.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(hex.utf8.count / 2)
        var high: UInt8?
        for character in hex.utf8 {
            guard let digit = JSONText.hexDigit(character) else { return nil }
            if let left = high {
                bytes.append(left << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        self.init(bytes: bytes)
    }

    /// The token as it stands in a request path: lower case.
    public var hex: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
