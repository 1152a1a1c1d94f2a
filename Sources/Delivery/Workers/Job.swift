import Flow
import LiveActivities

/// A push on its way from a lane to a worker. Its body lies in the batch that it came with.
public struct Job: Sendable {
    public let identifier: UInt64
    public let pool: Int
    public let headers: PushHeaders
    /// Whose it is, and under which ownership.
    let partition: Int32
    let epoch: Epoch
    let body: Range<Int>
}

/// Jobs that travel together, their bodies in one stretch of bytes. Emptied it keeps its memory, so that a batch that is refilled again and
/// again allocates nothing.
public struct JobBatch: Sendable {
    private var jobs: [Job] = []
    private var bodies: [UInt8] = []

    public init() {}

    public var count: Int { jobs.count }
    public var isEmpty: Bool { jobs.isEmpty }

    /// - Parameter body: is copied.
    public mutating func add(
        identifier: UInt64, pool: Int, headers: PushHeaders, partition: Int32 = 0, epoch: Epoch = 0,
        body: UnsafeRawBufferPointer
    ) {
        let start = bodies.count
        bodies.append(contentsOf: body)
        jobs.append(
            Job(
                identifier: identifier, pool: pool, headers: headers, partition: partition, epoch: epoch,
                body: start..<bodies.count))
    }

    public mutating func add(identifier: UInt64, pool: Int, headers: PushHeaders, body: [UInt8]) {
        body.withUnsafeBytes { add(identifier: identifier, pool: pool, headers: headers, body: $0) }
    }

    /// In the order in which they were added. A body is lent for the call.
    public func visitAll(_ visit: (Job, _ body: UnsafeRawBufferPointer) -> Void) {
        bodies.withUnsafeBytes { bodies in
            for job in jobs { visit(job, UnsafeRawBufferPointer(rebasing: bodies[job.body])) }
        }
    }

    mutating func append(_ other: JobBatch) {
        other.visitAll { job, body in
            add(
                identifier: job.identifier, pool: job.pool, headers: job.headers, partition: job.partition,
                epoch: job.epoch, body: body)
        }
    }

    mutating func removeAll() {
        jobs.removeAll(keepingCapacity: true)
        bodies.removeAll(keepingCapacity: true)
    }
}

/// What a worker tells the lane that feeds it.
public enum Report: Sendable {
    case completed(identifier: UInt64, outcome: DispatchOutcome)
    /// How many requests the worker's connections to the pool can carry at the same time, those under way included.
    case streams(pool: Int, count: Int)
}
