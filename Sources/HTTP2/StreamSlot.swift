import CNghttp2

/// One request of a client connection, from `submit` until nghttp2 has closed its stream.
///
/// Plain memory at a fixed address: nghttp2 keeps the pointer, and the fields it was lent lie in `request`.
struct StreamSlot {
    enum State: UInt8 {
        case free
        /// Not completed yet.
        case open
        /// Completed, but nghttp2 still holds the stream.
        case completed
    }

    var tag: UInt64 = 0
    var deadlineMilliseconds: Int64 = 0
    /// Where the HEADERS frame begins in the connection's output, once `isSerialised`.
    var outputOffset: UInt64 = 0
    var streamID: Int32 = 0
    var nextFree: Int32 = -1
    let index: Int32
    var state = State.free
    var isSerialised = false
    /// The answer is complete, be the request or not.
    var isAnswered = false
    var wasResetByPeer = false
    var isBodyTruncated = false
    var status: Int32 = 0
    var template: Unmanaged<RequestTemplate>?
    /// Field values and body, as `RequestBuffer` had them.
    var request = Region()
    var bodyOffset = 0
    var bodyEnd = 0
    var responseFields = Region()
    var responseBody = Region()

    init(index: Int32) { self.index = index }

    var response: Response {
        Response(
            status: Int(status), fields: PackedFields(bytes: responseFields.contents), body: responseBody.contents,
            isBodyTruncated: isBodyTruncated)
    }
}

/// Memory that grows and is kept for the next use, without reference counting.
struct Region {
    private(set) var bytes: UnsafeMutableRawPointer?
    private(set) var count = 0
    private var capacity = 0

    var contents: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: count) }

    /// Room for `more` bytes at the end, counted as filled.
    mutating func extend(by more: Int) -> UnsafeMutableRawPointer {
        if count + more > capacity {
            let larger = max(256, 2 * capacity, count + more)
            let memory = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
            if let bytes {
                memory.copyMemory(from: bytes, byteCount: count)
                bytes.deallocate()
            }
            bytes = memory
            capacity = larger
        }
        defer { count += more }
        return bytes! + count
    }

    mutating func append(_ source: UnsafeRawBufferPointer) {
        guard let address = source.baseAddress, source.count > 0 else { return }
        extend(by: source.count).copyMemory(from: address, byteCount: source.count)
    }

    /// Forgets the contents; memory beyond `keeping` goes back.
    mutating func clear(keeping: Int = 8_192) {
        count = 0
        if capacity > keeping { free() }
    }

    mutating func free() {
        bytes?.deallocate()
        bytes = nil
        count = 0
        capacity = 0
    }
}

/// The slots of a connection: made in chunks so that they never move, reused in last-in-first-out order while they are warm.
final class StreamSlots {
    private static let chunkSlots = 64

    private var chunks: [UnsafeMutablePointer<StreamSlot>] = []
    private var firstFree: Int32 = -1
    /// All that are not free.
    private(set) var usedCount = 0

    deinit {
        visitAll { slot in
            slot.pointee.template?.release()
            slot.pointee.request.free()
            slot.pointee.responseFields.free()
            slot.pointee.responseBody.free()
        }
        for chunk in chunks { chunk.deallocate() }
    }

    func take() -> UnsafeMutablePointer<StreamSlot> {
        if firstFree < 0 { grow() }
        let slot = self[firstFree]
        firstFree = slot.pointee.nextFree
        usedCount += 1
        return slot
    }

    func free(_ slot: UnsafeMutablePointer<StreamSlot>) {
        slot.pointee.state = .free
        slot.pointee.template?.release()
        slot.pointee.template = nil
        slot.pointee.request.clear()
        slot.pointee.responseFields.clear()
        slot.pointee.responseBody.clear(keeping: 1_024)
        slot.pointee.nextFree = firstFree
        firstFree = slot.pointee.index
        usedCount -= 1
    }

    /// While `body` runs the slot counts as free, but nobody else gets it.
    func lend(_ slot: UnsafeMutablePointer<StreamSlot>, _ body: () -> Void) {
        usedCount -= 1
        body()
        usedCount += 1
    }

    func visitAll(_ body: (UnsafeMutablePointer<StreamSlot>) -> Void) {
        // By index: the body may submit, which may add a chunk.
        var index: Int32 = 0
        while Int(index) < chunks.count * Self.chunkSlots {
            body(self[index])
            index += 1
        }
    }

    private subscript(index: Int32) -> UnsafeMutablePointer<StreamSlot> {
        chunks[Int(index) / Self.chunkSlots] + Int(index) % Self.chunkSlots
    }

    private func grow() {
        let chunk = UnsafeMutablePointer<StreamSlot>.allocate(capacity: Self.chunkSlots)
        let first = Int32(chunks.count * Self.chunkSlots)
        for offset in (0..<Self.chunkSlots).reversed() {
            var slot = StreamSlot(index: first + Int32(offset))
            slot.nextFree = firstFree
            firstFree = slot.index
            (chunk + offset).initialize(to: slot)
        }
        chunks.append(chunk)
    }
}
