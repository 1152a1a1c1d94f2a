import Pacing
import Telemetry

/// What the owner of activities asks of the registry of tokens, which all members of a group share with the API that registers them. Each
/// request is answered exactly once, in any order; the same request may be made again at any time.
///
/// `app` is always the name of a configured app: whoever asks has put the only one in where an event named none.
public enum RegistryRequest: Sendable {
    /// The activity has begun, and this is where its events go from now on. Asked again where an activity without a target is taken over.
    /// Answer: `begun`.
    case begin(activity: [UInt8], ActivityPlace)
    /// The activity is over: what is kept of it goes after so long. Answer: `done`.
    case end(activity: [UInt8], keptMilliseconds: Int64)
    /// The newest push-to-start token of a user for an app, whatever attributes type it was registered with: a device has one for all.
    /// Answer: `startToken`.
    case startToken(user: String, app: String)
    /// Counts a start against what the phone behind the token allows in a window, before it leaves. The same start is counted once, however
    /// often it is asked for. Answer: `startGranted`, `startDeferred`.
    case takeStart(token: PushToken, app: String, start: StartMark, StartBudget)
    /// The provider no longer knows the token: it is forgotten unless it was registered after that time, or another has taken its place.
    /// Answer: `done`.
    case forgetStartToken(user: String, app: String, token: PushToken, goneAtMilliseconds: Int64)
}

public enum RegistryAnswer: Sendable {
    /// What was registered for the activity before it began, if anything; it is kept, and told again when asked again.
    case begun(KeptToken?)
    case done
    /// Nil where none is registered, or the newest is gone.
    case startToken(RegisteredStartToken?)
    case startGranted
    /// The budget is used up; the next start may leave no sooner than at this Unix time.
    case startDeferred(untilMilliseconds: Int64)
    case failed(StoreFailure)
}

/// Where all events of an activity go.
public struct ActivityPlace: Hashable, Sendable {
    /// The record's key: the subject's id where the activity follows one from its start, else its own.
    public let key: [UInt8]
    public let partition: Int32

    public init(key: [UInt8], partition: Int32) {
        self.key = key
        self.partition = partition
    }
}

/// An update token that was registered before its activity began.
public struct KeptToken: Equatable, Sendable {
    public let token: PushToken
    /// Unix milliseconds.
    public let registeredAtMilliseconds: Int64
    public let frequentUpdates: Bool?

    public init(token: PushToken, registeredAtMilliseconds: Int64, frequentUpdates: Bool?) {
        self.token = token
        self.registeredAtMilliseconds = registeredAtMilliseconds
        self.frequentUpdates = frequentUpdates
    }
}

public struct RegisteredStartToken: Equatable, Sendable {
    public let token: PushToken
    /// Unix milliseconds.
    public let registeredAtMilliseconds: Int64

    public init(token: PushToken, registeredAtMilliseconds: Int64) {
        self.token = token
        self.registeredAtMilliseconds = registeredAtMilliseconds
    }
}

/// Names one start of one life of an activity: its attempts are one start on the phone.
public struct StartMark: Hashable, Sendable {
    public let activity: [UInt8]
    public let life: UInt32

    public init(activity: [UInt8], life: UInt32) {
        self.activity = activity
        self.life = life
    }
}

/// How many starts one token may be sent in a window.
///
/// Unpublished: about ten in short order have been reported, then the phone drops them and the server still sees 200 (Apple Developer Forums,
/// thread 799505).
public struct StartBudget: Equatable, Sendable {
    public var starts: Int
    public var windowMilliseconds: Int64

    public init(starts: Int = 10, windowMilliseconds: Int64 = 3_600_000) {
        self.starts = starts
        self.windowMilliseconds = windowMilliseconds
    }
}
