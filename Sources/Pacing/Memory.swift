import CMemory

/// Zeroed memory for tables that grow large.
enum Memory {
    /// From here on pages of one's own: below, they would waste more than they save.
    private static let leastMappedBytes = 1 << 16
    private static let pageBytes = 4_096

    /// - Parameter huge: whether the kernel is asked for huge pages (2 MiB), which spare an address translation a look. They become
    ///   resident as a whole.
    /// - Returns: zeroed bytes, aligned to a cache line.
    static func allocate(byteCount: Int, huge: Bool) -> UnsafeMutableRawPointer {
        guard byteCount >= leastMappedBytes else {
            let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 64)
            memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
            return memory
        }
        guard let memory = cmemory_map(mapped(byteCount), huge) else {
            preconditionFailure("no memory left for a table of \(byteCount) bytes")
        }
        return memory
    }

    /// - Parameter byteCount: as it was given to `allocate`.
    static func free(_ memory: UnsafeMutableRawPointer, byteCount: Int) {
        guard byteCount >= leastMappedBytes else {
            memory.deallocate()
            return
        }
        cmemory_unmap(memory, mapped(byteCount))
    }

    /// Starts to load the cache line at `address`.
    static func prefetch(_ address: UnsafeRawPointer) {
        cmemory_prefetch(address)
    }

    private static func mapped(_ byteCount: Int) -> Int { (byteCount + pageBytes - 1) / pageBytes * pageBytes }
}
