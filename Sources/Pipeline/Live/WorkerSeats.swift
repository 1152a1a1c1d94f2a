import Delivery
import Flow
import HTTP2
import Instruments

/// The workers that a lane feeds: which link leads to which worker's pool, and the jobs on their way.
final class WorkerSeats {
    private let workers: [Worker]
    private let poolCount: Int
    private var outgoing: [[Job]]

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
        outgoing = Array(repeating: [], count: count)
    }

    /// Links were made worker by worker, pool by pool.
    func link(worker: Int, pool: Int) -> Int { worker * poolCount + pool }

    func add(_ job: Job, link: Int) {
        outgoing[link / poolCount].append(job)
    }

    /// Hands over what was added, one batch a worker.
    func flush() {
        for index in workers.indices where !outgoing[index].isEmpty {
            workers[index].submit(outgoing[index])
            outgoing[index].removeAll(keepingCapacity: true)
        }
    }

    func stop() {
        for worker in workers { worker.stop() }
    }
}
