/// From the bytes of an id to a 32-bit index: open addressing with linear probing, by a seeded hash. The ids themselves are kept by whoever
/// owns the indices, and always compared.
///
/// Ids are bytes: a `String` key would cost an allocation a lookup and would equate different Unicode normal forms.
struct IdentifierTable: ~Copyable {
    /// 32 bits of the hash above the index plus one; 0 is empty. The hash bits spare a look at most ids that only share a run, and are
    /// all that growing needs.
    private struct Slot {
        var bits: UInt64

        static let empty = Slot(bits: 0)

        init(bits: UInt64) {
            self.bits = bits
        }

        init(hash: UInt32, index: UInt32) {
            bits = UInt64(hash) << 32 | UInt64(index + 1)
        }

        var isEmpty: Bool { bits == 0 }
        var hash: UInt32 { UInt32(truncatingIfNeeded: bits >> 32) }
        var index: UInt32 { UInt32(truncatingIfNeeded: bits) &- 1 }
    }

    /// From here on huge pages.
    private static let leastHugeBytes = 2 << 20

    private let hash: SeededHash
    private var slots: UnsafeMutablePointer<Slot>
    private var slotCount = 16
    private(set) var count = 0

    init(seed: UInt64) {
        hash = SeededHash(seed: seed)
        slots = IdentifierTable.emptySlots(slotCount)
    }

    deinit {
        IdentifierTable.free(slots, slotCount)
    }

    var byteCount: Int { slotCount * MemoryLayout<Slot>.stride }

    /// - Parameters:
    ///   - hash: of the id.
    ///   - isNamed: whether the id of an index is the one looked for.
    func find(_ hash: UInt32, isNamed: (UInt32) -> Bool) -> UInt32? {
        let mask = slotCount &- 1
        var place = Int(hash) & mask
        while true {
            let slot = slots[place]
            if slot.isEmpty { return nil }
            if slot.hash == hash, isNamed(slot.index) { return slot.index }
            place = (place &+ 1) & mask
        }
    }

    /// The first index with this hash: most likely the one that `find` will give.
    func firstCandidate(_ hash: UInt32) -> UInt32? { find(hash) { _ in true } }

    /// - Precondition: the id is not in the table, and the index is not either.
    mutating func insert(_ hash: UInt32, index: UInt32) {
        // Beyond a load of 3/4 linear probing loses its short runs.
        if (count + 1) * 4 > slotCount * 3 { grow() }
        place(Slot(hash: hash, index: index))
        count += 1
    }

    /// - Precondition: the index is in the table, under this hash.
    mutating func remove(_ hash: UInt32, index: UInt32) {
        let mask = slotCount - 1
        let removed = Slot(hash: hash, index: index)
        var hole = Int(hash) & mask
        while slots[hole].bits != removed.bits {
            precondition(!slots[hole].isEmpty, "nothing has index \(index)")
            hole = (hole + 1) & mask
        }
        count -= 1
        // Backward shift: whatever was pushed past the hole moves up, so no tombstones slow the table down with age.
        var next = (hole + 1) & mask
        while !slots[next].isEmpty {
            let home = Int(slots[next].hash) & mask
            if (next - home) & mask >= (next - hole) & mask {
                slots[hole] = slots[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        slots[hole] = .empty
    }

    func prefetch(_ hash: UInt32) {
        Memory.prefetch(slots + (Int(hash) & (slotCount - 1)))
    }

    func hash(of identifier: UnsafeRawBufferPointer) -> UInt32 {
        UInt32(truncatingIfNeeded: hash(identifier))
    }

    private func place(_ slot: Slot) {
        let mask = slotCount - 1
        var place = Int(slot.hash) & mask
        while !slots[place].isEmpty { place = (place + 1) & mask }
        slots[place] = slot
    }

    private mutating func grow() {
        let (old, oldCount) = (slots, slotCount)
        slotCount *= 2
        slots = IdentifierTable.emptySlots(slotCount)
        for place in 0..<oldCount where !old[place].isEmpty { self.place(old[place]) }
        IdentifierTable.free(old, oldCount)
    }

    private static func emptySlots(_ count: Int) -> UnsafeMutablePointer<Slot> {
        let byteCount = count * MemoryLayout<Slot>.stride
        return Memory.allocate(byteCount: byteCount, huge: byteCount >= leastHugeBytes)
            .bindMemory(to: Slot.self, capacity: count)
    }

    private static func free(_ slots: UnsafeMutablePointer<Slot>, _ count: Int) {
        Memory.free(UnsafeMutableRawPointer(slots), byteCount: count * MemoryLayout<Slot>.stride)
    }
}
