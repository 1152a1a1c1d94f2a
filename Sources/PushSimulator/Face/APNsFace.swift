/// How APNs answers a device push, check by check in a fixed order: what fails first answers. Pure: the instant comes in, an answer goes out.
/// Only that authentication precedes delivery is documented; the rest of the order is fixed so that tests are repeatable.
public struct APNsFace: Sendable {
    public var settings: FaceSettings
    public var tokens = TokenRegistry()
    private(set) var keys: [String: ProviderKey] = [:]

    private var checkedTokens: [String: ProviderToken] = [:]
    /// Provider tokens that are taken for expired, whatever their age.
    private(set) var expiredTokens: Set<String> = []
    var updatesByScope: [String: TokenUpdates] = [:]
    private var pushTimesByToken: [String: [Int64]] = [:]
    private var identifiers: SeededRandom

    /// - Parameter seed: of the ids that the face makes up itself.
    public init(settings: FaceSettings = FaceSettings(), keys: [ProviderKey] = [], seed: UInt64 = 1) {
        self.settings = settings
        identifiers = SeededRandom(seed: seed)
        for key in keys { register(key) }
    }

    public mutating func register(_ key: ProviderKey) {
        keys[key.identifier] = key
        checkedTokens = [:]
    }

    public mutating func revoke(keyIdentifier: String) {
        keys[keyIdentifier] = nil
        checkedTokens = [:]
    }

    /// From now on every provider token seen so far counts as expired.
    public mutating func expireProviderTokens() {
        expiredTokens.formUnion(checkedTokens.keys)
    }

    /// - Parameter fault: thrown where all checks are passed (Z1).
    public mutating func answer(
        _ request: FaceRequest, on connection: inout FaceConnection, at instant: FaceInstant, fault: Refusal? = nil
    ) -> FaceAnswer {
        var answer = FaceAnswer(status: 200, apnsIdentifier: identifier(of: request))
        do throws(Refusal) {
            try checkRequestLine(request)
            let key = try authorize(request, on: &connection, at: instant)
            if !connection.hasAcceptedToken {
                connection.hasAcceptedToken = true
                connection.streamLimit = settings.streamLimit
                answer.effects.append(.streamLimit(settings.streamLimit))
            }
            try checkHeaders(request, key: key, warnings: &answer.warnings)
            try checkBody(request)
            try checkToken(request, at: instant)
            if let fault {
                answer.isInjected = true
                throw fault
            }
            answer.push = DeliveredPush(request, atMilliseconds: instant.phoneMilliseconds)
            if settings.environment == .sandbox { answer.uniqueIdentifier = identifiers.identifier() }
            succeeded(on: &connection, effects: &answer.effects)
        } catch {
            answer.status = error.status
            answer.reason = error.reason
            answer.timestampMilliseconds = error.timestampMilliseconds
            failed(error, on: &connection, effects: &answer.effects)
        }
        return answer
    }

    // MARK: - R1–R5

    private func checkRequestLine(_ request: FaceRequest) throws(Refusal) {
        for (index, field) in request.fields.enumerated() where field.name != "cookie" {
            guard !request.fields[..<index].contains(where: { $0.name == field.name }) else { throw .duplicateHeaders }
        }
        let isDevicePath =
            request.path == FaceRequest.devicePath || request.path.hasPrefix(FaceRequest.devicePath + "/")
        guard isDevicePath else { throw .badPath }
        guard request.method == "POST" else { throw .methodNotAllowed }
        guard !request.deviceToken.isEmpty else { throw .missingDeviceToken }
        if let identifier = request["apns-id"], !isAcceptable(identifier) { throw .badMessageIdentifier }
    }

    private func isAcceptable(_ identifier: String) -> Bool {
        UUIDText.isValid(identifier) && (!settings.isStrict || identifier == identifier.lowercased())
    }

    private mutating func identifier(of request: FaceRequest) -> String {
        if let identifier = request["apns-id"], isAcceptable(identifier) { return identifier }
        return identifiers.identifier()
    }

    // MARK: - L1–L3

    private func checkBody(_ request: FaceRequest) throws(Refusal) {
        if request.isBodyTooLarge || request.body.count > settings.maxBodyBytes { throw .payloadTooLarge }
        guard !request.body.isEmpty else { throw .payloadEmpty }
        // What APNs does with a body that is no push is not known; lenient, the phone drops it.
        guard !settings.isStrict || request.content.isPush else {
            throw .payloadEmpty
        }
    }

    // MARK: - T1–T6

    private mutating func checkToken(_ request: FaceRequest, at instant: FaceInstant) throws(Refusal) {
        let token = request.deviceToken
        let topic = request["apns-topic"] ?? ""
        guard token.utf8.count >= 64, token.utf8.count % 2 == 0, token.utf8.allSatisfy(\.isHexDigit) else {
            throw .badDeviceToken
        }
        if settings.unknownTokens == .adopt, tokens.count < settings.maxTokens, tokens[token] == nil {
            let kind: TokenRegistry.Kind = request.content.event == .start ? .start : .update
            tokens.register(token, kind: kind, topic: topic, environment: settings.environment)
        }
        guard let record = tokens[token], record.environment == settings.environment else { throw .badDeviceToken }
        guard record.topic == topic else { throw .deviceTokenNotForTopic }
        let blurredMilliseconds = instant.phoneMilliseconds - settings.goneBlurMilliseconds
        if let ended = record.endedAtMilliseconds, ended <= blurredMilliseconds {
            throw .unregistered(sinceMilliseconds: ended)
        }
        if let replaced = record.replacedAtMilliseconds, replaced <= blurredMilliseconds {
            throw .expiredToken(sinceMilliseconds: replaced)
        }
        try checkRate(of: token, at: instant)
    }

    private mutating func checkRate(of token: String, at instant: FaceInstant) throws(Refusal) {
        guard let maxPushes = settings.maxPushesPerToken else { return }
        let opened = instant.realMilliseconds - settings.pushWindowMilliseconds
        if pushTimesByToken.count > settings.maxTokens {
            pushTimesByToken = pushTimesByToken.filter { $0.value.last.map { $0 > opened } ?? false }
        }
        var times = (pushTimesByToken[token] ?? []).filter { $0 > opened }
        defer { pushTimesByToken[token] = times }
        guard times.count < maxPushes else { throw .tooManyRequests }
        times.append(instant.realMilliseconds)
    }

    // MARK: - K2, K4

    private func succeeded(on connection: inout FaceConnection, effects: inout [ConnectionEffect]) {
        connection.errorsInARow = 0
        guard connection.streamLimit != settings.streamLimit else { return }
        connection.streamLimit = settings.streamLimit
        effects.append(.streamLimit(settings.streamLimit))
    }

    private func failed(_ refusal: Refusal, on connection: inout FaceConnection, effects: inout [ConnectionEffect]) {
        guard let maxErrors = settings.maxErrorsInARow, refusal.status != 410 else { return }
        connection.errorsInARow += 1
        if connection.errorsInARow > 2 * maxErrors {
            effects.append(.goAway(reason: refusal.reason))
        } else if connection.errorsInARow > maxErrors, connection.streamLimit != 1 {
            connection.streamLimit = 1
            effects.append(.streamLimit(1))
        }
    }

    /// Signatures are checked once a token: a client sends the same one with every request of an hour.
    mutating func providerToken(_ authorization: String) throws(Refusal) -> ProviderToken {
        if let checked = checkedTokens[authorization] { return checked }
        let checked = try ProviderToken(authorization: authorization, keys: keys, isStrict: settings.isStrict)
        if checkedTokens.count >= 64 { checkedTokens = [:] }
        checkedTokens[authorization] = checked
        return checked
    }
}
