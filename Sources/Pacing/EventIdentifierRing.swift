/// The last sixteen event ids of an activity as hashes, the newest first: two cache lines. 0 is none.
struct EventIdentifierRing {
    static let limit = 16

    private var hashes:
        (
            UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64,
            UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64
        ) = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

    static func contains(_ ring: UnsafeMutablePointer<EventIdentifierRing>, _ hash: UInt64) -> Bool {
        let hashes = UnsafeRawPointer(ring).assumingMemoryBound(to: UInt64.self)
        for place in 0..<limit where hashes[place] == hash { return true }
        return false
    }

    /// The oldest first.
    static func hashes(_ ring: UnsafeMutablePointer<EventIdentifierRing>) -> [UInt64] {
        let hashes = UnsafeRawPointer(ring).assumingMemoryBound(to: UInt64.self)
        return (0..<limit).reversed().map { hashes[$0] }.filter { $0 != 0 }
    }

    static func insert(_ hash: UInt64, into ring: UnsafeMutablePointer<EventIdentifierRing>) {
        let hashes = UnsafeMutableRawPointer(ring).assumingMemoryBound(to: UInt64.self)
        // Shifted, not a ring with a place to keep: the lines are at hand already, since each event is looked for first.
        (hashes + 1).update(from: hashes, count: limit - 1)
        hashes[0] = hash
    }
}
