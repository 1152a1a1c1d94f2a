import HTTP2
import Instruments
import Sockets

/// One dispatch worker: a thread with an event loop that owns connections to every pool. Jobs come in and reports go out in batches.
///
/// Each job is reported exactly once, whatever happens, also by `stop()`.
public final class Worker: Sendable {
    private let thread: LoopThread
    private let inbox: JobInbox
    private let reports: @Sendable ([Report]) -> Void

    /// - Parameters:
    ///   - permits: what may leave; nil where everything may.
    ///   - reports: called on the worker's thread with what a turn of its loop brought; must neither block nor stop the worker.
    /// - Throws: where the system gives no thread or no descriptor.
    public convenience init(
        name: String, pools: [PoolSettings], options: DeliveryOptions, instruments: DeliveryInstruments, log: Log,
        permits: SendPermits? = nil, reports: @escaping @Sendable ([Report]) -> Void
    ) throws(SystemFault) {
        try self.init(
            name: name, pools: pools, options: options, instruments: instruments, log: log, lookUp: nil,
            permits: permits, reports: reports)
    }

    /// - Parameter lookUp: answers for names in place of the system's resolver.
    init(
        name: String, pools: [PoolSettings], options: DeliveryOptions, instruments: DeliveryInstruments, log: Log,
        lookUp: AddressLookUp?, permits: SendPermits? = nil, reports: @escaping @Sendable ([Report]) -> Void
    ) throws(SystemFault) {
        let inbox = JobInbox()
        self.inbox = inbox
        self.reports = reports
        thread = try LoopThread.start(name: name) { loop in
            let core = WorkerCore(
                loop: loop, inbox: inbox, pools: pools, options: options, instruments: instruments, log: log,
                lookUp: lookUp, permits: permits, reports: reports)
            loop.onWake { core.takeJobs() }
            core.start()
        }
    }

    deinit { stop() }

    /// Takes the jobs out of `batch` and leaves it empty, its memory ready for the next ones. After `stop()` jobs come back `unsent` at
    /// once, on the caller's thread.
    public func submit(_ batch: inout JobBatch) {
        guard !batch.isEmpty else { return }
        switch inbox.add(&batch) {
        case .first: thread.mailbox.wake()
        case .more: break
        case .closed:
            var unsent: [Report] = []
            batch.visitAll { job, _ in unsent.append(.completed(identifier: job.identifier, outcome: .unsent)) }
            batch.removeAll()
            reports(unsent)
        }
    }

    /// Closes every connection and ends the thread. When it returns, all that was in flight has been reported: its outcome is unknown,
    /// unless it was certainly not written. A second call does nothing.
    public func stop() {
        inbox.close()
        thread.mailbox.wake()
        thread.join()
    }
}
