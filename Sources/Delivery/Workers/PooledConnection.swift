import HTTP2
import LiveActivities

/// A connection of a pool, and what is known of it beyond HTTP/2.
final class PooledConnection {
    enum Stage {
        case opening
        case inUse
        /// No new requests; the open ones still end.
        case retiring
    }

    let connection: ClientConnection
    var stage = Stage.opening
    var readyAtMilliseconds: Int64 = 0
    /// Has carried a request that a healthy provider judged: another one in its place is worth no delay.
    var isProven = false
    /// The provider token that it carries, 0 before its first request, and since when, on that token's clock.
    var bearerGeneration: UInt32 = 0
    var carriesSinceMilliseconds: Int64 = 0
    /// Set by the first GOAWAY that names a reason.
    var goAwayReason: APNsReason?
    var sawGoAway = false
    /// Requests that ended with the connection. Why it ended decides what that means, and is told after them.
    var orphans: [UInt64] = []

    init(_ connection: ClientConnection) {
        self.connection = connection
    }
}
