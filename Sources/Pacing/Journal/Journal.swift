/// Remembers the last decisions of activities: what `explain` reads. One a lane, for all its shards, in memory that does not grow.
///
/// Positions inside the deadband are counted in the activity's head. Anything else is an entry in a slab that all activities share; what is
/// alike between two turns of its story (a push, a new target, …) is one entry with a count. Where memory is short, the activity that nothing
/// was written of for the longest time, of a few that are looked at, loses its oldest entries.
///
/// Not Sendable: it belongs to its lane's owner.
public final class Journal {
    /// So many entries an activity may have; then its oldest goes.
    static let entriesAnActivity = 256
    /// Entries of one phase that are looked at for one alike.
    private static let phaseDepth = 24
    /// Of so many the one that was written least recently gives way.
    private static let candidates = 8

    public let byteLimit: Int
    private let heads: UnsafeMutablePointer<JournalHead>
    private let tails: UnsafeMutablePointer<JournalTail>
    private let entries: UnsafeMutablePointer<JournalEntry>
    private let headBytes: Int
    private let tailBytes: Int
    private let entryBytes: Int
    private let lines: Int
    let capacity: Int
    /// Entries that were never used begin here.
    private var fresh: UInt32 = 0
    private var firstFree = UInt32.max
    private var hand = 0
    private var freeShards: [UInt16] = []
    private var newestShard: UInt16 = 0

    /// Entries in use.
    public private(set) var entryCount = 0
    /// Activities that have entries.
    public private(set) var activityCount = 0
    /// Entries that gave way to newer ones.
    public private(set) var forgottenEntries: UInt64 = 0
    /// Bytes of what has been used so far; never more than `byteLimit`.
    public var byteCount: Int { headBytes + tailBytes + Int(fresh) * MemoryLayout<JournalEntry>.stride }

    /// - Returns: nil where so few bytes hold nothing.
    public init?(byteLimit: Int) {
        let line = 2 * (MemoryLayout<JournalHead>.stride + MemoryLayout<JournalTail>.stride)
        let entry = MemoryLayout<JournalEntry>.stride
        guard byteLimit >= line + 4 * entry else { return nil }
        // A quarter for heads: about three entries a head where both are full.
        let most = max(1, byteLimit / 4 / line)
        lines = 1 << (Int.bitWidth - 1 - most.leadingZeroBitCount)
        self.byteLimit = byteLimit
        headBytes = 2 * lines * MemoryLayout<JournalHead>.stride
        tailBytes = 2 * lines * MemoryLayout<JournalTail>.stride
        capacity = (byteLimit - headBytes - tailBytes) / entry
        entryBytes = capacity * entry
        heads = Memory.allocate(byteCount: headBytes, huge: false)
            .bindMemory(to: JournalHead.self, capacity: 2 * lines)
        tails = Memory.allocate(byteCount: tailBytes, huge: false)
            .bindMemory(to: JournalTail.self, capacity: 2 * lines)
        entries = Memory.allocate(byteCount: entryBytes, huge: false)
            .bindMemory(to: JournalEntry.self, capacity: capacity)
    }

    deinit {
        Memory.free(heads, byteCount: headBytes)
        Memory.free(tails, byteCount: tailBytes)
        Memory.free(entries, byteCount: entryBytes)
    }

    // MARK: Shards

    func open() -> JournalDoor {
        let shard: UInt16
        if let free = freeShards.popLast() {
            shard = free
        } else {
            guard newestShard < .max else { return .closed }
            newestShard += 1
            shard = newestShard
        }
        // Fractions of the golden ratio: however many shards there are, their beginnings are evenly spread.
        let turn = UInt32(shard) &* 0x9e37_79b9
        let firstLine = UInt32(UInt64(turn) * UInt64(lines) >> 32)
        return JournalDoor(heads: heads, lineMask: UInt32(lines - 1), firstLine: firstLine, shard: shard)
    }

    /// The shard is no more.
    func close(_ door: JournalDoor) {
        guard door.heads != nil else { return }
        for place in 0..<2 * lines where heads[place].shard == door.shard { release(place) }
        freeShards.append(door.shard)
    }

    /// The activity is no more: another may get its place in the shard.
    func forget(_ index: UInt32, _ door: JournalDoor) {
        if let head = door.head(index) { release(head - heads) }
    }

    // MARK: Writing

    /// A head for the activity: its own, a free one, or that of the other activity in its line that was written less recently.
    ///
    /// - Parameter evicts: whether another has to give way.
    func claim(_ index: UInt32, _ door: JournalDoor, evicts: Bool, nowMilliseconds now: Int64)
        -> UnsafeMutablePointer<JournalHead>?
    {
        if let own = door.head(index) { return own }
        guard let line = door.line(index) else { return nil }
        let head: UnsafeMutablePointer<JournalHead>
        if line.pointee.shard == 0 {
            head = line
        } else if line[1].shard == 0 {
            head = line + 1
        } else {
            guard evicts else { return nil }
            head = age(line - heads, now) >= age(line + 1 - heads, now) ? line : line + 1
            forgottenEntries += UInt64(head.pointee.entries)
            release(head - heads)
        }
        head.pointee = JournalHead(
            index: index, shard: door.shard, runCount: 0, runFirst: 0, runLast: UInt32(truncatingIfNeeded: now),
            farthestSquared: 0, thresholdMeters: 0, cosine: 1, entries: 0, marks: 0)
        tails[head - heads] = JournalTail(
            oldest: .max, newest: .max, phase: .max, began: Int48(now), written: UInt32(truncatingIfNeeded: now))
        activityCount += 1
        return head
    }

    /// - Parameter endsPhase: what came before is another part of the story.
    func write(
        _ entry: JournalEntry, to head: UnsafeMutablePointer<JournalHead>, endsPhase: Bool, nowMilliseconds now: Int64
    ) {
        let place = head - heads
        tails[place].written = UInt32(truncatingIfNeeded: now)
        if endsPhase { endRun(head, now) }
        if entry.kind == .applied, isSaid(entry, place) { return }
        if !endsPhase, let like = find(entry, place) {
            entries[like].fold(entry)
            return
        }
        let added = append(entry, place, now)
        if endsPhase { tails[place].phase = added }
    }

    /// One more event joined what waits.
    func countJoined(_ head: UnsafeMutablePointer<JournalHead>, nowMilliseconds now: Int64) {
        tails[head - heads].written = UInt32(truncatingIfNeeded: now)
        let newest = tails[head - heads].newest
        guard newest != .max, entries[Int(newest)].kind == .waits else { return }
        entries[Int(newest)].count &+= 1
        entries[Int(newest)].last = Int48(now)
    }

    /// The positions inside the deadband that were counted so far become an entry.
    func endRun(_ head: UnsafeMutablePointer<JournalHead>, _ now: Int64) {
        guard let run = run(head, nowMilliseconds: now) else { return }
        head.pointee.runCount = 0
        let place = head - heads
        if let like = find(run, place) { entries[like].fold(run) } else { _ = append(run, place, now) }
    }

    /// Nil where none was counted since the last entry.
    private func run(_ head: UnsafeMutablePointer<JournalHead>, nowMilliseconds now: Int64) -> JournalEntry? {
        guard head.pointee.runCount > 0 else { return nil }
        var run = JournalEntry(.insideDeadband, atMilliseconds: full(head.pointee.runFirst, now))
        run.last = Int48(full(head.pointee.runLast, now))
        run.count = UInt32(head.pointee.runCount)
        run.a = head.pointee.farthestSquared.squareRoot()
        run.b = head.pointee.thresholdMeters
        return run
    }

    // MARK: Reading

    /// What is known of the activity, oldest first, with the positions that are still being counted; nil where nothing is.
    func read(_ index: UInt32, _ door: JournalDoor, nowMilliseconds now: Int64)
        -> (began: Int64, isWhole: Bool, entries: [JournalEntry])?
    {
        guard let head = door.head(index) else { return nil }
        let tail = tails[head - heads]
        var found: [JournalEntry] = []
        var next = tail.oldest
        while next != .max {
            found.append(entries[Int(next)])
            next = entries[Int(next)].next
        }
        if let run = run(head, nowMilliseconds: now) {
            if let like = find(run, head - heads) {
                // It goes on with what was written down before.
                let place = found.firstIndex { $0.first == entries[like].first && $0.kind == .insideDeadband }
                if let place { found[place].fold(run) }
            } else {
                found.append(run)
            }
        }
        return (tail.began.value, head.pointee.marks & JournalHead.isWhole != 0, found)
    }

    // MARK: Memory

    /// The event that begins an activity, or brings it a target, is told by that.
    private func isSaid(_ entry: JournalEntry, _ place: Int) -> Bool {
        let newest = tails[place].newest
        guard newest != .max, entries[Int(newest)].first == entry.first else { return false }
        return entries[Int(newest)].kind == .began || entries[Int(newest)].kind == .target
    }

    private func find(_ entry: JournalEntry, _ place: Int) -> Int? {
        var next = tails[place].phase
        for _ in 0..<Journal.phaseDepth {
            guard next != .max else { return nil }
            if entries[Int(next)].isLike(entry) { return Int(next) }
            next = entries[Int(next)].next
        }
        return nil
    }

    private func append(_ entry: JournalEntry, _ place: Int, _ now: Int64) -> UInt32 {
        if heads[place].entries >= Journal.entriesAnActivity {
            dropOldest(place)
            forgottenEntries += 1
        }
        let index = allocate(besides: place, now)
        entries[Int(index)] = entry
        let newest = tails[place].newest
        if newest == .max { tails[place].oldest = index } else { entries[Int(newest)].next = index }
        tails[place].newest = index
        if tails[place].phase == .max { tails[place].phase = index }
        heads[place].entries += 1
        entryCount += 1
        return index
    }

    private func allocate(besides place: Int, _ now: Int64) -> UInt32 {
        if firstFree == .max, fresh < capacity {
            fresh += 1
            return fresh - 1
        }
        if firstFree == .max { makeRoom(besides: place, now) }
        let index = firstFree
        firstFree = entries[Int(index)].next
        return index
    }

    /// Of the next few activities the one that was written least recently loses the older half, or all where that is little.
    private func makeRoom(besides own: Int, _ now: Int64) {
        var victim: Int?
        var looked = 0
        for _ in 0..<2 * lines where looked < Journal.candidates {
            hand = hand + 1 < 2 * lines ? hand + 1 : 0
            guard heads[hand].shard != 0, heads[hand].entries > 0, hand != own else { continue }
            looked += 1
            if let chosen = victim, age(chosen, now) >= age(hand, now) { continue }
            victim = hand
        }
        // All memory is one activity's.
        let place = victim ?? own
        let count = Int(heads[place].entries)
        if place != own, count <= 4 {
            forgottenEntries += UInt64(count)
            release(place)
            return
        }
        for _ in 0..<(count + 1) / 2 {
            dropOldest(place)
            forgottenEntries += 1
        }
    }

    private func dropOldest(_ place: Int) {
        let oldest = tails[place].oldest
        tails[place].oldest = entries[Int(oldest)].next
        if tails[place].newest == oldest { tails[place].newest = .max }
        if tails[place].phase == oldest { tails[place].phase = tails[place].oldest }
        entries[Int(oldest)].next = firstFree
        firstFree = oldest
        heads[place].entries -= 1
        heads[place].marks &= ~JournalHead.isWhole
        entryCount -= 1
    }

    /// Gives the head and all entries back.
    private func release(_ place: Int) {
        while heads[place].entries > 0 { dropOldest(place) }
        heads[place].shard = 0
        activityCount -= 1
    }

    /// Since anything was written.
    private func age(_ place: Int, _ now: Int64) -> UInt32 {
        let now = UInt32(truncatingIfNeeded: now)
        return min(now &- heads[place].runLast, now &- tails[place].written)
    }

    private func full(_ low: UInt32, _ now: Int64) -> Int64 {
        now - Int64(Int32(bitPattern: UInt32(truncatingIfNeeded: now) &- low))
    }
}
