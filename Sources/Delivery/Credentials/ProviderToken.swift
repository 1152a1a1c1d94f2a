import Synchronization

/// The JWT that proves to APNs who pushes: one per team and environment, shared by all workers, so that one renewal serves them all
/// (Apple, "Establishing a token-based connection to APNs": renewed no more often than every 20 minutes and at least every 60).
public final class ProviderToken: Sendable {
    /// What goes into the `authorization` header.
    public struct Bearer: Sendable, Equatable {
        public let authorization: String
        /// Tells one token from the next.
        public let generation: UInt32
        public let keyIdentifier: String
        /// When it came into use here, on the steady clock.
        public let mintedAtMilliseconds: Int64
        /// What `iat` tells, on the steady clock: its age counts from then.
        public let issuedAtMilliseconds: Int64
        /// `iat`.
        public let issuedAtSeconds: Int64
    }

    /// What `iat` says.
    public enum IssueTime: Sendable {
        /// The time of minting.
        case exact
        /// The last multiple of the renewal age. Since signatures are deterministic, all processes that hold the key send one and the same
        /// token and change it at the same moment, and one that crashes and starts again brings no other: APNs answers
        /// `TooManyProviderTokenUpdates` to different ones that take turns.
        case shared
    }

    /// Apple staff advise one token for as near to an hour as possible; peers renew at 50 to 55 minutes.
    public static let standardRenewAfterMilliseconds: Int64 = 50 * 60_000
    /// Sooner replaced, APNs answers `TooManyProviderTokenUpdates`, and goes on doing so.
    public static let shortestUseMilliseconds: Int64 = 20 * 60_000
    /// APNs takes a token for an hour.
    static let longestLifeMilliseconds: Int64 = 59 * 60_000

    public let teamIdentifier: String
    private let issueTime: IssueTime
    private let renewAfterMilliseconds: Int64
    private let clock: CredentialClock
    private let state: Mutex<State>

    private struct State {
        var key: SigningKey
        var keyIdentifier: String
        var bearer: Bearer?
        /// Read from its file, and not in use yet.
        var next: (key: SigningKey, identifier: String)?
        /// The provider called this token's credential wrong.
        var refusedGeneration: UInt32 = 0
        var adoptions: UInt32 = 0
        /// Of age on the steady clock and not by the wall clock, it is looked at again then.
        var lookAgainAtMilliseconds = Int64.min
    }

    /// - Parameter renewAfterMilliseconds: the age at which it is replaced; at least `shortestUseMilliseconds`.
    public init(
        teamIdentifier: String, keyIdentifier: String, key: SigningKey, issueTime: IssueTime = .exact,
        renewAfterMilliseconds: Int64 = standardRenewAfterMilliseconds, clock: CredentialClock = .real
    ) {
        precondition(
            renewAfterMilliseconds >= ProviderToken.shortestUseMilliseconds,
            "a provider token replaced after \(renewAfterMilliseconds) ms: APNs refuses less than 20 minutes")
        self.teamIdentifier = teamIdentifier
        self.issueTime = issueTime
        self.renewAfterMilliseconds = renewAfterMilliseconds
        self.clock = clock
        state = Mutex(State(key: key, keyIdentifier: keyIdentifier))
    }

    /// Of the key in use.
    public var keyIdentifier: String { state.withLock { $0.keyIdentifier } }

    /// The token to send now; minted where there is none, where it has come of age, or where another key has taken over.
    public func bearer() throws(CredentialFault) -> Bearer {
        try withState { state throws(CredentialFault) in
            let now = clock.steadyMilliseconds()
            guard let current = state.bearer else { return try mint(&state, now) }
            if state.next != nil {
                // One that is refused has nothing to lose; else not sooner than APNs allows, for two keys of a team count together.
                let mayChange =
                    state.refusedGeneration == current.generation
                    || now - current.mintedAtMilliseconds >= ProviderToken.shortestUseMilliseconds
                if mayChange { return try mint(&state, now) }
            }
            if now - current.issuedAtMilliseconds < renewAfterMilliseconds || now < state.lookAgainAtMilliseconds {
                return current
            }
            return try mint(&state, now)
        }
    }

    /// The provider called this one expired. Only the first of many such reports of a token replaces it, and none that has been in use for less
    /// than APNs lets it be replaced: then a clock is wrong, and another token would be called expired as well.
    ///
    /// - Returns: whether this report did.
    public func replaceExpired(_ bearer: Bearer) throws(CredentialFault) -> Bool {
        try withState { state throws(CredentialFault) in
            let now = clock.steadyMilliseconds()
            guard state.bearer?.generation == bearer.generation,
                now - bearer.mintedAtMilliseconds >= ProviderToken.shortestUseMilliseconds
            else { return false }
            _ = try mint(&state, now, isExact: true)
            return true
        }
    }

    public func ageSeconds(of bearer: Bearer) -> Int64 {
        (clock.steadyMilliseconds() - bearer.issuedAtMilliseconds) / 1_000
    }

    // MARK: Another key

    /// A key that has taken the place of the one in use: signs the next token, which comes at once where the provider refuses the
    /// present one, and else as soon as APNs lets it be changed.
    ///
    /// - Returns: in how many milliseconds at the latest.
    @discardableResult
    public func adopt(_ key: SigningKey, keyIdentifier: String) -> Int64 {
        state.withLock { state in
            state.next = (key, keyIdentifier)
            state.adoptions += 1
            guard let bearer = state.bearer, state.refusedGeneration != bearer.generation else { return 0 }
            return max(
                0, bearer.mintedAtMilliseconds + ProviderToken.shortestUseMilliseconds - clock.steadyMilliseconds())
        }
    }

    /// Whether this very key was the last to be adopted, or the first of all.
    func holds(keyIdentifier: String, fingerprint: [UInt8]?) -> Bool {
        state.withLock { state in
            let (key, identifier) = state.next ?? (state.key, state.keyIdentifier)
            return identifier == keyIdentifier && key.fingerprint == fingerprint
        }
    }

    /// Rises with each key that is adopted.
    public var adoptions: UInt32 { state.withLock { $0.adoptions } }

    /// The provider takes nothing of this token's credential.
    func noteRefused(generation: UInt32) {
        state.withLock { $0.refusedGeneration = max($0.refusedGeneration, generation) }
    }

    /// For metrics: nil where none has been minted.
    public var status: (ageSeconds: Int64, mintedBeforeSeconds: Int64)? {
        let bearer = state.withLock { $0.bearer }
        guard let bearer else { return nil }
        let now = clock.steadyMilliseconds()
        return (
            max(0, now - bearer.issuedAtMilliseconds) / 1_000, max(0, now - bearer.mintedAtMilliseconds) / 1_000
        )
    }

    var unixSeconds: Int64 { clock.unixSeconds() }
    var steadyMilliseconds: Int64 { clock.steadyMilliseconds() }

    // MARK: Minting

    /// `Mutex.withLock` does not carry a typed error through.
    private func withState<Result: Sendable>(
        _ body: (inout State) throws(CredentialFault) -> Result
    ) throws(CredentialFault) -> Result {
        let result = state.withLock { state -> Swift.Result<Result, CredentialFault> in
            do throws(CredentialFault) { return .success(try body(&state)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func mint(_ state: inout State, _ now: Int64, isExact: Bool = false) throws(CredentialFault) -> Bearer {
        let unixSeconds = clock.unixSeconds()
        let isShared = issueTime == .shared && !isExact
        let lateSeconds = isShared ? max(0, unixSeconds) % (renewAfterMilliseconds / 1_000) : 0
        var issuedAtSeconds = unixSeconds - lateSeconds
        if state.next == nil, let current = state.bearer, current.issuedAtSeconds == issuedAtSeconds {
            // The same text again would be no other token. By the wall clock it may not be of age yet.
            if isShared, now - current.issuedAtMilliseconds < ProviderToken.longestLifeMilliseconds {
                state.lookAgainAtMilliseconds = now + 1_000
                return current
            }
            if isShared { return try mint(&state, now, isExact: true) }
            issuedAtSeconds += 1
        }
        let issuedAtMilliseconds = now - lateSeconds * 1_000
        let (key, keyIdentifier) = state.next ?? (state.key, state.keyIdentifier)
        // Nothing but alg and kid, iss and iat: an extra header has been refused in the field.
        let header = Base64URL.encode(Array(#"{"alg":"ES256","kid":"\#(keyIdentifier)"}"#.utf8))
        let claims = Base64URL.encode(Array(#"{"iss":"\#(teamIdentifier)","iat":\#(issuedAtSeconds)}"#.utf8))
        let signature = Base64URL.encode(try key.sign(Array("\(header).\(claims)".utf8)))
        let bearer = Bearer(
            authorization: "bearer \(header).\(claims).\(signature)",
            generation: (state.bearer?.generation ?? 0) + 1, keyIdentifier: keyIdentifier,
            mintedAtMilliseconds: now, issuedAtMilliseconds: issuedAtMilliseconds, issuedAtSeconds: issuedAtSeconds)
        (state.key, state.keyIdentifier, state.next) = (key, keyIdentifier, nil)
        state.bearer = bearer
        return bearer
    }
}
