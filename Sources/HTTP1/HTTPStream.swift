import Synchronization

/// An answer that is written piece by piece, from any thread. What the reader has not taken waits here, up to a limit; a reader that is further
/// behind, or takes nothing for `HTTPLimits.sendMilliseconds`, is let go.
public final class HTTPStream: Sendable {
    private struct State {
        var bytes: [UInt8]
        var taken = 0
        var ends = false
        /// The reader has gone, or is let go.
        var isLost = false
        /// Nothing was there for the connection, which sleeps until there is.
        var sleeps = false
        var whenOver: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>
    private let exchange: Exchange
    private let post: LoopPost
    private let maxBytes: Int

    init(
        _ exchange: Exchange, post: LoopPost, maxBytes: Int, first: [UInt8], _ whenOver: @escaping @Sendable () -> Void
    ) {
        self.exchange = exchange
        self.post = post
        self.maxBytes = maxBytes
        state = Mutex(State(bytes: first, whenOver: whenOver))
    }

    public var isOpen: Bool { state.withLock { !$0.isLost && !$0.ends } }

    /// - Returns: false where the stream has ended, or its reader is too far behind and is let go now.
    @discardableResult
    public func write(_ piece: [UInt8]) -> Bool {
        let (isTaken, wakes) = state.withLock { state in
            guard !state.isLost, !state.ends else { return (false, false) }
            guard state.bytes.count - state.taken + piece.count <= maxBytes else {
                state.isLost = true
                state.bytes = []
                state.taken = 0
                return (false, true)
            }
            if state.taken > 0 {
                state.bytes.removeFirst(state.taken)
                state.taken = 0
            }
            state.bytes += piece
            defer { state.sleeps = false }
            return (true, state.sleeps)
        }
        if wakes { post.send(.wake(exchange)) }
        return isTaken
    }

    /// Ends it after what was written.
    public func end() {
        let wakes = state.withLock { state in
            guard !state.isLost, !state.ends else { return false }
            state.ends = true
            defer { state.sleeps = false }
            return state.sleeps
        }
        if wakes { post.send(.wake(exchange)) }
    }

    enum Next {
        case bytes(Int)
        case nothing
        case end
        case lost
    }

    // On the listener's thread.

    var isLost: Bool { state.withLock { $0.isLost } }
    var sleeps: Bool { state.withLock { $0.sleeps } }

    func read(into room: UnsafeMutableRawBufferPointer) -> Next {
        state.withLock { state in
            if state.isLost { return .lost }
            let count = min(room.count, state.bytes.count - state.taken)
            guard count > 0 else {
                if state.ends { return .end }
                state.sleeps = true
                return .nothing
            }
            state.bytes.withUnsafeBytes {
                room.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[state.taken..<(state.taken + count)]))
            }
            state.taken += count
            if state.taken == state.bytes.count {
                state.bytes.removeAll(keepingCapacity: true)
                state.taken = 0
            }
            return .bytes(count)
        }
    }

    /// The connection has gone, with or without the stream's end.
    func finish() {
        let whenOver = state.withLock { state in
            state.isLost = true
            state.bytes = []
            state.taken = 0
            defer { state.whenOver = nil }
            return state.whenOver
        }
        whenOver?()
    }
}
