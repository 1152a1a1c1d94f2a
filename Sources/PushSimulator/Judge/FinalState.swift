import Telemetry

/// What a phone should know of an activity when all is over: the judge's other witness.
public struct FinalState: Sendable, Equatable {
    public enum Ending: Sendable, Equatable {
        /// No dismissal date was given.
        case plain
        case immediate
        /// Unix milliseconds.
        case at(milliseconds: Int64)
    }

    /// All patches merged.
    public var contentState = ContentState()
    /// Fields that only positions set: while the activity lives they ride along, so they may lag.
    public var rideAlongFields: [FieldPath] = []
    public var position: Coordinate?
    /// What the phone showed before any push, where the activity began on it.
    public var shownAtBegin: ContentState?
    public var ending: Ending?
    public var isFrequent = false
    /// Whether it ever had a token to push to.
    public var hasTarget = false
    /// Unix milliseconds of its `activity.started`.
    public var beganAtMilliseconds: Int64?

    public init() {}
}

/// Final states by activity id, and whose each token is.
public struct Expectations: Sendable {
    public var finalStates: [String: FinalState]
    /// By token fingerprint, for journals that do not name the activity.
    public var activityByToken: [String: String]

    public init(finalStates: [String: FinalState] = [:], activityByToken: [String: String] = [:]) {
        self.finalStates = finalStates
        self.activityByToken = activityByToken
    }

    func activity(of entry: JournalEntry) -> String {
        entry.activityIdentifier ?? activityByToken[entry.tokenFingerprint] ?? "token \(entry.tokenFingerprint)"
    }
}
