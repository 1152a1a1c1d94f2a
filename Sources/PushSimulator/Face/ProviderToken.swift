import Telemetry

/// A provider token (JWT) taken apart and checked against a key: what is left does not depend on the time.
struct ProviderToken: Sendable {
    let key: ProviderKey
    let issuedAtMilliseconds: Int64

    /// - Parameter authorization: the header's value, `bearer x.y.z`.
    /// - Throws: `invalidProviderToken`, whatever the cause, as APNs does.
    init(authorization: String, keys: [String: ProviderKey], isStrict: Bool) throws(Refusal) {
        let parts = authorization.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "bearer" || (!isStrict && parts[0] == "Bearer") else {
            throw .invalidProviderToken
        }
        let segments = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        guard segments.count == 3,
            let header = ProviderToken.object(segments[0]), let claims = ProviderToken.object(segments[1]),
            let signature = Base64URL.decode(segments[2]),
            header["alg"]?.asString == "ES256",
            let keyIdentifier = header["kid"]?.asString, let key = keys[keyIdentifier],
            claims["iss"]?.asString == key.teamIdentifier,
            let issuedAt = ProviderToken.seconds(claims["iat"], isStrict: isStrict)
        else { throw .invalidProviderToken }
        let signed = segments[0].startIndex..<segments[1].endIndex
        guard key.publicKey.verifies(parts[1][signed].utf8, signature: signature) else { throw .invalidProviderToken }
        self.key = key
        issuedAtMilliseconds = issuedAt
    }

    private static func object(_ segment: Substring) -> JSONObject? {
        Base64URL.decode(segment).flatMap(JSONDocument.parse)?.asObject
    }

    /// APNs has been seen to take `iat` as text as well.
    private static func seconds(_ value: JSONValue?, isStrict: Bool) -> Int64? {
        let double: Double? =
            switch value {
            case .number(let number): number.double
            case .string(let text) where !isStrict: Double(text)
            default: nil
            }
        guard let double, double.magnitude < 1e12 else { return nil }
        return Int64(double * 1_000)
    }
}
