import Telemetry

/// The phones behind APNs: what each push does there. Pure; the instant comes in with every call. It never changes an answer of APNs.
public struct PhoneModel: Sendable {
    /// A verdict on the push with this number, which may come long after the push.
    public struct Judgement: Sendable, Equatable {
        public let number: Int
        public let verdict: Verdict
    }

    public struct Outcome: Sendable {
        /// On this push and on those that it pushed aside.
        public internal(set) var judgements: [Judgement] = []
        /// The activity concerned, where it is known.
        public internal(set) var activityIdentifier: String?
        /// The update token of an activity that the push has begun, and of one that it has ended.
        public internal(set) var begunToken: String?
        public internal(set) var endedToken: String?
        /// When it ended; nil is now.
        public internal(set) var endedAtMilliseconds: Int64?
    }

    struct Device: Sendable {
        var isOffline = false
        /// By topic: APNs keeps one push a bundle id.
        var slots: [String: (push: DeliveredPush, number: Int)] = [:]
        var startTimesMilliseconds: [Int64] = []
    }

    public var settings: PhoneSettings
    /// By update token.
    public internal(set) var activities: [String: PhoneActivity] = [:]
    var devices: [String: Device] = [:]
    var deviceByStartToken: [String: String] = [:]
    var reservedTokens: [String: String] = [:]
    /// Update tokens that others have taken the place of: nobody listens to them any more.
    var formerTokens: Set<String> = []
    var reports: [TokenReport] = []
    var random: SeededRandom

    public init(settings: PhoneSettings = PhoneSettings()) {
        self.settings = settings
        random = SeededRandom(seed: settings.seed)
    }

    /// An activity that began on its phone.
    /// - Parameter device: names the phone; by default the token has one of its own.
    public mutating func begin(
        updateToken: String, device: String? = nil, activityIdentifier: String? = nil, attributesType: String? = nil,
        atMilliseconds: Int64
    ) {
        let token = updateToken.lowercased()
        activities[token] = PhoneActivity(
            identifier: activityIdentifier, device: device ?? token, attributesType: attributesType,
            startedAtMilliseconds: atMilliseconds)
        devices[device ?? token, default: Device()].isOffline = devices[device ?? token]?.isOffline ?? false
    }

    public mutating func register(startToken: String, device: String? = nil) {
        let token = startToken.lowercased()
        deviceByStartToken[token] = device ?? token
        devices[device ?? token, default: Device()].isOffline = devices[device ?? token]?.isOffline ?? false
    }

    /// The update token that the activity will have once it is started: for recordings, which know it beforehand.
    public mutating func reserve(updateToken: String, activityIdentifier: String) {
        reservedTokens[activityIdentifier] = updateToken.lowercased()
    }

    /// The activity goes on under another token.
    public mutating func rotate(_ token: String, to newToken: String) {
        let (token, newToken) = (token.lowercased(), newToken.lowercased())
        guard token != newToken else { return }
        activities[newToken] = activities.removeValue(forKey: token)
        if formerTokens.count >= PhoneModel.maxFormerTokens { formerTokens = [] }
        formerTokens.insert(token)
        formerTokens.remove(newToken)
    }

    /// Beyond so many all are forgotten: a push to one of them then looks like one to a phone that was never heard of.
    static let maxFormerTokens = 100_000

    /// The user takes the activity off the Lock Screen.
    public mutating func dismiss(_ token: String, atMilliseconds: Int64) {
        activities[token.lowercased()]?.endedAtMilliseconds = atMilliseconds
        activities[token.lowercased()]?.removalAtMilliseconds = atMilliseconds
    }

    /// - Parameter number: names the push in later judgements.
    public mutating func receive(_ push: DeliveredPush, number: Int, atMilliseconds: Int64) -> Outcome {
        let device = deviceByStartToken[push.token] ?? activities[push.token]?.device ?? push.token
        guard devices[device]?.isOffline == true else {
            return judge(push, number: number, device: device, atMilliseconds: atMilliseconds)
        }
        var outcome = Outcome()
        outcome.activityIdentifier = activities[push.token]?.identifier
        if push.expirationSeconds == 0 {
            outcome.judgements = [Judgement(number: number, verdict: .dropped(.offline))]
            return outcome
        }
        if let stored = devices[device]?.slots.updateValue((push, number), forKey: push.topic) {
            outcome.judgements.append(Judgement(number: stored.number, verdict: .overwritten))
        }
        outcome.judgements.append(Judgement(number: number, verdict: .stored))
        return outcome
    }

    public mutating func goOffline(device: String) {
        devices[device, default: Device()].isOffline = true
    }

    /// What was stored and has not expired arrives now.
    public mutating func goOnline(device: String, atMilliseconds: Int64) -> [Outcome] {
        guard let slots = devices[device]?.slots else { return [] }
        devices[device]?.isOffline = false
        devices[device]?.slots = [:]
        return slots.sorted { $0.value.number < $1.value.number }.map { _, stored in
            if let seconds = stored.push.expirationSeconds, seconds < atMilliseconds / 1_000 {
                var outcome = Outcome()
                outcome.judgements = [Judgement(number: stored.number, verdict: .expired)]
                return outcome
            }
            return judge(stored.push, number: stored.number, device: device, atMilliseconds: atMilliseconds)
        }
    }

    /// When the next update token will be reported.
    public var nextReportMilliseconds: Int64? { reports.map(\.atMilliseconds).min() }

    /// The update tokens whose time to be reported has come.
    public mutating func takeReports(atMilliseconds: Int64) -> [TokenReport] {
        let due = reports.filter { $0.atMilliseconds <= atMilliseconds }
        reports.removeAll { $0.atMilliseconds <= atMilliseconds }
        return due
    }
}
