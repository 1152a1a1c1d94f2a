/// How badly the provider behaves; may be changed while it runs. Shares are of all requests, 0…1.
public struct FaultSettings: Sendable, Equatable {
    /// Which connections are refused with `TooManyProviderTokenUpdates`, whatever provider token they show.
    public enum RefusedUpdates: String, Sendable, CaseIterable {
        case none
        /// Those that stand now; new ones are taken.
        case standing
        case all
    }

    /// A request is processed and answered this long after its arrival, evenly between the two …
    public var latencyMinMilliseconds: Int64 = 0
    public var latencyMaxMilliseconds: Int64 = 0
    /// … but a share of them only after so long.
    public var slowShare = 0.0
    public var slowMilliseconds: Int64 = 10_000
    /// What connections with an accepted provider token may have open.
    public var streamLimit: UInt32 = 1_000
    /// `REFUSED_STREAM`: not processed.
    public var refusedStreamShare = 0.0
    /// Instead of a 200; the first whose share is drawn.
    public var errors: [InjectedError] = []
    /// The connection is reset before the answer (a coin decides whether the request was processed), amid its header, or after its headers.
    public var resetBeforeShare = 0.0
    public var resetAmidShare = 0.0
    public var resetAfterShare = 0.0
    /// Connections stay open, and nothing comes back on them.
    public var isBlackHole = false
    /// The provider's clock against the real one.
    public var clockSkewMilliseconds: Int64 = 0
    /// Every provider token is `InvalidProviderToken`.
    public var isKeyRevoked = false
    public var refusedTokenUpdates = RefusedUpdates.none
    /// For new connections: flow-control window of a stream, and whether it is ever opened again.
    public var streamWindowBytes: UInt32 = 65_535
    public var withholdsWindowUpdates = false
    /// For new connections: 0 takes HPACK its table.
    public var headerTableBytes: UInt32 = 4_096
    /// For new connections: accept TCP and say nothing.
    public var hangsInHandshake = false
    /// For new connections: a certificate of another name, by an authority that clients trust.
    public var hasWrongName = false
    /// For new connections: TLS without choosing `h2`.
    public var isWithoutHTTP2 = false

    // What phones do. Nil leaves it as `FaceSettings` and `PhoneSettings` say.

    /// How long an ended or replaced token goes on answering 200.
    public var goneBlurMilliseconds: Int64?
    /// 429 `TooManyRequests` beyond this many pushes a minute to one token.
    public var pushesPerTokenMinute: UInt32?
    /// Share of requests at whose arrival the phone has just got another update token.
    public var tokenRotationShare = 0.0
    /// Share of started activities whose update token is never reported, and when the others are.
    public var updateTokenLossShare: Double?
    public var updateTokenDelayMilliseconds: Int64?
    /// Share of accepted pushes that reach the phone after the next one of their token.
    public var reorderedShare = 0.0
    /// Push-to-start pushes an hour that a phone takes.
    public var startBudget: UInt32?
    /// Pushes with priority 10 an hour that an activity shows.
    public var urgentBudget: UInt32?

    public init() {}
}

public struct FaultSettingsFault: Error, Equatable, CustomStringConvertible {
    public let key: String
    public let problem: String
    public var description: String { "\(key): \(problem)" }
}
