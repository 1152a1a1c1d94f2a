extension APNsFace {
    /// U1–U8, and the connection's own part in them (K7).
    /// - Returns: the key that the request is signed with; nil with a client certificate.
    mutating func authorize(
        _ request: FaceRequest, on connection: inout FaceConnection, at instant: FaceInstant
    ) throws(Refusal) -> ProviderKey? {
        if connection.isRefusedAsExpired { throw .expiredProviderToken }
        if request.hasClientCertificate {
            // With a certificate the header is ignored; Live Activities need a token.
            guard settings.allowsClientCertificate else { throw .forbidden }
            return nil
        }
        guard let authorization = request["authorization"] else { throw .missingProviderToken }
        let token = try providerToken(authorization)
        guard !settings.isKeyRevoked else { throw .invalidProviderToken }
        let ageMilliseconds = instant.realMilliseconds - token.issuedAtMilliseconds
        if ageMilliseconds > settings.maxProviderTokenAgeMilliseconds || expiredTokens.contains(authorization) {
            connection.isRefusedAsExpired = settings.keepsRefusingAfterExpiry
            throw .expiredProviderToken
        }
        guard ageMilliseconds >= -settings.providerTokenLeadMilliseconds else { throw .invalidProviderToken }
        if let team = connection.teamIdentifier, team != token.key.teamIdentifier { throw .invalidProviderToken }
        try admit(authorization, of: token.key.teamIdentifier, from: request, on: &connection, at: instant)
        if let first = connection.keyIdentifier, let key = keys[first], !token.key.isRelated(to: key) {
            throw .unrelatedKey
        }
        guard token.key.environments.contains(settings.environment) else { throw .badEnvironmentKey }
        if connection.keyIdentifier == nil {
            connection.teamIdentifier = token.key.teamIdentifier
            connection.keyIdentifier = token.key.identifier
        }
        return token.key
    }

    private mutating func admit(
        _ authorization: String, of team: String, from request: FaceRequest, on connection: inout FaceConnection,
        at instant: FaceInstant
    ) throws(Refusal) {
        guard !settings.refusesTokenUpdates, !connection.refusesTokenUpdates else { throw .tooManyProviderTokenUpdates }
        let isAdmitted: Bool
        switch settings.tokenUpdateScope {
        case .connection:
            isAdmitted = connection.tokenUpdates.admits(
                authorization, settings: settings, nowMilliseconds: instant.realMilliseconds)
        case .sourceAddress:
            isAdmitted = updatesByScope["\(team) \(request.sourceAddress)", default: TokenUpdates()].admits(
                authorization, settings: settings, nowMilliseconds: instant.realMilliseconds)
        case .simulator:
            isAdmitted = updatesByScope[team, default: TokenUpdates()].admits(
                authorization, settings: settings, nowMilliseconds: instant.realMilliseconds)
        }
        guard isAdmitted else { throw .tooManyProviderTokenUpdates }
    }
}
