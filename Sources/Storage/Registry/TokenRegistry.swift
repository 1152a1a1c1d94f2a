import Flow
import Telemetry

/// What a group knows of tokens: where the events of an activity go, what was registered before it began, the newest push-to-start token of
/// each user, and how many starts each of those was sent.
public protocol TokenRegistry: AnyObject {
    /// What owners of activities ask. Answers once, on the thread of the caller, perhaps before this returns.
    func perform(_ request: RegistryRequest, _ completion: @escaping (RegistryAnswer) -> Void)

    /// What whoever takes registrations asks. Answers once, as above.
    func perform(_ request: RegistrationRequest, _ completion: @escaping (RegistrationAnswer) -> Void)

    /// What is wrong at present, for readiness and the log; nil when nothing is.
    var fault: StoreFault? { get }
}

/// What the API that takes registrations asks of the registry. Whatever the order in which they come, the latest by its time wins; of two of
/// the same time, the one that came last. `app` is always the name of a configured app.
public enum RegistrationRequest: Sendable {
    /// Asks where the activity's events go. Where it has not begun the token is kept until it does, in one step with that question: its
    /// beginning finds either the token here, or this the place. Answer: `placed`, `kept`, `superseded`.
    case keep(activity: [UInt8], KeptToken)
    /// The token is the activity's no more, or, without one, whatever was registered until then, that time included. Answer: as above.
    case takeBack(activity: [UInt8], token: PushToken?, untilMilliseconds: Int64)
    /// Answer: `placed`, `unplaced`.
    case place(activity: [UInt8])
    /// The user has this push-to-start token. A device has one for all attributes types: the newest of user and app counts, and the type is
    /// kept for people. Answer: `kept`, `superseded`.
    case keepStart(user: String, app: String, attributesType: String, RegisteredStartToken)
    /// The token is the user's no more, or, without one, whatever was registered until then. Answer: `kept`, `superseded`.
    case takeBackStart(user: String, app: String, token: PushToken?, untilMilliseconds: Int64)
}

public enum RegistrationAnswer: Equatable, Sendable {
    /// The activity has begun: here its events go. Nothing was kept.
    case placed(ActivityPlace)
    case unplaced
    /// The registry has it.
    case kept
    /// A later one is on file: nothing was changed.
    case superseded
    case failed(StoreFailure)
}

/// How long a registry keeps what nobody ends.
public struct RegistryRetention: Sendable {
    /// Of tokens whose activity never begins: as long as a phone keeps an activity that has ended, and so any (ActivityKit: four hours after
    /// at most eight).
    public var unbegunMilliseconds: Int64 = 12 * 3_600_000
    /// Of a user's start token since it was registered last, and of a place since its activity began: apps register at each launch, and no
    /// activity lives as long.
    public var silenceMilliseconds: Int64 = 180 * 24 * 3_600_000

    public init() {}
}
