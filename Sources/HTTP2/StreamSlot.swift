/// One request of a client connection, from `submit` until its stream is closed. Plain memory at a fixed address.
struct StreamSlot {
    enum State: UInt8 {
        case free
        /// Taken; no byte of it is framed.
        case waiting
        /// The peer knows of it, or will.
        case open
        /// Its stream is closed and free again; the owner is being told.
        case completed
    }

    var tag: UInt64 = 0
    var deadlineMilliseconds: Int64 = 0
    /// Where the HEADERS frame begins in the connection's output, once `open`.
    var outputOffset: UInt64 = 0
    let index: Int32
    var streamID: Int32 = 0
    /// Neighbours in the queue that it is in; of a free one, the next free.
    var next: Int32 = -1
    var previous: Int32 = -1
    var state = State.free
    var isQueued = false
    /// How the answer stands.
    var answer = AnswerProgress()
    /// While `waiting`.
    var template: PreparedTemplate.Reference?

    /// As `RequestBuffer` had it.
    var request = Region()
    var pathEnd = 0
    var fieldsEnd = 0
    /// Of `request`: the next byte of the body that is to be framed.
    var bodyOffset = 0
    /// What the peer lets this stream send; below 0 where it has thought better of it (RFC 9113 section 6.9.2).
    var sendWindow = 0
    /// Received on this stream and not given back to its window.
    var unreturnedBytes = 0

    var responseFields = Region()
    var responseBody = Region()

    init(index: Int32) { self.index = index }

    var bodyLeft: Int { request.count - bodyOffset }

    var response: Response {
        Response(
            status: Int(answer.status), fields: PackedFields(bytes: responseFields.contents),
            body: responseBody.contents, isBodyTruncated: answer.isBodyTruncated)
    }
}

/// What of an answer has come.
struct AnswerProgress {
    /// 0 before any; an interim one's until the final one comes.
    var status: Int32 = 0
    var isBodyTruncated = false
    /// Of `content-length`; −1 where it is not told.
    var promisedBytes: Int64 = -1
    var receivedBytes: Int64 = 0

    var isFinal: Bool { status >= 200 }
    /// Its `content-length` tells of what another request would get, not of this answer (RFC 9113 section 8.1.1).
    var isWithoutContent: Bool { (status == 204 || status == 304) && receivedBytes == 0 }
}

/// The slots of a connection: made in chunks so that they never move, reused in last-in-first-out order while they are warm.
final class StreamSlots {
    private static let chunkSlots = 64

    // Plain memory, and never changed in place: the checks of an array's would be paid for at each step of each request.
    private var chunks: UnsafeMutablePointer<UnsafeMutablePointer<StreamSlot>>
    private var chunkCount = 0
    private var firstFree: Int32 = -1
    /// All that are not free.
    private(set) var usedCount = 0

    init() { chunks = .allocate(capacity: 1) }

    deinit {
        visitAll { slot in
            slot.pointee.request.free()
            slot.pointee.responseFields.free()
            slot.pointee.responseBody.free()
        }
        for index in 0..<chunkCount { chunks[index].deallocate() }
        chunks.deallocate()
    }

    func take() -> UnsafeMutablePointer<StreamSlot> {
        if firstFree < 0 { grow() }
        let slot = self[firstFree]
        firstFree = slot.pointee.next
        usedCount += 1
        return slot
    }

    func free(_ slot: UnsafeMutablePointer<StreamSlot>) {
        slot.pointee.state = .free
        slot.pointee.request.clear()
        slot.pointee.responseFields.clear()
        slot.pointee.responseBody.clear(keeping: 1_024)
        slot.pointee.next = firstFree
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
        while Int(index) < chunkCount * Self.chunkSlots {
            body(self[index])
            index += 1
        }
    }

    subscript(index: Int32) -> UnsafeMutablePointer<StreamSlot> {
        chunks[Int(index) / Self.chunkSlots] + Int(index) % Self.chunkSlots
    }

    private func grow() {
        let chunk = UnsafeMutablePointer<StreamSlot>.allocate(capacity: Self.chunkSlots)
        let first = Int32(chunkCount * Self.chunkSlots)
        for offset in (0..<Self.chunkSlots).reversed() {
            var slot = StreamSlot(index: first + Int32(offset))
            slot.next = firstFree
            firstFree = slot.index
            (chunk + offset).initialize(to: slot)
        }
        let more = UnsafeMutablePointer<UnsafeMutablePointer<StreamSlot>>.allocate(capacity: chunkCount + 1)
        more.update(from: chunks, count: chunkCount)
        more[chunkCount] = chunk
        chunks.deallocate()
        chunks = more
        chunkCount += 1
    }
}

/// Slots in the order in which they came; any can leave. A slot is in one queue at most.
final class SlotQueue {
    private let slots: StreamSlots
    private var head: Int32 = -1
    private var tail: Int32 = -1

    init(_ slots: StreamSlots) { self.slots = slots }

    var first: UnsafeMutablePointer<StreamSlot>? { head < 0 ? nil : slots[head] }

    func append(_ slot: UnsafeMutablePointer<StreamSlot>) {
        slot.pointee.isQueued = true
        slot.pointee.next = -1
        slot.pointee.previous = tail
        if tail < 0 { head = slot.pointee.index } else { slots[tail].pointee.next = slot.pointee.index }
        tail = slot.pointee.index
    }

    func remove(_ slot: UnsafeMutablePointer<StreamSlot>) {
        slot.pointee.isQueued = false
        let (previous, next) = (slot.pointee.previous, slot.pointee.next)
        if previous < 0 { head = next } else { slots[previous].pointee.next = next }
        if next < 0 { tail = previous } else { slots[next].pointee.previous = previous }
    }
}
