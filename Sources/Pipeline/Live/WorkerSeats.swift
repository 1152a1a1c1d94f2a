import Delivery
import Flow
import HTTP2
import Instruments
import LiveActivities
import Telemetry

/// The workers that a lane feeds: which link leads to which worker's pool, and the jobs on their way.
final class WorkerSeats {
    private let workers: [Worker]
    private let poolCount: Int
    private var outgoing: [JobBatch]
    /// When the oldest of them was added.
    private var oldestMilliseconds: Int64?
    private var hasUrgent = false

    /// So many are handed over at once: a worker begins to write while the lane makes the next ones.
    private static let jobsAtOnce = 32

    init(
        count: Int, pools: [PoolSettings], options: DeliveryOptions, registry: Registry, log: Log, lane: Lane,
        reports: ReportBox
    ) throws(SystemFault) {
        let instruments = DeliveryInstruments(registry: registry)
        var workers: [Worker] = []
        for index in 0..<count {
            for pool in pools.indices { _ = lane.addLink(pool: pool) }
            workers.append(
                try Worker(
                    name: "worker-\(index)", pools: pools, options: options, instruments: instruments, log: log,
                    reports: { reports.add($0, worker: index) }))
        }
        self.workers = workers
        poolCount = pools.count
        outgoing = Array(repeating: JobBatch(), count: count)
    }

    /// Links were made worker by worker, pool by pool.
    func link(worker: Int, pool: Int) -> Int { worker * poolCount + pool }

    /// Hands over together with others, at the latest with a `flush`.
    func add(_ dispatch: Dispatch, _ headers: PushHeaders, _ body: ByteBuffer, atMilliseconds now: Int64) {
        let index = dispatch.link / poolCount
        body.withUnsafeBytes {
            outgoing[index].add(identifier: dispatch.identifier, pool: dispatch.pool, headers: headers, body: $0)
        }
        if dispatch.update.isUrgent { hasUrgent = true }
        if oldestMilliseconds == nil { oldestMilliseconds = now }
        if outgoing[index].count >= WorkerSeats.jobsAtOnce { workers[index].submit(&outgoing[index]) }
    }

    /// Hands over what was added. While the lane has work, what is routine waits for the next millisecond: pushes in company cost worker
    /// and provider a fraction of what single ones do.
    func flush(atMilliseconds now: Int64, isIdle: Bool) {
        guard let oldestMilliseconds, isIdle || hasUrgent || now != oldestMilliseconds else { return }
        for index in workers.indices { workers[index].submit(&outgoing[index]) }
        self.oldestMilliseconds = nil
        hasUrgent = false
    }

    func stop() {
        for worker in workers { worker.stop() }
    }
}
