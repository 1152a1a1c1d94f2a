import CLinux
import Glibc
import Synchronization

/// How other threads reach the listener's.
final class LoopPost: Sendable {
    enum Letter {
        /// A suspended request has its answer, or a stream something to write.
        case wake(Exchange)
        case run(@Sendable () -> Void)
        case stop
    }

    private struct State {
        var letters: [Letter] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    let descriptor: Int32

    init?() {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// After the listener has ended it is dropped.
    func send(_ letter: Letter) {
        let isFirst = state.withLock { state in
            guard !state.isClosed else { return false }
            state.letters.append(letter)
            return state.letters.count == 1
        }
        guard isFirst else { return }
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    func take() -> [Letter] {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
        return state.withLock { state in
            defer { state.letters = [] }
            return state.letters
        }
    }

    func closeForGood() {
        state.withLock { $0 = State(isClosed: true) }
    }
}
