/// What the owners of phones do, as far as APNs hears of it.
extension SimulatorCore {
    /// A phone of that name with a push-to-start token, which its app reports.
    /// - Parameter startToken: hex; nil makes one.
    /// - Returns: the token. A phone that has one already gets another, and the old one is not taken back, as on real phones.
    mutating func addPhone(
        _ name: String, startToken: String? = nil, attributesType: String? = nil, at instant: FaceInstant
    ) -> String {
        let token = (startToken ?? phones.newToken()).lowercased()
        phones.register(startToken: token, device: name)
        face.tokens.register(token, kind: .start, topic: topic, environment: face.settings.environment)
        phones.report(
            .start, token, phone: name, attributesType: attributesType, atMilliseconds: instant.phoneMilliseconds)
        return token
    }

    /// An activity that the app begins by itself, on a phone that is known or is made known by it.
    /// - Returns: its update token, which the app reports after the usual delay.
    mutating func begin(
        _ activityIdentifier: String, on phone: String, updateToken: String? = nil, attributesType: String? = nil,
        at instant: FaceInstant
    ) -> String {
        let token = (updateToken ?? phones.newToken()).lowercased()
        phones.begin(
            updateToken: token, device: phone, activityIdentifier: activityIdentifier, attributesType: attributesType,
            atMilliseconds: instant.phoneMilliseconds)
        face.tokens.register(
            token, kind: .update, topic: topic, environment: face.settings.environment,
            activityIdentifier: activityIdentifier)
        phones.report(
            .update, token, phone: phone, activityIdentifier: activityIdentifier, attributesType: attributesType,
            atMilliseconds: instant.phoneMilliseconds + phones.settings.updateTokenDelayMilliseconds)
        return token
    }

    /// The activity gets another update token, which the app reports after the usual delay; the old one is `ExpiredToken` from now on.
    /// - Returns: the new one; nil where no activity lives under the old.
    @discardableResult
    mutating func rotate(_ token: String, at instant: FaceInstant) -> String? {
        guard let activity = phones.activities[token], activity.endedAtMilliseconds == nil else { return nil }
        let newToken = phones.newToken()
        phones.rotate(token, to: newToken)
        face.tokens.replace(token, atMilliseconds: instant.phoneMilliseconds)
        face.tokens.register(
            newToken, kind: .update, topic: topic, environment: face.settings.environment,
            activityIdentifier: activity.identifier)
        phones.report(
            .update, newToken, phone: activity.device, activityIdentifier: activity.identifier,
            attributesType: activity.attributesType, replaces: token,
            atMilliseconds: instant.phoneMilliseconds + phones.settings.updateTokenDelayMilliseconds)
        return newToken
    }

    /// The user swipes it away: its token is `Unregistered`, once the blur is over.
    /// - Returns: whether there was something to swipe away.
    mutating func dismiss(_ token: String, at instant: FaceInstant) -> Bool {
        guard let activity = phones.activities[token], activity.removalAtMilliseconds != instant.phoneMilliseconds
        else { return false }
        phones.dismiss(token, atMilliseconds: instant.phoneMilliseconds)
        if activity.endedAtMilliseconds == nil { face.tokens.end(token, atMilliseconds: instant.phoneMilliseconds) }
        return true
    }

    mutating func goOnline(_ phone: String, at instant: FaceInstant) {
        for outcome in phones.goOnline(device: phone, atMilliseconds: instant.phoneMilliseconds) {
            take(outcome, at: instant)
        }
    }

    // MARK: - Pushes that were overtaken

    mutating func deliver(_ held: ReorderedPushes.Held, at instant: FaceInstant) {
        take(phones.receive(held.push, number: held.number, atMilliseconds: instant.phoneMilliseconds), at: instant)
    }

    mutating func deliverOvertaken(at instant: FaceInstant) {
        for held in reordered.takeDue(atMilliseconds: instant.realMilliseconds) { deliver(held, at: instant) }
    }
}
