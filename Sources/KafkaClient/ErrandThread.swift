import Glibc
import Sockets
import Synchronization

/// Runs what blocks, one after the other, away from the loop. The thread lives as long as there is something to do.
final class ErrandThread: Sendable {
    private struct State {
        var errands: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let state = Mutex(State())

    func run(_ errand: @escaping @Sendable () -> Void) {
        let startsThread = state.withLock { state in
            state.errands.append(errand)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard startsThread else { return }
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { raw in
                nameThread("kafka-errands")
                Unmanaged<ErrandThread>.fromOpaque(raw!).takeRetainedValue().work()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        if code == 0 { pthread_detach(thread) }
        // A machine without a thread to spare: the loop does it itself, late rather than never.
        if code != 0 {
            Unmanaged.passUnretained(self).release()
            work()
        }
    }

    private func work() {
        while let errand = next() { errand() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard !state.errands.isEmpty else {
                state.isRunning = false
                return nil
            }
            return state.errands.removeFirst()
        }
    }
}
