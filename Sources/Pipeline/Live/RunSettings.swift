import Delivery
import Flow

/// Everything that a run needs to be told.
public struct RunSettings: Sendable {
    public var lane: LaneSettings
    public var pace: Pace
    public var workers = 1
    public var pools: [PoolSettings]
    public var delivery: DeliveryOptions
    public var drainTimeoutMilliseconds: Int64 = 10_000
    public var deadLetters = DeadLetterSettings()
    /// How often signing keys are read again.
    public var keyCheckMilliseconds = KeyWatch.standardIntervalMilliseconds
    public var feedback = FeedbackSettings()

    public init(lane: LaneSettings, pace: Pace, pools: [PoolSettings], delivery: DeliveryOptions) {
        self.lane = lane
        self.pace = pace
        self.pools = pools
        self.delivery = delivery
    }
}

/// How a run ended.
public enum RunEnding: Equatable, Sendable {
    /// The recording was told to its end.
    case finished
    /// Asked to stop; everything in flight was answered.
    case drained
    /// Asked to stop; so many updates were still in flight when the time was over.
    case drainDeadlineExceeded(inFlight: Int)
    /// Asked to stop; the store did not confirm that so many partitions were saved and given back. Their next owners wait for the leases, and
    /// go on from what was saved before.
    case notHandedOver(partitions: Int)
    /// The group takes this process for a member no more, as where another has its instance id.
    case expelled(reason: String)
    /// The provider refuses the credentials of every app, and nothing is left to wait for.
    case refusedCredentials
    /// The provider refuses token after token: environment or bundle id of an app is wrong. None was forgotten.
    case refusedTokens
    /// Too many of the recording's records could not be used; the rest was not read.
    case tooManyDeadLetters
}
