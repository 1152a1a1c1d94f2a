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

    /// What a worker is given at the latest: it begins to write while the lane makes the next ones.
    private static let jobsAtOnce = 16

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

    /// Hands over with others, at the latest with the next `flush`.
    func add(_ dispatch: Dispatch, _ headers: PushHeaders, _ body: ByteBuffer) {
        let index = dispatch.link / poolCount
        body.withUnsafeBytes {
            outgoing[index].add(identifier: dispatch.identifier, pool: dispatch.pool, headers: headers, body: $0)
        }
        if outgoing[index].count >= WorkerSeats.jobsAtOnce { workers[index].submit(&outgoing[index]) }
    }

    func flush() {
        for index in workers.indices where !outgoing[index].isEmpty { workers[index].submit(&outgoing[index]) }
    }

    func stop() {
        for worker in workers { worker.stop() }
    }
}
