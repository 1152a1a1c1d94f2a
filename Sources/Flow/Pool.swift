import LiveActivities
import Pacing
import Telemetry

/// What belongs to one provider, team and environment: the streams that are free for it, and whether it may send at all.
struct Pool {
    /// One worker's connections to the pool. Both numbers are absolute, so that a lost report of one change cannot add up.
    struct Link {
        let index: Int
        var streams = 0
        var outstanding = 0
        var freeStreams: Int { streams - outstanding }
    }

    /// While it is in doubt whether every token will be refused, so many are asked at the same time: a wrong environment is found out with a
    /// handful of errors, not with a thousand.
    static let streamsInDoubt = 2

    /// Tokens that were refused once are remembered up to this number.
    static let maxSuspectTokens = 10_000

    var links: [Link] = []
    var breaker: Breaker
    var suspicion = TokenSuspicion()
    var retries = RetryQueue()
    var outages = OutageHistory()
    private var suspects: [PushToken: TokenSuspicion.Mark] = [:]

    init(breaker: Breaker.Settings) {
        self.breaker = Breaker(settings: breaker)
    }

    /// The place in `links` of the one with the most free streams; nil where none is free.
    var freestLink: Int? {
        var best: Int?
        for place in links.indices where links[place].freeStreams > 0 {
            if let current = best, links[current].freeStreams >= links[place].freeStreams { continue }
            best = place
        }
        return best
    }

    /// Whether nothing more is to leave before an answer has come.
    var awaitsAnswer: Bool {
        suspicion.isInDoubt && links.reduce(0) { $0 + $1.outstanding } >= Pool.streamsInDoubt
    }

    /// For its credential or its configuration, which time alone does not mend.
    var isRefused: Bool {
        switch breaker.cause {
        case .credential, .tokens: true
        case .server, nil: false
        }
    }

    mutating func release(link: Int) {
        guard let place = links.firstIndex(where: { $0.index == link }) else { return }
        links[place].outstanding -= 1
    }

    mutating func accepted(_ target: PushTarget) {
        suspicion.recordAccepted()
        if !suspects.isEmpty, let token = target.deviceToken { suspects[token] = nil }
    }

    /// - Returns: whether the token may be forgotten.
    mutating func tokenRefused(_ token: PushToken?) -> Bool {
        switch suspicion.recordRefused(mark: token.flatMap { suspects[$0] }) {
        case .forget:
            if let token { suspects[token] = nil }
            return true
        case .suspect(let mark):
            if let token, suspects.count < Pool.maxSuspectTokens || suspects[token] != nil { suspects[token] = mark }
            return false
        }
    }
}
