import Synchronization

/// Feedback on its way from a run's thread to the one that writes it.
///
/// Notes are written in their order, so two numbers say how it stands: how many were put in, which the run counts, and how many of those have
/// ended.
final class FeedbackBox: Sendable {
    private let notes = Mutex<[FeedbackNote]>([])
    private let ended = Atomic<Int>(0)
    private let closing = Atomic(false)
    private let closed = Atomic(false)

    /// Takes them out of `batch` and leaves it empty, its memory ready for the next ones.
    ///
    /// - Returns: whether the box was empty, so that its reader has to be woken.
    func add(_ batch: inout [FeedbackNote]) -> Bool {
        let wasEmpty = notes.withLock { notes in
            guard notes.isEmpty else {
                notes += batch
                return false
            }
            swap(&notes, &batch)
            return true
        }
        batch.removeAll(keepingCapacity: true)
        return wasEmpty
    }

    /// Gives out what has come, and takes the caller's empty array for what comes next.
    func take(into taken: inout [FeedbackNote]) {
        precondition(taken.isEmpty, "\(taken.count) notes would come back")
        notes.withLock { swap(&$0, &taken) }
    }

    /// So many more are written.
    func end(_ count: Int) { ended.wrappingAdd(count, ordering: .releasing) }

    /// Asks whoever writes to close. It has to be woken.
    func close() { closing.store(true, ordering: .releasing) }
    var isClosing: Bool { closing.load(ordering: .acquiring) }

    /// Whoever writes has closed.
    func noteClosed() { closed.store(true, ordering: .releasing) }
    var isClosed: Bool { closed.load(ordering: .acquiring) }

    var endedCount: Int { ended.load(ordering: .acquiring) }
}
