import Delivery
import Flow
import HTTP2
import Instruments
import LiveActivities
import Sockets
import Telemetry

/// The workers that a lane feeds: which link leads to which worker's pool, and the jobs on their way. Used by the lane's thread alone, and not
/// checked for overlapping access.
final class WorkerSeats {
    let instruments: DeliveryInstruments
    private let workers: [Worker]
    private let poolCount: Int
    @exclusivity(unchecked) private var outgoing: [JobBatch]
    /// When the oldest of them was added.
    @exclusivity(unchecked) private var oldestMilliseconds: Int64?
    private var hasUrgent = false

    /// Of each link: what its worker's connections to the pool carry at the same time.
    private var streams: [Int]
    /// So many are handed over at once: a worker begins to write while the lane makes the next ones, and the rest of the streams are busy.
    @exclusivity(unchecked) private var jobsAtOnce = WorkerSeats.maxJobsAtOnce

    private static let maxJobsAtOnce = 128
    /// Of the streams of the smallest link: no more of them stand still while jobs gather.
    private static let gatheringShare = 4
    /// While the lane is busy what is routine gathers for so long at most.
    private static let gatheringMilliseconds: Int64 = 4

    init(
        count: Int, pools: [PoolSettings], options: DeliveryOptions, registry: Registry, log: Log, lane: Lane,
        reports: ReportBox, permits: SendPermits? = nil
    ) throws(SystemFault) {
        let instruments = DeliveryInstruments(registry: registry)
        self.instruments = instruments
        var workers: [Worker] = []
        for index in 0..<count {
            for pool in pools.indices { _ = lane.addLink(pool: pool) }
            workers.append(
                try Worker(
                    name: "worker-\(index)", pools: pools, options: options, instruments: instruments, log: log,
                    permits: permits, reports: { reports.add($0, worker: index) }))
        }
        self.workers = workers
        poolCount = pools.count
        outgoing = Array(repeating: JobBatch(), count: count)
        streams = Array(repeating: 0, count: count * pools.count)
    }

    /// Links were made worker by worker, pool by pool.
    func link(worker: Int, pool: Int) -> Int { worker * poolCount + pool }

    func setStreams(_ count: Int, link: Int) {
        streams[link] = count
        guard let least = streams.lazy.filter({ $0 > 0 }).min() else { return }
        jobsAtOnce = min(WorkerSeats.maxJobsAtOnce, max(1, least / WorkerSeats.gatheringShare))
    }

    /// Hands over together with others, at the latest with a `flush`.
    func add(_ dispatch: Dispatch, _ headers: PushHeaders, _ body: ByteBuffer, atMilliseconds now: Int64) {
        let index = dispatch.link / poolCount
        body.withUnsafeBytes {
            outgoing[index].add(
                identifier: dispatch.identifier, pool: dispatch.pool, headers: headers, partition: dispatch.partition,
                epoch: dispatch.epoch, body: $0)
        }
        if dispatch.update.isUrgent { hasUrgent = true }
        if oldestMilliseconds == nil { oldestMilliseconds = now }
        if outgoing[index].count >= jobsAtOnce { workers[index].submit(&outgoing[index]) }
    }

    /// Hands over what was added. While the lane has work, what is routine gathers for some milliseconds: pushes in company cost worker and
    /// provider a fraction of what single ones do, and to wake a worker costs the lane as much as to make a push.
    func flush(atMilliseconds now: Int64, isIdle: Bool) {
        guard let oldestMilliseconds,
            isIdle || hasUrgent || now - oldestMilliseconds >= WorkerSeats.gatheringMilliseconds
        else { return }
        for index in workers.indices { workers[index].submit(&outgoing[index]) }
        self.oldestMilliseconds = nil
        hasUrgent = false
    }

    func stop() {
        for worker in workers { worker.stop() }
    }
}
