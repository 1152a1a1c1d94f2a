/// Guards the registry of one app and environment against our own mistakes.
///
/// `BadDeviceToken` and `DeviceTokenNotForTopic` mostly mean that environment or topic is configured wrongly, and then every
/// token gets them. So the first refusal only marks a token. A second one lets it be forgotten if meanwhile other tokens were
/// accepted, refusals are rare, and nothing else was forgotten just before: a registry can never be emptied this way.
/// Where token after token is refused and none accepted between, nothing more is to be sent: APNs closes connections after many
/// errors, after these sooner than after others ("Handling error responses from Apple Push Notification service").
public struct TokenSuspicion: Sendable {
    /// Kept beside a suspect token; dropped when that token is accepted.
    public struct Mark: Equatable, Sendable {
        let acceptedBefore: UInt64
    }

    public enum Verdict: Equatable, Sendable {
        /// Keep the token, and this mark with it.
        case suspect(Mark)
        case forget
    }

    public struct Settings: Sendable {
        /// Acceptances of other tokens between the two refusals, and between two tokens forgotten.
        public var acceptedBetween: UInt64 = 20
        /// Alarm, and no forgetting, where more than one in so many of the last 64 answers is such a refusal.
        public var oneRefusedIn = 8
        /// No alarm below so many of them.
        public var refusalsForAlarm = 3
        /// So many tokens refused for the first time, and no other accepted between: a wave.
        public var refusalsForWave = 5

        public init() {}
    }

    public let settings: Settings
    private var accepted: UInt64 = 0
    private var acceptedAtLastForgotten: UInt64?
    /// One bit an answer, newest lowest; 1 is a refused token.
    private var refusedBits: UInt64 = 0
    private var answers = 0
    /// Since the last acceptance: refusals, and those of them that were a token's first.
    private var refusedInARow = 0
    private var firstRefusalsInARow = 0

    public init(settings: Settings = Settings()) {
        self.settings = settings
    }

    public mutating func recordAccepted() {
        accepted &+= 1
        refusedInARow = 0
        firstRefusalsInARow = 0
        push(isRefused: false)
    }

    /// - Parameter mark: what an earlier refusal of this very token left; nil for its first.
    public mutating func recordRefused(mark: Mark?) -> Verdict {
        push(isRefused: true)
        refusedInARow += 1
        guard let mark else {
            firstRefusalsInARow += 1
            return .suspect(Mark(acceptedBefore: accepted))
        }
        guard !isAlarming, accepted &- mark.acceptedBefore >= settings.acceptedBetween else { return .suspect(mark) }
        if let last = acceptedAtLastForgotten, accepted &- last < settings.acceptedBetween { return .suspect(mark) }
        acceptedAtLastForgotten = accepted
        return .forget
    }

    /// The share of refused tokens is so high that the configuration is to blame.
    public var isAlarming: Bool {
        let refused = refusedBits.nonzeroBitCount
        return refused >= settings.refusalsForAlarm && refused * settings.oneRefusedIn > answers
    }

    /// Token after token is refused: the configuration is wrong, and sending more of the same makes it worse.
    public var isWave: Bool { firstRefusalsInARow >= settings.refusalsForWave }

    /// The newest answer refused a token, so that it is not known yet whether others will be.
    public var isInDoubt: Bool { refusedInARow > 0 }

    private mutating func push(isRefused: Bool) {
        refusedBits = refusedBits << 1 | (isRefused ? 1 : 0)
        answers = min(answers + 1, UInt64.bitWidth)
    }
}
