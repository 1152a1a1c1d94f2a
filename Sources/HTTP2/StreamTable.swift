/// Finds the slot of a stream by its id: open addressing, two 32-bit words an entry.
///
/// Ids count up by two. Left side by side they would make one long run, to be walked at each removal; multiplied by the golden ratio they lie
/// as far from each other as can be.
final class StreamTable {
    private struct Entry {
        /// 0 for an empty place: stream 0 is the connection itself.
        var streamID: Int32
        var slot: Int32
    }

    private var entries: UnsafeMutablePointer<Entry>
    private var mask: Int
    private var shift: UInt32
    private(set) var count = 0

    init(capacity: Int = 256) {
        precondition(capacity & (capacity - 1) == 0, "capacity \(capacity) is no power of two")
        mask = capacity - 1
        shift = UInt32(32 - capacity.trailingZeroBitCount)
        entries = .allocate(capacity: capacity)
        entries.initialize(repeating: Entry(streamID: 0, slot: 0), count: capacity)
    }

    deinit { entries.deallocate() }

    /// The slot's index.
    func slot(of streamID: Int32) -> Int32? {
        let place = place(of: streamID)
        return entries[place].streamID == streamID ? entries[place].slot : nil
    }

    func insert(_ streamID: Int32, slot: Int32) {
        // Half of it stays empty, so that probes are short and end.
        if 2 * (count + 1) > mask { grow() }
        entries[place(of: streamID)] = Entry(streamID: streamID, slot: slot)
        count += 1
    }

    func remove(_ streamID: Int32) {
        var hole = place(of: streamID)
        guard entries[hole].streamID == streamID else { return }
        count -= 1
        // What lies behind moves up, unless its home lies behind the hole: then it would no longer be found.
        var next = (hole + 1) & mask
        while entries[next].streamID != 0 {
            let distanceFromHome = (next - home(of: entries[next].streamID)) & mask
            if distanceFromHome >= (next - hole) & mask {
                entries[hole] = entries[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        entries[hole].streamID = 0
    }

    private func home(of streamID: Int32) -> Int {
        Int((UInt32(bitPattern: streamID >> 1) &* 0x9e37_79b9) >> shift)
    }

    /// Where it is, or where it would be put.
    private func place(of streamID: Int32) -> Int {
        var place = home(of: streamID)
        while entries[place].streamID != streamID, entries[place].streamID != 0 { place = (place + 1) & mask }
        return place
    }

    private func grow() {
        let (old, oldCapacity) = (entries, mask + 1)
        entries = .allocate(capacity: 2 * oldCapacity)
        entries.initialize(repeating: Entry(streamID: 0, slot: 0), count: 2 * oldCapacity)
        mask = 2 * oldCapacity - 1
        shift -= 1
        for index in 0..<oldCapacity where old[index].streamID != 0 {
            entries[place(of: old[index].streamID)] = old[index]
        }
        old.deallocate()
    }
}
