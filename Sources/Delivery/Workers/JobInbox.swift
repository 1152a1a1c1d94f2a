import Synchronization

/// Jobs on their way to a worker's thread. Batches change places with their memory: a handful of them serves for ever.
final class JobInbox: Sendable {
    enum Acceptance {
        /// It was empty: the loop has to be woken.
        case first
        /// The loop has been woken for earlier ones.
        case more
        /// The worker has been stopped; the jobs were not taken.
        case closed
    }

    private struct State {
        var jobs = JobBatch()
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Empties `batch`, unless the inbox is closed.
    func add(_ batch: inout JobBatch) -> Acceptance {
        state.withLock { state in
            if state.isClosed { return .closed }
            guard state.jobs.isEmpty else {
                state.jobs.append(batch)
                batch.removeAll()
                return .more
            }
            swap(&state.jobs, &batch)
            return .first
        }
    }

    /// Gives out what has come, and takes the caller's empty batch for what comes next.
    ///
    /// - Returns: whether the inbox is closed, so that these are the last.
    func take(into jobs: inout JobBatch) -> Bool {
        precondition(jobs.isEmpty, "\(jobs.count) jobs would come back")
        return state.withLock { state in
            swap(&state.jobs, &jobs)
            return state.isClosed
        }
    }

    func close() {
        state.withLock { $0.isClosed = true }
    }
}
