import Delivery
import Synchronization

/// Reports of workers on their way to a lane, in batches.
final class ReportBox: Sendable {
    private let batches = Mutex<[(worker: Int, reports: [Report])]>([])
    private let wakeup: Wakeup

    init(wakeup: Wakeup) {
        self.wakeup = wakeup
    }

    func add(_ reports: [Report], worker: Int) {
        let wasEmpty = batches.withLock { batches in
            defer { batches.append((worker, reports)) }
            return batches.isEmpty
        }
        if wasEmpty { wakeup.wake() }
    }

    func takeAll() -> [(worker: Int, reports: [Report])] {
        batches.withLock { batches in
            defer { batches.removeAll() }
            return batches
        }
    }
}
