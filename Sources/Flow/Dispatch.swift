import LiveActivities
import Pacing
import Telemetry

/// A push that is to leave now. Its body is written into the buffer that the caller gave.
///
/// A class, because an update counts a dozen references: so it is passed on for one.
public final class Dispatch: Sendable {
    public let identifier: UInt64
    /// The worker's side that it is for.
    public let link: Int
    public let pool: Int
    public let update: Update
    /// Nil where the target is no device token.
    public let headers: PushHeaders?
    /// Fields left out of the content-state to make it fit.
    public let shed: [FieldPath]
    /// Cache lines of an object that completing it reads first.
    static let linesRead = 6
    public let partition: Int32
    /// Of the partition's owner: the push may leave only while nobody has a higher one.
    public let epoch: Epoch
    let shard: Int
    /// Tells a shard from those that stood in its place before.
    let incarnation: UInt32
    let permit: Breaker.Permit
    let tries: Tries

    init(
        identifier: UInt64, link: Int, pool: Int, update: Update, headers: PushHeaders?, shed: [FieldPath], shard: Int,
        standing: Standing, permit: Breaker.Permit, tries: Tries
    ) {
        self.identifier = identifier
        self.link = link
        self.pool = pool
        self.update = update
        self.headers = headers
        self.shed = shed
        self.shard = shard
        partition = standing.partition
        epoch = standing.epoch
        incarnation = standing.incarnation
        self.permit = permit
        self.tries = tries
    }
}

/// What a worker reports of a dispatch.
public enum DispatchOutcome: Sendable {
    /// - Parameter providerTokenAgeSeconds: of the token that the request carried, by the monotonic clock.
    case answered(ProviderAnswer, providerTokenAgeSeconds: Int64)
    case signalled(ConnectionSignal)
    /// No stream was free after all: nothing left.
    case unsent
}

/// What became of a dispatch, for metrics, logs and dead letters.
public struct Completion: Sendable {
    public enum Fate: Equatable, Sendable {
        case accepted
        /// The partition has gone to another owner meanwhile, who will not hear of it.
        case orphaned
        case refused
        case targetGone
        /// Held, and tried again no sooner than after this time.
        case held(milliseconds: Int64)
        case sendAgain
        case startUnknown
        case unsent
    }

    public let dispatch: Dispatch
    public let fate: Fate
    /// What the provider named, nil where it said nothing.
    public let reason: APNsReason?
    public let alarm: Reaction.Alarm?
    public let breaker: Breaker.Change?
    /// Tokens of this pool are refused so often that the configuration is to blame.
    public let isSuspicionAlarming: Bool
    /// As the provider gave it; nil where it gave none.
    public internal(set) var answer: ProviderAnswer?

    @inlinable public var update: Update { dispatch.update }
}

/// An update that never became a push, since a phone or APNs would not have taken it.
public struct Unpushable: Sendable {
    public let update: Update
    public let partition: Int32
    public let name: String
    public let explanation: String
}
