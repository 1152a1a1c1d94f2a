import Synchronization

/// Jobs on their way to a worker's thread.
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
        var jobs: [Job] = []
        var isClosed = false
    }

    private let state = Mutex(State())

    func add(_ batch: [Job]) -> Acceptance {
        state.withLock { state in
            if state.isClosed { return .closed }
            defer { state.jobs.append(contentsOf: batch) }
            return state.jobs.isEmpty ? .first : .more
        }
    }

    /// Gives out what has come, and takes the caller's empty array for what comes next: two arrays serve for ever.
    ///
    /// - Returns: whether the inbox is closed, so that these are the last.
    func take(into jobs: inout [Job]) -> Bool {
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
