/// All that a shard keeps of its activities, by a 32-bit index that stays while the activity lives: three slabs of the same index, for what
/// every position touches, for what the rest needs, and for event ids where any event has one.
struct ActivitySlab: ~Copyable {
    static let noIndex = UInt32.max

    private var stateSlab = Slab<ActivityState>()
    private var recordSlab = Slab<StoredRecord>()
    private var ringSlab = Slab<EventIdentifierRing>()
    private var used: UInt32 = 0
    /// Indices that were released, linked through their states; the last one goes first.
    private var firstFree = ActivitySlab.noIndex

    deinit {
        for index in 0..<used where stateSlab[index].pointee.identifier.exists {
            stateSlab[index].pointee.identifier.free()
            recordSlab[index].deinitialize(count: 1)
        }
    }

    var states: SlabElements<ActivityState> { stateSlab.elements }
    var records: SlabElements<StoredRecord> { recordSlab.elements }
    /// States and their event ids; then records.
    var stateByteCount: Int { stateSlab.byteCount }
    var recordByteCount: Int { recordSlab.byteCount }
    var ringByteCount: Int { ringSlab.byteCount }
    /// All indices ever given out lie below.
    var bound: UInt32 { used }

    func isInUse(_ index: UInt32) -> Bool { index < used && states[index].pointee.identifier.exists }

    /// Nil where none of the activity's events had an id, as a rule.
    func ring(_ index: UInt32) -> UnsafeMutablePointer<EventIdentifierRing>? {
        ringSlab.hasChunk(for: index) ? ringSlab[index] : nil
    }

    mutating func makeRing(_ index: UInt32) -> UnsafeMutablePointer<EventIdentifierRing> {
        // Memory of a chunk is zeroed, and so are all its rings, empty.
        ringSlab.makeChunk(for: index)
        return ringSlab[index]
    }

    mutating func allocate(_ identifier: StoredIdentifier, _ record: StoredRecord) -> UInt32 {
        let index: UInt32
        if firstFree != ActivitySlab.noIndex {
            index = firstFree
            firstFree = states[index].pointee.timerNext
        } else {
            index = used
            precondition(index < ActivitySlab.noIndex, "a shard holds at most \(ActivitySlab.noIndex) activities")
            stateSlab.makeChunk(for: index)
            recordSlab.makeChunk(for: index)
            used += 1
        }
        states[index].initialize(to: ActivityState())
        states[index].pointee.identifier = identifier
        records[index].initialize(to: record)
        return index
    }

    mutating func release(_ index: UInt32) {
        states[index].pointee.identifier.free()
        states[index].pointee.timerNext = firstFree
        records[index].deinitialize(count: 1)
        if let ring = ring(index) { ring.pointee = EventIdentifierRing() }
        firstFree = index
    }
}
