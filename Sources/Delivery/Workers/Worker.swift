import Flow
import HTTP2
import Instruments
import Synchronization

/// One dispatch worker: a thread with an event loop that owns connections to every pool. Jobs come in and reports go out in batches.
public final class Worker: Sendable {
    /// Jobs on their way to the loop's thread.
    final class Inbox: Sendable {
        private let jobs = Mutex<[Job]>([])

        /// - Returns: whether the loop has to be woken: it was empty.
        func add(_ batch: [Job]) -> Bool {
            jobs.withLock { jobs in
                let wasEmpty = jobs.isEmpty
                jobs.append(contentsOf: batch)
                return wasEmpty
            }
        }

        func takeAll() -> [Job] {
            jobs.withLock { jobs in
                var taken: [Job] = []
                swap(&taken, &jobs)
                return taken
            }
        }
    }

    private let thread: LoopThread
    private let inbox: Inbox

    /// - Parameter reports: called on the worker's thread with what a turn of its loop brought; must not block.
    public init(
        name: String, pools: [PoolSettings], options: DeliveryOptions, instruments: DeliveryInstruments, log: Log,
        reports: @escaping @Sendable ([Report]) -> Void
    ) throws(SystemFault) {
        let inbox = Inbox()
        self.inbox = inbox
        thread = try LoopThread.start(name: name) { loop in
            let core = WorkerCore(
                loop: loop, inbox: inbox, pools: pools, options: options, instruments: instruments, log: log,
                reports: reports)
            loop.onWake { core.takeJobs() }
            core.start()
        }
    }

    public func submit(_ jobs: [Job]) {
        if inbox.add(jobs) { thread.mailbox.wake() }
    }

    /// Closes every connection and ends the thread; what is still in flight is reported before.
    public func stop() {
        thread.stopAndJoin()
    }
}
