/// Elements by 32-bit index, in chunks: growing copies nothing and moves nothing, so pointers stay good. A chunk exists from the first
/// element on that is made in it; its memory is zeroed.
struct Slab<Element>: ~Copyable {
    static var chunkShift: UInt32 { 14 }
    static var chunkCapacity: Int { 1 << Int(chunkShift) }

    private(set) var elements = SlabElements<Element>(chunks: .allocate(capacity: 1))
    private var chunkCapacity = 1
    private(set) var chunkCount = 0

    init() {
        elements.chunks.initialize(to: nil)
    }

    deinit {
        for chunk in 0..<chunkCapacity {
            guard let start = elements.chunks[chunk] else { continue }
            Memory.free(UnsafeMutableRawPointer(start), byteCount: Self.chunkBytes)
        }
        elements.chunks.deallocate()
    }

    /// Bytes of the chunks; what of the first one was never touched is not resident.
    var byteCount: Int { chunkCount * Self.chunkBytes }

    subscript(index: UInt32) -> UnsafeMutablePointer<Element> { elements[index] }

    func hasChunk(for index: UInt32) -> Bool {
        let chunk = Int(index >> Self.chunkShift)
        return chunk < chunkCapacity && elements.chunks[chunk] != nil
    }

    /// Memory for the element; nothing is initialized.
    mutating func makeChunk(for index: UInt32) {
        let chunk = Int(index >> Self.chunkShift)
        if chunk >= chunkCapacity { growTable(toHold: chunk) }
        guard elements.chunks[chunk] == nil else { return }
        // A shard of a few activities touches a few pages of its first chunk, and is to pay for no more.
        let memory = Memory.allocate(byteCount: Self.chunkBytes, huge: chunk > 0)
        elements.chunks[chunk] = memory.bindMemory(to: Element.self, capacity: Self.chunkCapacity)
        chunkCount += 1
    }

    private static var chunkBytes: Int { chunkCapacity * MemoryLayout<Element>.stride }

    private mutating func growTable(toHold chunk: Int) {
        let capacity = max(chunkCapacity * 2, chunk + 1)
        let grown = UnsafeMutablePointer<UnsafeMutablePointer<Element>?>.allocate(capacity: capacity)
        grown.initialize(repeating: nil, count: capacity)
        grown.update(from: elements.chunks, count: chunkCapacity)
        elements.chunks.deallocate()
        elements = SlabElements(chunks: grown)
        chunkCapacity = capacity
    }
}

/// The elements of a slab, for whoever links or counts them; good until the slab grows.
struct SlabElements<Element> {
    fileprivate let chunks: UnsafeMutablePointer<UnsafeMutablePointer<Element>?>

    /// - Precondition: the element's chunk has been made.
    subscript(index: UInt32) -> UnsafeMutablePointer<Element> {
        let start = chunks[Int(index >> Slab<Element>.chunkShift)].unsafelyUnwrapped
        return start + (Int(index) & (Slab<Element>.chunkCapacity - 1))
    }
}
