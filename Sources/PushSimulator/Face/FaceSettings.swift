/// Everything that the contract leaves to the server, or that no public document decides.
public struct FaceSettings: Sendable {
    public enum UnknownTokens: String, Sendable {
        /// 400 `BadDeviceToken`, as APNs does.
        case refuse
        /// Taken as registered for the request's topic: for a client whose tokens nobody told the simulator.
        case adopt
    }

    public enum TokenUpdateScope: String, Sendable {
        case connection, sourceAddress, simulator
    }

    public var environment = APNsEnvironment.production
    /// Refuses what APNs has been seen to let pass: an upper-case `apns-id`, a missing push type, priority 1, `iat` as text, a body that is no push.
    public var isStrict = true
    public var unknownTokens = UnknownTokens.refuse
    /// Tokens that are known, adopted ones included; beyond it unknown ones are refused.
    public var maxTokens = 1_000_000
    /// Streams a connection may have after its first accepted provider token.
    public var streamLimit: UInt32 = 1_000
    public var maxProviderTokenAgeMilliseconds: Int64 = 3_600_000
    public var providerTokenLeadMilliseconds: Int64 = 60_000
    /// Whether a connection that has seen an expired provider token stays refused until it is closed.
    public var keepsRefusingAfterExpiry = true
    public var minProviderTokenUpdateMilliseconds: Int64 = 1_200_000
    public var tokenUpdateScope = TokenUpdateScope.connection
    /// After `TooManyProviderTokenUpdates`: true refuses the whole scope until the 20 minutes are over, false goes on taking the older token.
    public var tokenUpdatesRefuseAll = false
    public var allowsClientCertificate = false
    /// Every provider token is refused as `InvalidProviderToken`, as after the key was revoked in the portal.
    public var isKeyRevoked = false
    /// Every connection is refused with `TooManyProviderTokenUpdates`.
    public var refusesTokenUpdates = false
    public var maxBodyBytes = 4_096
    /// How long an ended or replaced token goes on answering 200, on the phones' clock.
    public var goneBlurMilliseconds: Int64 = 0
    /// 429 `TooManyRequests` beyond this many pushes to one token within the window; nil is off.
    public var maxPushesPerToken: Int?
    public var pushWindowMilliseconds: Int64 = 60_000
    /// After this many errors without a 200 the stream limit falls to 1, after twice as many comes a GOAWAY; nil is off.
    public var maxErrorsInARow: Int?

    public init() {}
}

public enum APNsEnvironment: String, Sendable, CaseIterable {
    case production, sandbox
}
