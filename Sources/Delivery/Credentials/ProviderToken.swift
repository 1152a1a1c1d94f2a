import Synchronization

/// The JWT that proves to APNs who pushes: one per team and environment, shared by all workers, so that one renewal serves them all
/// (Apple, "Establishing a token-based connection to APNs": renewed no more often than every 20 minutes and at least every 60).
public final class ProviderToken: Sendable {
    /// What goes into the `authorization` header.
    public struct Bearer: Sendable, Equatable {
        public let authorization: String
        /// Tells one token from the next.
        public let generation: UInt32
        /// On the steady clock.
        public let mintedAtMilliseconds: Int64
    }

    /// Apple staff advise one token for as near to an hour as possible; peers renew at 50 to 55 minutes.
    public static let standardRenewAfterMilliseconds: Int64 = 50 * 60_000
    /// Sooner replaced, APNs answers `TooManyProviderTokenUpdates`, and goes on doing so.
    public static let shortestUseMilliseconds: Int64 = 20 * 60_000

    public let teamIdentifier: String
    public let keyIdentifier: String
    private let key: SigningKey
    private let renewAfterMilliseconds: Int64
    private let clock: CredentialClock
    private let current = Mutex<Bearer?>(nil)

    /// - Parameter renewAfterMilliseconds: the age at which it is replaced; at least `shortestUseMilliseconds`.
    public init(
        teamIdentifier: String, keyIdentifier: String, key: SigningKey,
        renewAfterMilliseconds: Int64 = standardRenewAfterMilliseconds, clock: CredentialClock = .real
    ) {
        precondition(
            renewAfterMilliseconds >= ProviderToken.shortestUseMilliseconds,
            "a provider token replaced after \(renewAfterMilliseconds) ms: APNs refuses less than 20 minutes")
        self.teamIdentifier = teamIdentifier
        self.keyIdentifier = keyIdentifier
        self.key = key
        self.renewAfterMilliseconds = renewAfterMilliseconds
        self.clock = clock
    }

    /// The token to send now; minted where there is none, or where it has come of age.
    public func bearer() throws(CredentialFault) -> Bearer {
        try withCurrent { current throws(CredentialFault) in
            let now = clock.steadyMilliseconds()
            if let bearer = current, now - bearer.mintedAtMilliseconds < renewAfterMilliseconds { return bearer }
            return try mint(&current, now)
        }
    }

    /// The provider called this one expired. Only the first of many such reports of a token replaces it, and none that is younger than
    /// APNs lets it be replaced: then a clock is wrong, and another token would be called expired as well.
    ///
    /// - Returns: whether this report did.
    public func replaceExpired(_ bearer: Bearer) throws(CredentialFault) -> Bool {
        try withCurrent { current throws(CredentialFault) in
            let now = clock.steadyMilliseconds()
            guard current?.generation == bearer.generation,
                now - bearer.mintedAtMilliseconds >= ProviderToken.shortestUseMilliseconds
            else { return false }
            _ = try mint(&current, now)
            return true
        }
    }

    public func ageSeconds(of bearer: Bearer) -> Int64 {
        (clock.steadyMilliseconds() - bearer.mintedAtMilliseconds) / 1_000
    }

    /// `Mutex.withLock` does not carry a typed error through.
    private func withCurrent<Result: Sendable>(
        _ body: (inout Bearer?) throws(CredentialFault) -> Result
    ) throws(CredentialFault) -> Result {
        let result = current.withLock { current -> Swift.Result<Result, CredentialFault> in
            do throws(CredentialFault) { return .success(try body(&current)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func mint(_ current: inout Bearer?, _ nowMilliseconds: Int64) throws(CredentialFault) -> Bearer {
        // Nothing but alg and kid, iss and iat: an extra header has been refused in the field.
        let header = Base64URL.encode(Array(#"{"alg":"ES256","kid":"\#(keyIdentifier)"}"#.utf8))
        let claims = Base64URL.encode(Array(#"{"iss":"\#(teamIdentifier)","iat":\#(clock.unixSeconds())}"#.utf8))
        let signature = Base64URL.encode(try key.sign(Array("\(header).\(claims)".utf8)))
        let bearer = Bearer(
            authorization: "bearer \(header).\(claims).\(signature)", generation: (current?.generation ?? 0) + 1,
            mintedAtMilliseconds: nowMilliseconds)
        current = bearer
        return bearer
    }
}
