/// What an answer or a signal of the connection asks for, as data: Flow and Delivery perform it.
public struct Reaction: Equatable, Sendable {
    public enum UpdateFate: Equatable, Sendable {
        /// Accepted for delivery, which is no proof of display.
        case accepted
        /// Finally refused: dead-lettered with its reason, never sent again unchanged.
        case refused
        /// The target is dead: `token` says by which rule it may be forgotten; the content waits for a new one.
        case targetGone
        /// APNs never saw it: it may go again at once, and that is no attempt.
        case sendAgain
        /// The same content may go again after this time (0: at once), newer content before that unless it `holdsNewer`.
        case retry(afterMilliseconds: Int64, holdsNewer: Bool)
        /// May go again as soon as the credential's pause is over.
        case awaitCredential
        /// A start that may or may not have begun an activity: a second one could show a second card, so it is not repeated.
        case startUnknown
        /// The signal concerns no request, or the request is still open.
        case unaffected
    }

    public enum TokenFate: Equatable, Sendable {
        case keep
        /// Wrong token, or wrong configuration: `TokenSuspicion` decides.
        case suspect
        /// 410 with the time at which APNs found it invalid, Unix milliseconds: `GoneToken` decides.
        case gone(atMilliseconds: Int64?)
    }

    public enum ConnectionFate: Equatable, Sendable {
        case keep
        /// No new streams; the open ones finish; the replacement opens first.
        case retire
        /// Close at once and open another.
        case close
        /// It is gone or never came up: another one after an exponential delay with jitter.
        case reconnect
        /// Every connection of the credential.
        case retireAll
    }

    public enum CredentialFate: Equatable, Sendable {
        /// Also where APNs complains of token changes: never mint in answer.
        case keep
        /// Mint a new provider token, unless the request carried one that has been replaced since.
        case renew
        /// Stop all that uses it; single probes at growing delays.
        case pause
    }

    /// A person has to look.
    public enum Alarm: Equatable, Sendable {
        /// A provider token that is young by our clock was called expired.
        case clock
        case credential
        /// Topic, environment or another header is wrong for everything that is sent this way.
        case configuration
    }

    public var update: UpdateFate
    public var token: TokenFate
    public var connection: ConnectionFate
    public var credential: CredentialFate
    public var evidence: Breaker.Evidence
    public var alarm: Alarm?
    /// What is to be counted in the `Attempt` with which the same content goes again.
    public var counts: Attempt.Counter?
    /// From `retry-after`: a pause that this begins or prolongs lasts at least so long.
    public var leastPauseMilliseconds: Int64

    public init(
        update: UpdateFate, token: TokenFate = .keep, connection: ConnectionFate = .keep,
        credential: CredentialFate = .keep, evidence: Breaker.Evidence, alarm: Alarm? = nil,
        counts: Attempt.Counter? = nil, leastPauseMilliseconds: Int64 = 0
    ) {
        self.counts = counts
        self.leastPauseMilliseconds = leastPauseMilliseconds
        self.update = update
        self.token = token
        self.connection = connection
        self.credential = credential
        self.evidence = evidence
        self.alarm = alarm
    }
}
