/// Batches of one partition in the order in which they were read. Those that are done with serve again.
struct BatchQueue {
    /// So many are read ahead.
    static let most = 2

    private var staged: [EventBatch] = []
    private var spare: [EventBatch] = []

    var hasRoom: Bool { staged.count < Self.most }
    var isEmpty: Bool { staged.isEmpty }
    /// The oldest first.
    var all: [EventBatch] { staged }
    var first: EventBatch? { staged.first }
    var unprepared: EventBatch? { staged.first { $0.ticket == nil } }
    var tickets: [UInt64] { staged.compactMap(\.ticket) }

    /// An empty one.
    mutating func take() -> EventBatch { spare.popLast() ?? EventBatch() }

    /// It has been filled.
    mutating func stage(_ batch: EventBatch) { staged.append(batch) }

    /// Notices concern what is read from now on, and so wait for what was read before.
    mutating func stage(_ notices: [FeedNotice]) {
        guard !notices.isEmpty else { return }
        let batch = take()
        batch.notices = notices
        staged.append(batch)
    }

    mutating func finishFirst() { putBack(staged.removeFirst()) }

    mutating func putBack(_ batch: EventBatch) {
        batch.clear()
        spare.append(batch)
    }
}
