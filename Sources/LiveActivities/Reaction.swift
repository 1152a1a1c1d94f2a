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
    /// From `retry-after`: a pause that this begins or prolongs lasts at least so long.
    public var leastPauseMilliseconds: Int64

    public init(
        update: UpdateFate, token: TokenFate = .keep, connection: ConnectionFate = .keep,
        credential: CredentialFate = .keep, evidence: Breaker.Evidence, alarm: Alarm? = nil,
        leastPauseMilliseconds: Int64 = 0
    ) {
        self.leastPauseMilliseconds = leastPauseMilliseconds
        self.update = update
        self.token = token
        self.connection = connection
        self.credential = credential
        self.evidence = evidence
        self.alarm = alarm
    }
}

/// What is known of the request that got the answer or the signal.
public struct Attempt: Sendable {
    public var event: Push.Event
    /// Earlier 5xx answers to this content.
    public var serverErrors: Int
    /// Earlier unknown outcomes of this content.
    public var unknownOutcomes: Int
    /// Earlier answers to this content that asked for another provider token or connection.
    public var connectionRefusals: Int
    /// 429 `TooManyRequests` in a row to this target.
    public var throttles: Int
    /// From which a throttled target is slowed.
    public var usualIntervalMilliseconds: Int64
    /// Age, by our monotonic clock, of the provider token that the request carried (not of the newest one).
    public var providerTokenAgeSeconds: Int64
    /// Spreads delays; any value will do.
    public var random: UInt64

    public init(
        event: Push.Event, serverErrors: Int = 0, unknownOutcomes: Int = 0, connectionRefusals: Int = 0,
        throttles: Int = 0, usualIntervalMilliseconds: Int64 = 15_000, providerTokenAgeSeconds: Int64 = 0,
        random: UInt64 = 0
    ) {
        self.event = event
        self.serverErrors = serverErrors
        self.unknownOutcomes = unknownOutcomes
        self.connectionRefusals = connectionRefusals
        self.throttles = throttles
        self.usualIntervalMilliseconds = usualIntervalMilliseconds
        self.providerTokenAgeSeconds = providerTokenAgeSeconds
        self.random = random
    }
}
