/// The part of an event that is not on the hot path. Immutable, so it may be shared by activity and waiting update.
public final class EventDetail: Sendable {
    /// Names the configured application; nil means the only one.
    public let app: String?
    /// The merge patch for the content-state, `status` already folded in as `contentState.status`.
    public let contentPatch: PackedObject?
    /// What hardly a change of status has: it stays small without.
    private let rest: Rest?

    public init(
        app: String? = nil, contentPatch: PackedObject? = nil, alert: Alert? = nil, relevanceScore: Double? = nil,
        attributesType: String? = nil, attributes: JSONObject? = nil, follows: String? = nil,
        target: StartTarget = .none,
        renewalStartToken: PushToken? = nil, fcmToken: String? = nil, frequentUpdates: Bool? = nil,
        dismissal: Dismissal? = nil, replaces: String? = nil, isRevoked: Bool = false
    ) {
        self.app = app
        self.contentPatch = contentPatch
        rest = Rest(
            alert: alert, relevanceScore: relevanceScore, attributesType: attributesType, attributes: attributes,
            follows: follows, target: target, renewalStartToken: renewalStartToken, fcmToken: fcmToken,
            frequentUpdates: frequentUpdates, dismissal: dismissal, replaces: replaces, isRevoked: isRevoked)
    }

    public convenience init(
        app: String? = nil, contentState: JSONObject?, alert: Alert? = nil, relevanceScore: Double? = nil,
        attributesType: String? = nil, attributes: JSONObject? = nil, follows: String? = nil,
        target: StartTarget = .none,
        renewalStartToken: PushToken? = nil, fcmToken: String? = nil, frequentUpdates: Bool? = nil,
        dismissal: Dismissal? = nil, replaces: String? = nil, isRevoked: Bool = false
    ) {
        self.init(
            app: app, contentPatch: contentState.map { PackedObject($0) }, alert: alert,
            relevanceScore: relevanceScore, attributesType: attributesType, attributes: attributes, follows: follows,
            target: target, renewalStartToken: renewalStartToken, fcmToken: fcmToken,
            frequentUpdates: frequentUpdates, dismissal: dismissal, replaces: replaces, isRevoked: isRevoked)
    }

    /// Of a plain change of status.
    init(app: String?, patch: PackedObject?) {
        self.app = app
        contentPatch = patch
        rest = nil
    }

    /// `contentPatch` as a tree, made anew at each call.
    public var contentState: JSONObject? { contentPatch?.object }
    public var alert: Alert? { rest?.alert }
    public var relevanceScore: Double? { rest?.relevanceScore }
    public var attributesType: String? { rest?.attributesType }
    public var attributes: JSONObject? { rest?.attributes }
    /// Subject id that the activity follows.
    public var follows: String? { rest?.follows }
    public var target: StartTarget { rest?.target ?? .none }
    /// A push-to-start token beside an update token, kept for renewal. (`target` holds it where it stands alone.)
    public var renewalStartToken: PushToken? { rest?.renewalStartToken }
    public var fcmToken: String? { rest?.fcmToken }
    public var frequentUpdates: Bool? { rest?.frequentUpdates }
    public var dismissal: Dismissal? { rest?.dismissal }
    /// Id of the activity that ends because this one begins.
    public var replaces: String? { rest?.replaces }
    /// Of a `token` event: the token that it names, or whatever was registered until then, is no longer the activity's.
    public var isRevoked: Bool { rest?.isRevoked ?? false }

    private final class Rest: Sendable {
        let alert: Alert?
        let relevanceScore: Double?
        let attributesType: String?
        let attributes: JSONObject?
        let follows: String?
        let target: StartTarget
        let renewalStartToken: PushToken?
        let fcmToken: String?
        let frequentUpdates: Bool?
        let dismissal: Dismissal?
        let replaces: String?
        let isRevoked: Bool

        init(
            alert: Alert?, relevanceScore: Double?, attributesType: String?, attributes: JSONObject?, follows: String?,
            target: StartTarget, renewalStartToken: PushToken?, fcmToken: String?, frequentUpdates: Bool?,
            dismissal: Dismissal?, replaces: String?, isRevoked: Bool
        ) {
            self.alert = alert
            self.relevanceScore = relevanceScore
            self.attributesType = attributesType
            self.attributes = attributes
            self.follows = follows
            self.target = target
            self.renewalStartToken = renewalStartToken
            self.fcmToken = fcmToken
            self.frequentUpdates = frequentUpdates
            self.dismissal = dismissal
            self.replaces = replaces
            self.isRevoked = isRevoked
        }
    }
}

/// Where an `activity.started` or a `token` event says that pushes go.
public enum StartTarget: Sendable, Equatable {
    case none
    /// The update token of an activity that began on the phone (or the new one of a `token` event).
    case updateToken(PushToken)
    /// A push-to-start token: the activity is to be begun by push.
    case startToken(PushToken)
    /// The newest start token registered for this user and app.
    case user(String)
    /// Broadcast channel, base64.
    case channel(String)
}

/// A device token as bytes (32 to 200): half the size of its hex form, and equal whatever the case of the letters was. One of 32 bytes, as
/// most are, needs no memory of its own.
public struct PushToken: Hashable, Sendable {
    private enum Storage: Hashable, Sendable {
        case inPlace(UInt64, UInt64, UInt64, UInt64)
        case apart([UInt8])
    }

    private let storage: Storage

    public init(bytes: [UInt8]) {
        guard bytes.count == 32 else {
            storage = .apart(bytes)
            return
        }
        storage = bytes.withUnsafeBytes { bytes in
            func word(_ place: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: 8 * place, as: UInt64.self) }
            return .inPlace(word(0), word(1), word(2), word(3))
        }
    }

    /// A copy; `withBytes` needs none.
    public var bytes: [UInt8] { withBytes { Array($0) } }

    public var byteCount: Int {
        switch storage {
        case .inPlace: 32
        case .apart(let bytes): bytes.count
        }
    }

    public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        switch storage {
        case .inPlace(let first, let second, let third, let fourth):
            return try withUnsafeBytes(of: (first, second, third, fourth)) { try body($0) }
        case .apart(let bytes):
            return try bytes.withUnsafeBytes { try body($0) }
        }
    }
}

public struct Alert: Sendable, Equatable {
    /// String, or the localised form `{"loc-key", "loc-args"}` (Apple, "Starting and updating Live Activities with
    /// ActivityKit push notifications").
    public let title: JSONValue?
    public let body: JSONValue?
    public let sound: String?

    public init(title: JSONValue?, body: JSONValue?, sound: String?) {
        self.title = title
        self.body = body
        self.sound = sound
    }
}

/// When the ended activity leaves the Lock Screen.
public enum Dismissal: Sendable, Equatable {
    case immediate
    /// Unix milliseconds.
    case at(milliseconds: Int64)
}
