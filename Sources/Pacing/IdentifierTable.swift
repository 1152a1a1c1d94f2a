/// From the bytes of an id to a 32-bit index: open addressing with linear probing, by a seeded hash, the bytes compared.
///
/// Ids are bytes: a `String` key would cost an allocation a lookup and would equate different Unicode normal forms.
struct IdentifierTable: ~Copyable {
    private struct Slot {
        var hash: UInt64
        var index: UInt32
    }

    private static let noIndex = UInt32.max

    private let seed: UInt64
    private var slots: UnsafeMutableBufferPointer<Slot>
    /// By index: a length byte, then the id.
    private var names: UnsafeMutableBufferPointer<UnsafeMutablePointer<UInt8>?>
    private(set) var count = 0

    init(seed: UInt64) {
        self.seed = seed
        slots = .allocate(capacity: 16)
        slots.initialize(repeating: Slot(hash: 0, index: IdentifierTable.noIndex))
        names = .allocate(capacity: 16)
        names.initialize(repeating: nil)
    }

    deinit {
        for case let name? in names { name.deallocate() }
        names.deallocate()
        slots.deallocate()
    }

    var byteCount: Int {
        slots.count * MemoryLayout<Slot>.stride + names.count * MemoryLayout<UnsafeMutablePointer<UInt8>?>.stride
    }

    func find(_ identifier: UnsafeRawBufferPointer) -> UInt32? {
        let hash = hash(of: identifier)
        var place = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[place].index != IdentifierTable.noIndex {
            if slots[place].hash == hash, hasName(slots[place].index, identifier) { return slots[place].index }
            place = (place + 1) & (slots.count - 1)
        }
        return nil
    }

    /// - Precondition: the id is not in the table, and nothing has this index.
    mutating func insert(_ identifier: UnsafeRawBufferPointer, index: UInt32) {
        precondition(identifier.count <= 255, "an id has at most 128 bytes, this one has \(identifier.count)")
        growIfNeeded(for: index)
        let name = UnsafeMutablePointer<UInt8>.allocate(capacity: identifier.count + 1)
        name[0] = UInt8(identifier.count)
        for offset in 0..<identifier.count { (name + 1 + offset).initialize(to: identifier[offset]) }
        names[Int(index)] = name
        place(Slot(hash: hash(of: identifier), index: index))
        count += 1
    }

    mutating func remove(index: UInt32) {
        var hole = place(ofIndex: index)
        names[Int(index)]?.deallocate()
        names[Int(index)] = nil
        count -= 1
        // Backward shift: whatever was pushed past the hole moves up, so no tombstones slow the table down with age.
        var next = (hole + 1) & (slots.count - 1)
        while slots[next].index != IdentifierTable.noIndex {
            let home = Int(truncatingIfNeeded: slots[next].hash) & (slots.count - 1)
            if (next - home) & (slots.count - 1) >= (next - hole) & (slots.count - 1) {
                slots[hole] = slots[next]
                hole = next
            }
            next = (next + 1) & (slots.count - 1)
        }
        slots[hole].index = IdentifierTable.noIndex
    }

    func withName<Result>(ofIndex index: UInt32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard let name = names[Int(index)] else { preconditionFailure("nothing has index \(index)") }
        return body(UnsafeRawBufferPointer(start: name + 1, count: Int(name[0])))
    }

    /// 64 bits of a keyed hash of bytes, eight at a time: multiply and fold, as wyhash does.
    func hash(of bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = seed ^ 0x9E37_79B9_7F4A_7C15
        var offset = 0
        while offset + 8 <= bytes.count {
            hash = IdentifierTable.fold(hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var tail: UInt64 = 0
        while offset < bytes.count {
            tail = tail << 8 | UInt64(bytes[offset])
            offset += 1
        }
        return IdentifierTable.fold(IdentifierTable.fold(hash ^ tail) ^ UInt64(bytes.count) ^ seed)
    }

    private static func fold(_ word: UInt64) -> UInt64 {
        let product = word.multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }

    private func hasName(_ index: UInt32, _ identifier: UnsafeRawBufferPointer) -> Bool {
        guard let name = names[Int(index)], Int(name[0]) == identifier.count else { return false }
        for offset in 0..<identifier.count where name[1 + offset] != identifier[offset] { return false }
        return true
    }

    private func place(ofIndex index: UInt32) -> Int {
        var place = withName(ofIndex: index) { Int(truncatingIfNeeded: hash(of: $0)) & (slots.count - 1) }
        while slots[place].index != index { place = (place + 1) & (slots.count - 1) }
        return place
    }

    private func place(_ slot: Slot) {
        var place = Int(truncatingIfNeeded: slot.hash) & (slots.count - 1)
        while slots[place].index != IdentifierTable.noIndex { place = (place + 1) & (slots.count - 1) }
        slots[place] = slot
    }

    private mutating func growIfNeeded(for index: UInt32) {
        if Int(index) >= names.count {
            let grown = UnsafeMutableBufferPointer<UnsafeMutablePointer<UInt8>?>.allocate(
                capacity: max(names.count * 2, Int(index) + 1))
            grown.initialize(repeating: nil)
            for place in names.indices { grown[place] = names[place] }
            names.deallocate()
            names = grown
        }
        // Beyond a load of 3/4 linear probing loses its short runs.
        guard (count + 1) * 4 > slots.count * 3 else { return }
        let old = slots
        slots = .allocate(capacity: old.count * 2)
        slots.initialize(repeating: Slot(hash: 0, index: IdentifierTable.noIndex))
        for slot in old where slot.index != IdentifierTable.noIndex { place(slot) }
        old.deallocate()
    }
}
