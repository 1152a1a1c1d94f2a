/// What APNs remembers of one connection.
public struct FaceConnection: Sendable {
    /// The team of the first accepted provider token: a connection serves one team.
    public internal(set) var teamIdentifier: String?
    /// The key of the first accepted provider token.
    public internal(set) var keyIdentifier: String?
    public internal(set) var hasAcceptedToken = false
    /// An expired provider token was seen here.
    public internal(set) var isRefusedAsExpired = false
    /// Refused with `TooManyProviderTokenUpdates`, whatever is shown.
    public internal(set) var refusesTokenUpdates = false
    public internal(set) var errorsInARow = 0
    /// What was last announced. With token authentication a connection starts with one stream.
    public internal(set) var streamLimit: UInt32 = 1
    var tokenUpdates = TokenUpdates()

    public init() {}
}

/// Which provider token is in use, and since when: the memory behind `TooManyProviderTokenUpdates`.
struct TokenUpdates: Sendable {
    private var current: String?
    private var firstSeenMilliseconds: Int64 = 0
    private var isRefusing = false

    /// Whether `token` may be used now; a change that comes late enough becomes the current one.
    mutating func admits(_ token: String, settings: FaceSettings, nowMilliseconds: Int64) -> Bool {
        let isOver = nowMilliseconds - firstSeenMilliseconds >= settings.minProviderTokenUpdateMilliseconds
        if current == nil || isOver {
            if current != token {
                current = token
                firstSeenMilliseconds = nowMilliseconds
            }
            isRefusing = false
            return true
        }
        if token == current { return !isRefusing }
        isRefusing = settings.tokenUpdatesRefuseAll
        return false
    }
}
