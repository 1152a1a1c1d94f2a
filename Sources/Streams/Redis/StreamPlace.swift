import Pacing

/// How far one stream has been read, and how many entries had ever been added up to there: exact, so that what vanished unread is noticed.
///
/// Redis tells how many entries were ever added and how many are left, and the oldest that is left. Trimming takes the oldest: what is gone
/// lay before that one, and what was read since is remembered by its offsets as far as that is needed to know how much of it is left.
struct StreamPlace {
    /// Of the last entry that was read; −1 before the first.
    private(set) var offset: Int64
    /// Nil until the stream has been looked at, where its owner did not say.
    private(set) var records: Int64?
    /// Where `records` was last compared with what Redis says, and what has been read since.
    private var comparedOffset: Int64
    private var readOffsets: [Int64] = []
    /// XDEL has made holes in what was read since: only at the stream's end can it be compared again.
    private var hasHoles = false

    /// After so many entries the count is compared, also between two looks.
    static let mostUncompared = 512

    init(_ position: SettledPosition?) {
        offset = position?.offset ?? -1
        comparedOffset = offset
        records = position?.records
    }

    var isComparisonDue: Bool { readOffsets.count >= StreamPlace.mostUncompared }

    @inline(__always)
    mutating func read(_ offset: Int64) {
        self.offset = offset
        records = records.map { $0 + 1 }
        if !hasHoles { readOffsets.append(offset) }
    }

    /// What was trimmed before anybody read it is no loss of ours.
    mutating func begin(_ seen: StreamLook.Seen) -> SettledPosition {
        let position = SettledPosition(offset: offset, records: records ?? seen.recordsBefore(offset))
        records = position.records
        return position
    }

    /// - Parameter seen: after all that was read so far.
    /// - Returns: what its member has to hear of, if anything is not as it was thought to be.
    mutating func compare(with seen: StreamLook.Seen, source: Int) -> FeedNotice? {
        let before = offset
        if seen.newestOffset < offset {
            let end = SettledPosition(offset: seen.newestOffset, records: seen.entriesAdded ?? 0)
            move(to: end)
            return seen.isNew
                ? .replaced(source: source, fromOffset: before, end) : .rewound(source: source, fromOffset: before, end)
        }
        guard let added = seen.entriesAdded, let records else {
            readOffsets.removeAll(keepingCapacity: true)
            return nil
        }
        let isDeleted = seen.newestDeletedOffset > max(comparedOffset, 0)
        let first = seen.firstOffset ?? seen.newestOffset + 1
        guard
            let position = position(seen, first: first, added: added, records: records, isDeleted: isDeleted)
        else {
            hasHoles = true
            readOffsets.removeAll(keepingCapacity: true)
            return nil
        }
        let entries = position.records - records
        guard entries < 0 else {
            move(to: entries == 0 ? SettledPosition(offset: offset, records: records) : position)
            if entries == 0 { return nil }
            return isDeleted
                ? .recounted(source: source, records: entries, position)
                : .trimmed(source: source, records: entries, position)
        }
        // What was there at the last comparison would be gone if all were new.
        let isReplaced = first > comparedOffset
        let anew = SettledPosition(offset: offset, records: position.records)
        move(to: anew)
        if added >= records { return .recounted(source: source, records: entries, anew) }
        return isReplaced
            ? .replaced(source: source, fromOffset: offset, anew) : .rewound(source: source, fromOffset: offset, anew)
    }

    /// Where reading stands in truth; nil where nobody can know.
    private func position(
        _ seen: StreamLook.Seen, first: Int64, added: Int64, records: Int64, isDeleted: Bool
    ) -> SettledPosition? {
        if offset >= seen.newestOffset { return SettledPosition(offset: offset, records: added) }
        if isDeleted || hasHoles { return nil }
        if first > offset {
            // Behind an id that no clock gives there is nothing to go to.
            let behind = first == StreamLook.offsetBeyondAll ? offset : first - 1
            return SettledPosition(offset: behind, records: added - seen.length)
        }
        // It was there already when both were compared: nothing behind it has gone.
        if first <= comparedOffset { return SettledPosition(offset: offset, records: records) }
        let left = readOffsets.count { $0 >= first }
        return SettledPosition(offset: offset, records: added - seen.length + Int64(left))
    }

    private mutating func move(to position: SettledPosition) {
        (offset, records, comparedOffset) = (position.offset, position.records, position.offset)
        readOffsets.removeAll(keepingCapacity: true)
        hasHoles = false
    }
}
