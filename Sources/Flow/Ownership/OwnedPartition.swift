import Pacing

/// What a member keeps of one partition, from the claim to the release.
final class OwnedPartition {
    enum Phase: Equatable {
        case free
        case claiming
        case owned
        /// Nothing is read any more; what is under way is waited for.
        case draining(untilMilliseconds: Int64)
        /// Nothing leaves any more; what the store does not know is written. If it takes no more, the next owner reads it again.
        case saving(untilMilliseconds: Int64)
        case releasing
    }

    /// How far one source of the partition was read, and is settled.
    struct Source {
        /// Nil where nobody has read it.
        var settled: SettledPosition?
        var readOffset: Int64?
        /// The newest record when the partition was claimed; nil until it is known, and once it was applied.
        var endAtClaim: Int64?
        var isCaughtUp = false
        var recordsRead: Int64 = 0
        /// Where reading began, if nothing is settled since.
        var recordsBefore: Int64 = 0
        /// Records read that no settled position has passed.
        var recordsUnsettled: Int64 { recordsRead - (settled?.records ?? recordsBefore) }
        /// Counts of records at some offsets that are not settled, in order.
        var marks: [SettledPosition] = []
        /// Offsets that no stored position may pass, from the smallest on, beside those that the lane holds.
        var holds: [Int64] = []

        mutating func note(read offset: Int64) {
            readOffset = max(offset, readOffset ?? .min)
            recordsRead += 1
            guard recordsRead % OwnedPartition.recordsAMark == 0 else { return }
            marks.append(SettledPosition(offset: offset, records: recordsRead))
        }
    }

    /// Counts are noted each so many records.
    private static let recordsAMark: Int64 = 64

    let number: Int32
    // Touched with every record, and by its member alone.
    @exclusivity(unchecked) var phase = Phase.free
    var epoch: Epoch = 0
    /// Of the claim; `epoch` is a later one where the store had forgotten that.
    var firstEpoch: Epoch = 0
    /// Whoever spreads partitions wants it to be this member's.
    var isAssigned = false
    @exclusivity(unchecked) var sources: [Source]
    /// By source: all records above were applied here, and what they changed is in memory, or was written from here.
    var positionsAtClaim: [SettledPosition?] = []
    /// When the claim or renewal was asked for that the lease of now came of.
    var leasedAtMilliseconds: Int64 = 0
    var renewalAskedAtMilliseconds: Int64?
    var nextRenewalMilliseconds: Int64 = 0
    /// Another try of what failed.
    var retryAtMilliseconds: Int64 = 0
    /// When the owner before was last heard of, on the real clock; nil where there was none.
    var silentSinceMilliseconds: Int64?

    // Saving: one batch is under way at a time.
    var receipt: CheckpointReceipt?
    var positionsUnderWay: [SettledPosition?] = []
    var serial: UInt64 = 0
    /// Of the newest batch that the store called saved, as far as it has not forgotten it since.
    var acknowledgedSerial: UInt64 = 0
    /// The store has forgotten positions that it had been told: they are told again once all else is.
    var isPositionForgotten = false
    var nextSaveMilliseconds: Int64 = 0
    var nextBoundMilliseconds: Int64 = 0

    var isReleaseUnderWay = false
    /// The store has forgotten whose it is: it is claimed again, and all that is in memory stays.
    var isReclaiming = false

    // Loading.
    /// What the store could not give: it is asked again, for records wait for it.
    var loadsToRepeat: [(keys: [LoadKey], ticket: UInt64)] = []
    /// The next page of what is due begins here; nil while one is under way.
    var dueFromMilliseconds: Int64? = 0
    var dueLimit = OwnedPartition.duePage
    var nextDueLookMilliseconds: Int64 = 0
    var dueThroughMilliseconds: Int64 = 0

    static let duePage = 512

    init(number: Int32, sources: Int) {
        self.number = number
        self.sources = Array(repeating: Source(), count: sources)
    }

    /// Whether all was applied that was there at the claim.
    var isCaughtUp: Bool { sources.allSatisfy(\.isCaughtUp) }

    var isRead: Bool { if case .owned = phase { true } else { false } }

    var isSaving: Bool { if case .saving = phase { true } else { false } }

    var isOwned: Bool {
        switch phase {
        case .owned, .draining, .saving: true
        case .free, .claiming, .releasing: false
        }
    }

    func begin(after position: SettledPosition, source: Int) {
        sources[source].readOffset = position.offset
        sources[source].recordsRead = position.records
        sources[source].recordsBefore = position.records
        sources[source].marks = []
    }

    func rewind(to position: SettledPosition, source: Int) {
        begin(after: position, source: source)
        sources[source].settled = nil
        sources[source].holds = []
        // What a save under way says of the source is what it is being rewound from: the next one says otherwise.
        if source < positionsUnderWay.count { positionsUnderWay[source] = nil }
    }

    /// - Returns: whether all that was there at the claim has now been read.
    func note(endAtClaim offset: Int64, source: Int) -> Bool {
        sources[source].endAtClaim = offset
        return catchUp(source)
    }

    private func catchUp(_ source: Int) -> Bool {
        guard !sources[source].isCaughtUp, let end = sources[source].endAtClaim,
            end <= sources[source].readOffset ?? -1
        else { return false }
        sources[source].isCaughtUp = true
        return isCaughtUp
    }

    /// - Returns: whether all that was there at the claim has now been read.
    func note(read offset: Int64, source: Int) -> Bool {
        sources[source].note(read: offset)
        return sources[source].isCaughtUp ? false : catchUp(source)
    }

    /// The last position at or below that offset of which it is known how many records lie below: so what others see of it is exact. Nil
    /// where that is no further than what is settled already.
    func position(atOrBelow offset: Int64, source: Int) -> SettledPosition? {
        let known = sources[source]
        if offset == known.readOffset { return SettledPosition(offset: offset, records: known.recordsRead) }
        var low = 0
        var high = known.marks.count
        while low < high {
            let middle = (low + high) / 2
            if known.marks[middle].offset <= offset { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? known.marks[low - 1] : nil
    }

    /// Whether it was saved may never be known: what is sent after it must not lie before it.
    func note(sent position: SettledPosition, source: Int) {
        if sources[source].marks.last?.offset ?? .min < position.offset { sources[source].marks.append(position) }
    }

    func settle(_ position: SettledPosition, source: Int) {
        sources[source].settled = position
        let passed = sources[source].marks.firstIndex { $0.offset > position.offset } ?? sources[source].marks.count
        sources[source].marks.removeFirst(passed)
    }

    /// Whether nothing is missing here of what came after these.
    ///
    /// - Parameter isNoneKnown: whether that is said of none as well: nobody would read what came after it.
    func knowsAll(after positions: [SettledPosition?], isNoneKnown: Bool) -> Bool {
        zip(positions, positionsAtClaim).allSatisfy { position, atClaim in
            guard let position else { return isNoneKnown || atClaim == nil }
            return position.offset >= atClaim?.offset ?? .min
        }
    }

    func forget() {
        let fresh = OwnedPartition(number: number, sources: sources.count)
        phase = .free
        (sources, positionsAtClaim) = (fresh.sources, [])
        (epoch, firstEpoch, renewalAskedAtMilliseconds, receipt, positionsUnderWay) = (0, 0, nil, nil, [])
        (serial, acknowledgedSerial, isPositionForgotten) = (0, 0, false)
        (nextSaveMilliseconds, nextBoundMilliseconds, retryAtMilliseconds) = (0, 0, 0)
        (dueFromMilliseconds, dueLimit, nextDueLookMilliseconds) = (0, OwnedPartition.duePage, 0)
        (loadsToRepeat, isReleaseUnderWay, isReclaiming) = ([], false, false)
        silentSinceMilliseconds = nil
        dueThroughMilliseconds = 0
    }
}
