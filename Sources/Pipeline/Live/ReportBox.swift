import Delivery
import Synchronization

/// Reports of workers on their way to a lane, in batches.
final class ReportBox: Sendable {
    typealias Batch = (worker: Int, reports: [Report])

    private let batches = Mutex<[Batch]>([])
    /// Whether `batches` holds something: a lane asks in each of its turns, mostly in vain, and so takes no lock for it.
    private let hasSome = Atomic(false)
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
        hasSome.store(true, ordering: .releasing)
        wakeup.wake()
    }

    /// Gives out what has come, and takes the caller's empty array for what comes next.
    func take(into taken: inout [Batch]) {
        precondition(taken.isEmpty, "\(taken.count) batches of reports would come back")
        guard hasSome.load(ordering: .relaxed), hasSome.exchange(false, ordering: .acquiring) else { return }
        batches.withLock { swap(&$0, &taken) }
    }
}
