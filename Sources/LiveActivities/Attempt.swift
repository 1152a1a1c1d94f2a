/// What is known of the request that got the answer or the signal.
public struct Attempt: Sendable {
    public enum Counter: UInt8, Sendable {
        case serverError, unknownOutcome, connectionRefusal, throttle
    }

    public var event: Push.Event
    /// Earlier 5xx answers to this content.
    public var serverErrors: Int
    /// Earlier unknown outcomes of this content.
    public var unknownOutcomes: Int
    /// Earlier answers to this content that asked for another provider token or connection.
    public var connectionRefusals: Int
    /// 429 `TooManyRequests` in a row to this target, whatever the content; from 0 after any other answer.
    public var throttles: Int
    /// From which a throttled target is slowed.
    public var usualIntervalMilliseconds: Int64
    /// Age, by our monotonic clock, of the provider token that the request carried (not of the newest one).
    public var providerTokenAgeSeconds: Int64
    /// Spreads delays; any value will do.
    public var random: UInt64

    public init(
        event: Push.Event, serverErrors: Int = 0, unknownOutcomes: Int = 0, connectionRefusals: Int = 0,
        throttles: Int = 0, usualIntervalMilliseconds: Int64 = 15_000, providerTokenAgeSeconds: Int64 = 0,
        random: UInt64 = 0
    ) {
        self.event = event
        self.serverErrors = serverErrors
        self.unknownOutcomes = unknownOutcomes
        self.connectionRefusals = connectionRefusals
        self.throttles = throttles
        self.usualIntervalMilliseconds = usualIntervalMilliseconds
        self.providerTokenAgeSeconds = providerTokenAgeSeconds
        self.random = random
    }

    /// Remembers what came of it, for the next attempt with the same content.
    public mutating func count(_ counter: Counter?) {
        switch counter {
        case .serverError: serverErrors += 1
        case .unknownOutcome: unknownOutcomes += 1
        case .connectionRefusal: connectionRefusals += 1
        case .throttle: throttles += 1
        case nil: break
        }
    }
}
