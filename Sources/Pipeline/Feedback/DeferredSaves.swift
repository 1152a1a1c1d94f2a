import Flow

/// Requests to the store that wait until feedback is kept, so that what a checkpoint says is over has been told.
///
/// If the member is killed first, the next owner finds things as they were before, sends again, hears the same answer and tells it. Who is not
/// heard of for `patienceMilliseconds` is not waited for: then a kill loses what waits in memory.
struct DeferredSaves {
    /// There is no word when feedback is kept: it is looked for so often while something waits.
    static let lookNanoseconds: Int64 = 1_000_000

    private struct Waiting {
        let identifier: UInt64
        let request: StoreRequest
        /// Nil for one that waits only behind another.
        let mark: Int?
        let untilMilliseconds: Int64
    }

    private let patienceMilliseconds: Int64
    /// By partition, each in order.
    private var waiting: [Int32: [Waiting]] = [:]
    /// Whoever writes feedback is not waited for before this has ended.
    private var silentUntilMark: Int?

    init(patienceMilliseconds: Int64) { self.patienceMilliseconds = patienceMilliseconds }

    var isEmpty: Bool { waiting.isEmpty }

    /// - Returns: whether the request waits. A renewal never does: the lease would end.
    mutating func hold(
        _ identifier: UInt64, _ request: StoreRequest, for desk: FeedbackDesk, _ lane: Lane, at moment: Moment
    ) -> Bool {
        guard let partition = request.partition else { return false }
        if case .renew = request { return false }
        var mark: Int?
        if case .save = request { mark = desk.mark(of: partition, lane, at: moment) }
        if let silent = silentUntilMark, desk.hasEnded(silent) { silentUntilMark = nil }
        if silentUntilMark != nil { mark = nil }
        guard mark != nil || waiting[partition] != nil else { return false }
        waiting[partition, default: []].append(
            Waiting(
                identifier: identifier, request: request, mark: mark,
                untilMilliseconds: moment.realMilliseconds + patienceMilliseconds))
        return true
    }

    /// One that may go now; nil where none may.
    mutating func next(_ desk: FeedbackDesk, at moment: Moment) -> (identifier: UInt64, request: StoreRequest)? {
        for (partition, queue) in waiting {
            guard let first = queue.first, mayGo(first, desk, moment) else { continue }
            waiting[partition] = queue.count == 1 ? nil : Array(queue.dropFirst())
            return (first.identifier, first.request)
        }
        return nil
    }

    private mutating func mayGo(_ first: Waiting, _ desk: FeedbackDesk, _ moment: Moment) -> Bool {
        guard let mark = first.mark, !desk.hasEnded(mark) else { return true }
        if silentUntilMark == nil, moment.realMilliseconds < first.untilMilliseconds { return false }
        silentUntilMark = max(silentUntilMark ?? 0, mark)
        desk.noteUnwaited()
        return true
    }
}
