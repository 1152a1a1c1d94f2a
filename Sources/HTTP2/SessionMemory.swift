import CNghttp2
import Glibc

/// What nghttp2 takes from `malloc` by default: small blocks, several a stream, that live as long as the stream does. Here they come from
/// chunks of the session's own and go back into lists by size, which no other thread can touch.
///
/// Chunks are given back when it ends: after the session, and with nothing of it in use. Larger blocks are `malloc`'s all the same.
final class SessionMemory {
    /// Before each block, so that it can be given back; keeps what follows aligned for any type.
    private static let headBytes = 16
    private static let stepBytes = 32
    private static let classes = 64
    private static let chunkBytes = 16_384

    /// At a fixed address, without the checks that access to an object pays for.
    private struct State {
        /// By class: the first free block, each of which holds the address of the next.
        let free: UnsafeMutablePointer<UnsafeMutableRawPointer?>
        /// All chunks, each of which begins with the address of the next.
        var chunks: UnsafeMutableRawPointer?
        var next: UnsafeMutableRawPointer?
        var left = 0

        mutating func block(class index: Int) -> UnsafeMutableRawPointer? {
            if let block = free[index] {
                free[index] = block.load(as: UnsafeMutableRawPointer?.self)
                return block
            }
            let bytes = SessionMemory.headBytes + index * SessionMemory.stepBytes
            if left < bytes {
                guard let chunk = malloc(SessionMemory.chunkBytes) else { return nil }
                chunk.storeBytes(of: chunks, as: UnsafeMutableRawPointer?.self)
                chunks = chunk
                next = chunk + SessionMemory.headBytes
                left = SessionMemory.chunkBytes - SessionMemory.headBytes
            }
            guard let head = next else { return nil }
            next = head + bytes
            left -= bytes
            head.storeBytes(of: index, as: Int.self)
            return head + SessionMemory.headBytes
        }
    }

    private let state: UnsafeMutablePointer<State>
    /// For nghttp2, which may keep this address.
    let functions: UnsafeMutablePointer<nghttp2_mem>

    init() {
        let free = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: Self.classes)
        free.initialize(repeating: nil, count: Self.classes)
        state = .allocate(capacity: 1)
        state.initialize(to: State(free: free))
        functions = .allocate(capacity: 1)
        functions.initialize(
            to: nghttp2_mem(
                mem_user_data: state, malloc: { SessionMemory.take($0, from: $1!) },
                free: { SessionMemory.give($0, to: $1!) },
                calloc: { SessionMemory.takeZeroed($0, $1, from: $2!) },
                realloc: { SessionMemory.resize($0, to: $1, in: $2!) }))
    }

    deinit {
        var chunk = state.pointee.chunks
        while let this = chunk {
            chunk = this.load(as: UnsafeMutableRawPointer?.self)
            Glibc.free(this)
        }
        state.pointee.free.deallocate()
        state.deallocate()
        functions.deallocate()
    }

    private static func take(_ bytes: Int, from user: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        if bytes <= (classes - 1) * stepBytes {
            // Room for the address of the next free block, also in one that was asked for as empty.
            let index = max(1, (bytes + stepBytes - 1) / stepBytes)
            return user.assumingMemoryBound(to: State.self).pointee.block(class: index)
        }
        guard bytes <= Int.max - headBytes, let head = malloc(headBytes + bytes) else { return nil }
        head.storeBytes(of: 0, as: Int.self)
        return head + headBytes
    }

    private static func give(_ block: UnsafeMutableRawPointer?, to user: UnsafeMutableRawPointer) {
        guard let block else { return }
        let head = block - headBytes
        let index = head.load(as: Int.self)
        guard index > 0 else { return Glibc.free(head) }
        let state = user.assumingMemoryBound(to: State.self)
        block.storeBytes(of: state.pointee.free[index], as: UnsafeMutableRawPointer?.self)
        state.pointee.free[index] = block
    }

    private static func takeZeroed(
        _ count: Int, _ size: Int, from user: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer? {
        let (bytes, overflows) = count.multipliedReportingOverflow(by: size)
        guard !overflows, let block = take(bytes, from: user) else { return nil }
        memset(block, 0, bytes)
        return block
    }

    private static func resize(
        _ block: UnsafeMutableRawPointer?, to bytes: Int, in user: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer? {
        guard let block else { return take(bytes, from: user) }
        let head = block - headBytes
        let index = head.load(as: Int.self)
        if index == 0 {
            // One that has been large stays so.
            guard bytes <= Int.max - headBytes else { return nil }
            return realloc(head, headBytes + bytes).map { $0 + headBytes }
        }
        let capacity = index * stepBytes
        if bytes <= capacity { return block }
        guard let larger = take(bytes, from: user) else { return nil }
        larger.copyMemory(from: block, byteCount: capacity)
        give(block, to: user)
        return larger
    }
}
