import Delivery
import Synchronization

/// Reports of workers on their way to a lane, in batches.
final class ReportBox: Sendable {
    typealias Batch = (worker: Int, reports: [Report])

    private let batches = Mutex<[Batch]>([])
    /// Whether `batches` holds something: a lane asks in each of its turns, mostly in vain, and so takes no lock for it.
    private let hasSome = Atomic(false)
    /// Whether the lane sleeps, or is about to: only then is it woken, since a call of the system costs as much as a push.
    private let isAwaited = Atomic(false)
    private let wakeup: Wakeup

    init(wakeup: Wakeup) {
        self.wakeup = wakeup
    }

    func add(_ reports: [Report], worker: Int) {
        let wasEmpty = batches.withLock { batches in
            defer { batches.append((worker, reports)) }
            return batches.isEmpty
        }
        guard wasEmpty else { return }
        // In one order with `sleep`: either this sees that the lane sleeps, or the lane sees that something has come.
        hasSome.store(true, ordering: .sequentiallyConsistent)
        if isAwaited.load(ordering: .sequentiallyConsistent) { wakeup.wake() }
    }

    /// Calls `body`, which sleeps until it is woken, unless something has come.
    func sleep(_ body: () -> Void) {
        isAwaited.store(true, ordering: .sequentiallyConsistent)
        if !hasSome.load(ordering: .sequentiallyConsistent) { body() }
        isAwaited.store(false, ordering: .relaxed)
    }

    /// Gives out what has come, and takes the caller's empty array for what comes next.
    func take(into taken: inout [Batch]) {
        precondition(taken.isEmpty, "\(taken.count) batches of reports would come back")
        guard hasSome.load(ordering: .relaxed), hasSome.exchange(false, ordering: .acquiring) else { return }
        batches.withLock { swap(&$0, &taken) }
    }
}
