/// Decides whether a pool may send, from the answers that its pushes get: closed while all is well, open when the server, the
/// credential or the configuration is sick, then probing with single pushes at growing, jittered intervals until one is accepted.
///
/// One 5xx among many accepted pushes is that push's alone; Apple asks not to repeat in a tight loop what a sick server refused
/// ("Handling error responses from Apple Push Notification service").
public struct Breaker: Sendable {
    public enum Evidence: UInt8, Sendable {
        /// Says nothing of server or credential.
        case none
        case accepted
        /// A refusal that a healthy server gives.
        case healthy
        case sickServer
        /// A whole connection went, with all its requests: counted once, however many they were.
        case lostConnection
        /// Opens at once: no push of this credential can succeed.
        case sickCredential
        /// Opens at once: token after token is refused, so environment or topic are wrong (`TokenSuspicion.isWave`).
        case refusedTokens
    }

    public enum Cause: String, Sendable, CaseIterable {
        case server, credential, tokens
    }

    public enum State: Equatable, Sendable {
        case closed
        case open(Cause, probeAtMilliseconds: Int64)
        case probing(Cause)
    }

    /// What a push leaves under; it comes back with what became of it.
    public enum Permit: UInt8, Sendable {
        case free, probe
    }

    public enum Change: Equatable, Sendable {
        case opened(Cause)
        case closed
    }

    public struct Settings: Sendable {
        public var firstProbeMilliseconds: Int64 = 5_000
        public var longestServerProbeMilliseconds: Int64 = 15 * 60_000
        public var longestCredentialProbeMilliseconds: Int64 = 20 * 60_000
        /// Opens when at least so many of the last 32 answers, and at least half of them, were sick.
        public var sickAnswers = 5
        /// Answers older than a pause of this length are forgotten.
        public var forgetAfterMilliseconds: Int64 = 5 * 60_000
        /// Lost connections within this time of one another count once.
        public var lostConnectionMilliseconds: Int64 = 1_000

        public init() {}
    }

    public let settings: Settings
    public private(set) var state = State.closed

    /// One bit an answer, newest lowest; 1 is sick.
    private var sickBits: UInt32 = 0
    private var answers = 0
    private var newestAnswerMilliseconds = Int64.min
    private var newestLossMilliseconds = Int64.min
    private var failedProbes = 0

    public init(settings: Settings = Settings()) {
        self.settings = settings
    }

    /// Asked once for each push that is about to leave, and for no other; nil: it must not.
    public mutating func permit(atMilliseconds now: Int64) -> Permit? {
        switch state {
        case .closed: return .free
        case .probing: return nil
        case .open(let cause, let probeAt):
            guard now >= probeAt else { return nil }
            state = .probing(cause)
            return .probe
        }
    }

    /// Whether `permit` would give one, without taking it.
    public func permits(atMilliseconds now: Int64) -> Bool {
        switch state {
        case .closed: true
        case .probing: false
        case .open(_, let probeAt): now >= probeAt
        }
    }

    /// What stood in the way may be gone, as with another signing key: the next probe need not wait.
    ///
    /// - Returns: whether that changes anything.
    public mutating func hasten(atMilliseconds now: Int64) -> Bool {
        guard case .open(let cause, let probeAt) = state, cause != .server, probeAt > now else { return false }
        failedProbes = 0
        state = .open(cause, probeAtMilliseconds: now)
        return true
    }

    /// Why it does not let all through; nil where it does.
    public var cause: Cause? {
        switch state {
        case .closed: nil
        case .open(let cause, _), .probing(let cause): cause
        }
    }

    /// When the next probe is due; nil while closed, and while a probe is out.
    public var nextProbeMilliseconds: Int64? {
        if case .open(_, let probeAt) = state { probeAt } else { nil }
    }

    /// - Parameters:
    ///   - random: spreads the intervals; any value will do.
    ///   - leastPauseMilliseconds: from `retry-after`, 0 where there was none.
    public mutating func record(
        _ evidence: Evidence, permit: Permit, atMilliseconds now: Int64, random: UInt64,
        leastPauseMilliseconds: Int64 = 0
    ) -> Change? {
        switch (state, permit) {
        case (.closed, _):
            return recordClosed(evidence, now: now, random: random, leastPauseMilliseconds: leastPauseMilliseconds)
        case (_, _) where evidence == .accepted:
            close()
            return .closed
        case (.probing(let cause), .probe):
            settleProbe(
                evidence, cause: cause, now: now, random: random, leastPauseMilliseconds: leastPauseMilliseconds)
            if evidence == .refusedTokens, cause != .tokens { return .opened(.tokens) }
            return nil
        case (.open(.server, _), _) where evidence == .sickCredential,
            (.probing(.server), _) where evidence == .sickCredential:
            // A credential fault under a server fault: the longer cap applies, the schedule goes on.
            if case .open(_, let probeAt) = state {
                state = .open(.credential, probeAtMilliseconds: probeAt)
            } else {
                state = .probing(.credential)
            }
            return .opened(.credential)
        default:
            // Answers to what left before it opened: they neither lengthen nor shorten the pause.
            return nil
        }
    }

    private mutating func recordClosed(
        _ evidence: Evidence, now: Int64, random: UInt64, leastPauseMilliseconds: Int64
    ) -> Change? {
        switch evidence {
        case .none:
            return nil
        case .sickCredential:
            open(.credential, now: now, random: random, leastPauseMilliseconds: leastPauseMilliseconds)
            return .opened(.credential)
        case .refusedTokens:
            open(.tokens, now: now, random: random, leastPauseMilliseconds: leastPauseMilliseconds)
            return .opened(.tokens)
        case .lostConnection:
            let isSameLoss =
                newestLossMilliseconds != .min && now - newestLossMilliseconds < settings.lostConnectionMilliseconds
            if isSameLoss { return nil }
            newestLossMilliseconds = now
            push(isSick: true, now: now)
        case .accepted, .healthy:
            push(isSick: false, now: now)
        case .sickServer:
            push(isSick: true, now: now)
        }
        let sick = sickBits.nonzeroBitCount
        guard sick >= settings.sickAnswers, sick * 2 >= answers else { return nil }
        open(.server, now: now, random: random, leastPauseMilliseconds: leastPauseMilliseconds)
        return .opened(.server)
    }

    private mutating func settleProbe(
        _ evidence: Evidence, cause: Cause, now: Int64, random: UInt64, leastPauseMilliseconds: Int64
    ) {
        switch evidence {
        case .accepted, .none:
            // It never left, or said nothing: the turn is given to the next one.
            state = .open(cause, probeAtMilliseconds: now)
        case .healthy:
            failedProbes = 0
            state = .open(cause, probeAtMilliseconds: now)
        case .sickServer, .lostConnection:
            failedProbes += 1
            open(cause, now: now, random: random, leastPauseMilliseconds: leastPauseMilliseconds)
        case .sickCredential:
            failedProbes += 1
            open(.credential, now: now, random: random, leastPauseMilliseconds: leastPauseMilliseconds)
        case .refusedTokens:
            failedProbes += 1
            open(.tokens, now: now, random: random, leastPauseMilliseconds: leastPauseMilliseconds)
        }
    }

    private mutating func push(isSick: Bool, now: Int64) {
        if newestAnswerMilliseconds != .min, now - newestAnswerMilliseconds >= settings.forgetAfterMilliseconds {
            sickBits = 0
            answers = 0
        }
        newestAnswerMilliseconds = now
        sickBits = sickBits << 1 | (isSick ? 1 : 0)
        answers = min(answers + 1, UInt32.bitWidth)
    }

    private mutating func open(_ cause: Cause, now: Int64, random: UInt64, leastPauseMilliseconds: Int64) {
        let longest =
            cause == .server ? settings.longestServerProbeMilliseconds : settings.longestCredentialProbeMilliseconds
        let grown = Delay.doubled(settings.firstProbeMilliseconds, times: failedProbes, atMost: longest)
        // 80 to 120 %: members that opened together do not probe together.
        let jittered = min(longest, grown * 4 / 5 + Delay.share(of: grown * 2 / 5, random: random))
        state = .open(cause, probeAtMilliseconds: now + max(jittered, leastPauseMilliseconds))
    }

    private mutating func close() {
        state = .closed
        sickBits = 0
        answers = 0
        failedProbes = 0
    }
}
