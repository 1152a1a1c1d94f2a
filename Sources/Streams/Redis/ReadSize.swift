/// How many entries one read asks for: as many as are some megabytes, and fewer after one that was lost, for it may have been too large
/// for the way to here, the time it may take or what Redis holds ready for a client.
struct ReadSize {
    private(set) var count: Int
    /// Reads that were lost since the last that was answered.
    private(set) var lostInARow = 0
    private let most: Int
    private let streams: Int
    private var ceiling: Int
    private var wholeReads = 0

    static let usualBytes = 4 << 20
    /// Before anything is known of how large entries are.
    static let firstCount = 16
    /// After a loss, so many reads of the smaller size are answered before one of twice that is tried.
    static let readsBeforeGrowth = 64

    init(most: Int, streams: Int) {
        (self.most, self.streams, ceiling) = (most, streams, most)
        count = min(most, ReadSize.firstCount)
    }

    /// An answer beyond it is not taken: after small entries large ones may come all at once. A single entry may be what it may be in Redis.
    var mostReplyBytes: Int { count > 1 ? 64 << 20 : 512 << 20 }

    mutating func lost() {
        lostInARow += 1
        count = max(1, count >> min(lostInARow, 16))
        (ceiling, wholeReads) = (count, 0)
    }

    /// - Parameters:
    ///   - entries: over all streams.
    ///   - isWhole: one of the streams has given as many as were asked for.
    mutating func answered(entries: Int, bytes: Int, isWhole: Bool) {
        lostInARow = 0
        guard entries > 0 else { return }
        if isWhole, ceiling < most {
            wholeReads += 1
            if wholeReads >= ReadSize.readsBeforeGrowth { (ceiling, wholeReads) = (min(most, 2 * ceiling), 0) }
        }
        let fitting = max(1, ReadSize.usualBytes * entries / max(1, bytes) / streams)
        count = min(isWhole ? 2 * count : count, fitting, ceiling)
    }
}
