import Synchronization

/// The JWT that proves to APNs who pushes: one per team and environment, shared by all workers (Apple, "Establishing a
/// token-based connection to APNs": not renewed more often than every 20 minutes, and at least every 60).
public final class ProviderToken: Sendable {
    /// What goes into the `authorization` header, and the number that tells one token from the next.
    public struct Bearer: Sendable, Equatable {
        public let authorization: String
        public let generation: UInt32
    }

    /// Apple staff advise one token for as near to an hour as possible; peers renew at 50 to 55 minutes.
    public static let standardRenewAfterMilliseconds: Int64 = 50 * 60_000

    private struct State {
        var bearer: Bearer
        var mintedAt: MintTime
        /// Requests that left with the token before may still be under way.
        var previousMintedAt: MintTime?
    }

    private struct MintTime {
        let monotonicMilliseconds: Int64
        let unixSeconds: Int64
    }

    public let teamIdentifier: String
    public let keyIdentifier: String
    private let key: SigningKey
    private let renewAfterMilliseconds: Int64
    private let state: Mutex<State?>

    public init(
        teamIdentifier: String, keyIdentifier: String, key: SigningKey,
        renewAfterMilliseconds: Int64 = standardRenewAfterMilliseconds
    ) {
        self.renewAfterMilliseconds = renewAfterMilliseconds
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
                monotonicMilliseconds - current.mintedAt.monotonicMilliseconds < renewAfterMilliseconds
            {
                return current.bearer
            }
            return try mint(&state, monotonicMilliseconds, unixSeconds)
        }
    }

    /// The provider called the token of this generation expired. Only the first of many such reports renews it.
    ///
    /// - Returns: whether this report did.
    public func expired(
        generation: UInt32, monotonicMilliseconds: Int64, unixSeconds: Int64
    ) throws(CredentialFault) -> Bool {
        try withState { state throws(CredentialFault) in
            guard let current = state, current.bearer.generation == generation else { return false }
            _ = try mint(&state, monotonicMilliseconds, unixSeconds)
            return true
        }
    }

    /// How old the token of this generation is; nil where it is no longer known. The monotonic clock decides, unless the machine slept:
    /// then the wall clock has gone further.
    public func ageMilliseconds(generation: UInt32, monotonicMilliseconds: Int64, unixSeconds: Int64) -> Int64? {
        let mintedAt: MintTime? = state.withLock { state in
            switch state {
            case let state? where state.bearer.generation == generation: state.mintedAt
            case let state? where state.bearer.generation == generation &+ 1: state.previousMintedAt
            default: nil
            }
        }
        return mintedAt.map {
            max(monotonicMilliseconds - $0.monotonicMilliseconds, (unixSeconds - $0.unixSeconds) * 1_000)
        }
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
        state = State(
            bearer: bearer,
            mintedAt: MintTime(monotonicMilliseconds: monotonicMilliseconds, unixSeconds: unixSeconds),
            previousMintedAt: state?.mintedAt)
        return bearer
    }
}
