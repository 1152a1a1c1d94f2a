import Synchronization

/// The JWT that proves to APNs who pushes: one per team and environment, shared by all workers (Apple, "Establishing a
/// token-based connection to APNs": not renewed more often than every 20 minutes, and at least every 60).
public final class ProviderToken: Sendable {
    /// What goes into the `authorization` header, and the number that tells one token from the next.
    public struct Bearer: Sendable, Equatable {
        public let authorization: String
        public let generation: UInt32
    }

    /// What a report of `ExpiredProviderToken` led to.
    public enum Renewal: Equatable, Sendable {
        /// A newer token is there: resend with it on a fresh connection.
        case renewed
        /// The token is too young to have expired: this machine's clock or the provider's is wrong. Nothing was minted.
        case tooYoung(ageMilliseconds: Int64)
    }

    /// Apple staff advise one token for as near to an hour as possible; peers renew at 50 to 55 minutes.
    public static let renewAfterMilliseconds: Int64 = 50 * 60_000
    public static let shortestLifeMilliseconds: Int64 = 20 * 60_000

    private struct State {
        var bearer: Bearer
        var mintedAtMilliseconds: Int64
    }

    public let teamIdentifier: String
    public let keyIdentifier: String
    private let key: SigningKey
    private let state: Mutex<State?>

    public init(teamIdentifier: String, keyIdentifier: String, key: SigningKey) {
        self.teamIdentifier = teamIdentifier
        self.keyIdentifier = keyIdentifier
        self.key = key
        state = Mutex(nil)
    }

    /// - Parameters:
    ///   - monotonicMilliseconds: decides the renewal, so that a step of the wall clock mints nothing.
    ///   - unixSeconds: goes into `iat`.
    public func bearer(monotonicMilliseconds: Int64, unixSeconds: Int64) throws(CredentialFault) -> Bearer {
        try withState { state throws(CredentialFault) in
            if let current = state,
                monotonicMilliseconds - current.mintedAtMilliseconds < ProviderToken.renewAfterMilliseconds
            {
                return current.bearer
            }
            return try mint(&state, monotonicMilliseconds, unixSeconds)
        }
    }

    /// The provider called the token of this generation expired. Only the first of many such reports renews it.
    public func expired(
        generation: UInt32, monotonicMilliseconds: Int64, unixSeconds: Int64
    ) throws(CredentialFault) -> Renewal {
        try withState { state throws(CredentialFault) in
            guard let current = state, current.bearer.generation == generation else { return .renewed }
            let ageMilliseconds = monotonicMilliseconds - current.mintedAtMilliseconds
            guard ageMilliseconds >= ProviderToken.shortestLifeMilliseconds else {
                return .tooYoung(ageMilliseconds: ageMilliseconds)
            }
            _ = try mint(&state, monotonicMilliseconds, unixSeconds)
            return .renewed
        }
    }

    /// Milliseconds since the token now in use was made; nil before the first.
    public func ageMilliseconds(monotonicMilliseconds: Int64) -> Int64? {
        state.withLock { $0.map { monotonicMilliseconds - $0.mintedAtMilliseconds } }
    }

    private func withState<Result: Sendable>(
        _ body: (inout State?) throws(CredentialFault) -> Result
    ) throws(CredentialFault) -> Result {
        let result = state.withLock { state -> Swift.Result<Result, CredentialFault> in
            do throws(CredentialFault) { return .success(try body(&state)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func mint(
        _ state: inout State?, _ monotonicMilliseconds: Int64, _ unixSeconds: Int64
    ) throws(CredentialFault) -> Bearer {
        // Nothing but alg and kid, iss and iat: an extra header has been refused in the field.
        let header = Base64URL.encode(Array(#"{"alg":"ES256","kid":"\#(keyIdentifier)"}"#.utf8))
        let claims = Base64URL.encode(Array(#"{"iss":"\#(teamIdentifier)","iat":\#(unixSeconds)}"#.utf8))
        let signature = Base64URL.encode(try key.sign(Array("\(header).\(claims)".utf8)))
        let bearer = Bearer(
            authorization: "bearer \(header).\(claims).\(signature)", generation: (state?.bearer.generation ?? 0) + 1)
        state = State(bearer: bearer, mintedAtMilliseconds: monotonicMilliseconds)
        return bearer
    }
}
