import Flow
import LiveActivities

/// A push on its way from a lane to a worker.
public struct Job: Sendable {
    public let identifier: UInt64
    public let pool: Int
    public let headers: PushHeaders
    public let body: [UInt8]

    public init(identifier: UInt64, pool: Int, headers: PushHeaders, body: [UInt8]) {
        self.identifier = identifier
        self.pool = pool
        self.headers = headers
        self.body = body
    }
}

/// What a worker tells the lane that feeds it.
public enum Report: Sendable {
    case completed(identifier: UInt64, outcome: DispatchOutcome)
    /// How many requests the worker's connections to the pool can carry at the same time, those under way included.
    case streams(pool: Int, count: Int)
}
