/// Memory that grows and is kept for the next use, without reference counting. Whoever holds it frees it.
struct Region {
    private(set) var base: UnsafeMutableRawPointer?
    private(set) var count = 0
    private var capacity = 0

    var contents: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    /// Room for `more` bytes at the end, counted as filled.
    @inline(__always)
    mutating func extend(by more: Int) -> UnsafeMutableRawPointer {
        if count + more > capacity { grow(by: more) }
        defer { count += more }
        return base! + count
    }

    @inline(never)
    private mutating func grow(by more: Int) {
        let larger = max(256, 2 * capacity, count + more)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
        if let base {
            memory.copyMemory(from: base, byteCount: count)
            base.deallocate()
        }
        base = memory
        capacity = larger
    }

    mutating func append(_ source: UnsafeRawBufferPointer) {
        guard let address = source.baseAddress, source.count > 0 else { return }
        extend(by: source.count).copyMemory(from: address, byteCount: source.count)
    }

    /// Forgets the contents; memory beyond `keeping` goes back.
    mutating func clear(keeping: Int = 1 << 20) {
        count = 0
        if capacity > keeping { free() }
    }

    /// Drops the first bytes; those behind them move to the front.
    mutating func removeFirst(_ dropped: Int) {
        guard let base, dropped > 0 else { return }
        count -= dropped
        base.copyMemory(from: base + dropped, byteCount: count)
    }

    mutating func free() {
        base?.deallocate()
        base = nil
        count = 0
        capacity = 0
    }
}
