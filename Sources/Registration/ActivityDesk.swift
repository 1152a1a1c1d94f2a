import Telemetry

/// What the API asks of the service behind it. May be called from any thread; each completion is called once, on any thread, perhaps before
/// the call returns.
public protocol ActivityDesk: Sendable {
    /// Takes the update token of an activity, or takes it back: it becomes a `token` event under the activity's key.
    func register(
        _ registration: UpdateTokenRegistration, _ completion: @escaping @Sendable (RegistrationOutcome) -> Void)
    /// Takes a user's push-to-start token, or takes it back: it goes into the registry, by its time.
    func register(
        _ registration: StartTokenRegistration, _ completion: @escaping @Sendable (RegistrationOutcome) -> Void)
    /// The newest known state of an activity.
    func state(of activity: String, _ completion: @escaping @Sendable (StateOutcome) -> Void)
    /// Why the activity was told what it was told.
    func explanation(of activity: String, _ completion: @escaping @Sendable (ExplanationOutcome) -> Void)
}

public struct UpdateTokenRegistration: Equatable, Sendable {
    public var activityIdentifier: String
    /// Nil takes back whatever was registered until `atMilliseconds`.
    public var token: PushToken?
    /// Whether `token` is taken back: it is forgotten if it is still the activity's, and no other is.
    public var isRevoked: Bool
    public var frequentUpdates: Bool?
    /// Name of a configured app, nil where there is only one.
    public var app: String?
    /// When the app got the token, Unix milliseconds: the latest wins.
    public var atMilliseconds: Int64

    public init(
        activityIdentifier: String, token: PushToken?, isRevoked: Bool = false, frequentUpdates: Bool? = nil,
        app: String? = nil, atMilliseconds: Int64
    ) {
        self.activityIdentifier = activityIdentifier
        self.token = token
        self.isRevoked = isRevoked
        self.frequentUpdates = frequentUpdates
        self.app = app
        self.atMilliseconds = atMilliseconds
    }
}

public struct StartTokenRegistration: Equatable, Sendable {
    public var user: String
    public var attributesType: String
    /// Nil takes back whatever was registered until `atMilliseconds`.
    public var token: PushToken?
    public var isRevoked: Bool
    public var app: String?
    public var atMilliseconds: Int64

    public init(
        user: String, attributesType: String, token: PushToken?, isRevoked: Bool = false, app: String? = nil,
        atMilliseconds: Int64
    ) {
        self.user = user
        self.attributesType = attributesType
        self.token = token
        self.isRevoked = isRevoked
        self.app = app
        self.atMilliseconds = atMilliseconds
    }
}

public enum RegistrationOutcome: Equatable, Sendable {
    /// The broker has the event.
    case appended
    /// It is in the registry.
    case stored
    /// A later registration is on file: nothing was changed.
    case superseded
    /// Broker or store is out of reach; nothing was promised, and the same may be sent again.
    case unavailable(String)
    /// So many wait already.
    case overloaded
}

/// The state of an activity as its phone is, or would be, told.
public struct ActivityStateView: Equatable, Sendable {
    public enum Stage: String, Sendable {
        /// It is known, and nobody to tell is.
        case waitingForToken
        case active, ended
    }

    public var activityIdentifier: String
    public var stage: Stage
    public var attributesType: String?
    /// JSON of the complete content-state, the sequence number of the last push in it.
    public var contentState: [UInt8]
    public var sequence: Int64
    /// When a push was last taken by the provider, Unix milliseconds.
    public var lastPushedAtMilliseconds: Int64?
    /// How old this view may be; 0 where the owner itself answered.
    public var ageMilliseconds: Int64

    public init(
        activityIdentifier: String, stage: Stage, attributesType: String?, contentState: [UInt8], sequence: Int64,
        lastPushedAtMilliseconds: Int64?, ageMilliseconds: Int64
    ) {
        self.activityIdentifier = activityIdentifier
        self.stage = stage
        self.attributesType = attributesType
        self.contentState = contentState
        self.sequence = sequence
        self.lastPushedAtMilliseconds = lastPushedAtMilliseconds
        self.ageMilliseconds = ageMilliseconds
    }
}

public enum StateOutcome: Equatable, Sendable {
    case known(ActivityStateView)
    case unknown
    case unavailable(String)
}

public enum ExplanationOutcome: Equatable, Sendable {
    /// A JSON object.
    case known([UInt8])
    case unknown
    /// Only the owner knows; its name, and where its API answers if it says so.
    case elsewhere(member: String, address: String?)
    case unavailable(String)
}
