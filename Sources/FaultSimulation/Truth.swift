import Pacing
import Telemetry

/// What is true of one activity: a model so simple that it can be checked by reading. It knows no gates, no answers and no time but
/// that at which a life is over.
struct Truth {
    enum Phase { case unknown, alive, ended }

    private(set) var phase = Phase.unknown
    /// Counts the lives, the first is 1.
    private(set) var life = 0
    private(set) var content = ContentState()
    private(set) var position: Position?
    private(set) var positionTimestampMilliseconds = Int64.min
    /// What the app's back end reported last; nil before, and where the provider called it dead.
    private(set) var token: PushToken?
    private var tokenRegisteredAtMilliseconds = Int64.min
    /// Until when whatever was registered was taken back.
    private var revokedThroughMilliseconds = Int64.min
    private var revoked: [PushToken: Int64] = [:]
    /// It is to begin by push, through a token of its user.
    private(set) var awaitsUser = false
    /// How often an `activity.started` was taken for what it says, and was no echo.
    private(set) var starts = 0
    /// The life begins by push with this.
    private(set) var startToken: PushToken?
    /// The newest alert that phones have not been given.
    private(set) var alert: Alert?
    /// By the time on pacing's clock after which this life is over; nil where it has no limit, or was not begun so far.
    private(set) var overAfterMilliseconds: Int64?
    private(set) var subject: Int?
    private(set) var earlyToken: PushToken?
    private var knownTokens: Set<PushToken> = []
    /// Once one had none at its end there was nobody to tell it, and it is told nobody later.
    private var hadToken: Bool { tokenRegisteredAtMilliseconds > .min || !knownTokens.isEmpty }
    private var knownUsers: Set<String> = []
    /// Its end had lost its target, and was given another one. Who does not know of the loss ignores that one.
    private(set) var hasLateToken = false
    private var lacksStart = false
    private var wasSent = false
    /// Something of this life has left.
    var hasLeft: Bool { wasSent }

    /// What this start began on the phone.
    enum Beginning {
        case none
        /// A card that shows this.
        case onPhone(PushToken, ContentState)
    }

    mutating func apply(
        _ event: SimulatedEvent, nowMilliseconds now: Int64, life limit: Int64?,
        subjectPosition: (position: Position, timestampMilliseconds: Int64)?, subject: Int?
    ) -> Beginning {
        if let over = overAfterMilliseconds, now > over { end() }
        switch (phase, event.kind) {
        case (.unknown, .activityEnded):
            return .none
        case (.unknown, .token):
            if case .updateToken(let token)? = event.detail?.target { earlyToken = token }
            return .none
        case (.ended, .activityStarted) where isNew(event.detail?.target), (.unknown, .activityStarted):
            return begin(event, now, limit, subjectPosition, subject)
        case (.ended, .token):
            if event.detail?.isRevoked == true {
                takeToken(event)
            } else if token == nil, hadToken || startToken != nil {
                takeToken(event)
                hasLateToken = token != nil
            }
            return .none
        case (.ended, _):
            return .none
        case (.unknown, _):
            life = 1
            phase = .alive
            lacksStart = true
            token = earlyToken
            if let token { knownTokens.insert(token) }
            overAfterMilliseconds = limit.map { now + $0 }
        case (.alive, .activityStarted) where lacksStart && !wasSent:
            return begin(event, now, limit, subjectPosition, subject)
        case (.alive, _):
            break
        }
        take(event)
        return .none
    }

    private mutating func take(_ event: SimulatedEvent) {
        if let patch = event.detail?.contentState { content.apply(patch) }
        switch event.kind {
        case .position:
            if event.timestampMilliseconds > positionTimestampMilliseconds {
                position = event.position
                positionTimestampMilliseconds = event.timestampMilliseconds
            }
        case .status:
            if let alert = event.detail?.alert { self.alert = alert }
        case .token, .activityStarted:
            takeToken(event)
        case .activityEnded:
            if let alert = event.detail?.alert { self.alert = alert }
            end()
        }
    }

    private mutating func takeToken(_ event: SimulatedEvent) {
        var named: PushToken?
        if case .updateToken(let token)? = event.detail?.target { named = token }
        let time = event.timestampMilliseconds
        if event.detail?.isRevoked == true {
            if let named {
                revoked[named] = max(time, revoked[named] ?? .min)
            } else {
                revokedThroughMilliseconds = max(time, revokedThroughMilliseconds)
            }
            if tokenRegisteredAtMilliseconds <= time, named == nil || named == token { token = nil }
            return
        }
        if let named { take(named, registeredAtMilliseconds: time) }
    }

    /// - Returns: whether it is the newest.
    @discardableResult
    private mutating func take(_ token: PushToken, registeredAtMilliseconds time: Int64) -> Bool {
        guard time >= tokenRegisteredAtMilliseconds, time >= revokedThroughMilliseconds, time >= revoked[token] ?? .min
        else { return false }
        self.token = token
        tokenRegisteredAtMilliseconds = time
        awaitsUser = false
        knownTokens.insert(token)
        return true
    }

    /// What the registry kept of it; a token that a life of it has had is none of a card that is to come.
    mutating func takeKept(_ token: PushToken, registeredAtMilliseconds time: Int64) -> Bool {
        phase == .alive && !knownTokens.contains(token) && take(token, registeredAtMilliseconds: time)
    }

    /// Another activity takes its place.
    mutating func replaced() { if phase == .alive { end() } }

    private mutating func begin(
        _ event: SimulatedEvent, _ now: Int64, _ limit: Int64?,
        _ subjectPosition: (position: Position, timestampMilliseconds: Int64)?, _ subject: Int?
    ) -> Beginning {
        if phase != .alive {
            life += 1
            content = ContentState()
            position = nil
            positionTimestampMilliseconds = .min
            token = earlyToken
            tokenRegisteredAtMilliseconds = .min
            alert = nil
        }
        earlyToken = nil
        phase = .alive
        lacksStart = false
        hasLateToken = false
        wasSent = false
        awaitsUser = false
        starts += 1
        startToken = nil
        self.subject = subject
        if let patch = event.detail?.contentState { content.apply(patch) }
        if let known = subjectPosition, known.timestampMilliseconds > positionTimestampMilliseconds {
            position = known.position
            positionTimestampMilliseconds = known.timestampMilliseconds
        }
        overAfterMilliseconds = limit.map { min(event.timestampMilliseconds, now) + $0 }
        switch event.detail?.target ?? .none {
        case .updateToken(let token):
            take(token, registeredAtMilliseconds: event.timestampMilliseconds)
            return .onPhone(token, ContentState(event.detail?.contentState ?? JSONObject()))
        case .startToken(let token):
            startToken = token
            knownTokens.insert(token)
            alert = event.detail?.alert
            overAfterMilliseconds = nil
        case .user(let user):
            awaitsUser = token == nil
            knownUsers.insert(user)
            alert = event.detail?.alert
        case .none, .channel:
            break
        }
        return .none
    }

    private func isNew(_ target: StartTarget?) -> Bool {
        switch target {
        case .updateToken(let token)?, .startToken(let token)?: !knownTokens.contains(token)
        case .user(let user)?: !knownUsers.contains(user)
        default: false
        }
    }

    private mutating func end() {
        phase = .ended
        awaitsUser = false
        overAfterMilliseconds = nil
        subject = nil
    }

    // MARK: What the world tells

    /// A push left: with a start its life begins.
    mutating func left(_ kind: Update.Kind, nowMilliseconds now: Int64, life limit: Int64?) {
        wasSent = true
        if kind == .start, phase == .alive { overAfterMilliseconds = limit.map { now + $0 } }
    }

    /// Time alone ended it, as all that was due before `now` has happened.
    mutating func passTime(nowMilliseconds now: Int64) {
        if let over = overAfterMilliseconds, now >= over { end() }
    }

    mutating func outlivesTime() {
        overAfterMilliseconds = nil
    }

    mutating func forget(_ dead: PushToken) {
        guard token == dead else { return }
        token = nil
        // The same report does not bring it back.
        revoked[dead] = max(revoked[dead] ?? .min, tokenRegisteredAtMilliseconds + 1)
    }

    /// The token of the first push was dead: so nobody has seen anything of this life.
    mutating func firstWasForNobody() { wasSent = false }

    /// A provider took it, so it will sound.
    mutating func alerted(_ told: Alert?) {
        if told != nil, told == alert { alert = nil }
    }
}
