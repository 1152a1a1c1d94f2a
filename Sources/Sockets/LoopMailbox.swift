import CLinux
import Glibc
import Synchronization

/// The one door into a loop from other threads.
public final class LoopMailbox: Sendable {
    private let eventDescriptor: Int32
    private let queue = Mutex<[@Sendable (EventLoop) -> Void]>([])
    /// Set between a write to the eventfd and its read, so that many hand-overs cost one system call.
    private let isWoken = Atomic<Bool>(false)

    init() throws(SystemFault) {
        eventDescriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard eventDescriptor >= 0 else { throw SystemFault(call: "eventfd") }
    }

    deinit { Glibc.close(eventDescriptor) }

    /// Runs `work` on the loop's thread, in the order of submission. A loop that has been stopped runs it no more.
    public func submit(_ work: @escaping @Sendable (EventLoop) -> Void) {
        queue.withLock { $0.append(work) }
        wake()
    }

    /// Has the loop call its `onWake` handlers. Wakes may merge; each is followed by a call that began after it.
    public func wake() {
        guard !isWoken.exchange(true, ordering: .acquiringAndReleasing) else { return }
        var one: UInt64 = 1
        // Fails only when the counter is full, and then the loop is awake anyway.
        _ = Glibc.write(eventDescriptor, &one, 8)
    }

    /// Ends `run()` after what was submitted before.
    public func stop() { submit { $0.stop() } }

    var descriptor: Int32 { eventDescriptor }

    /// Empties the box: on the loop's thread, when the eventfd is readable.
    func collect() -> [@Sendable (EventLoop) -> Void] {
        var count: UInt64 = 0
        _ = Glibc.read(eventDescriptor, &count, 8)
        // Before the queue is looked at: who comes later writes to the eventfd again.
        isWoken.store(false, ordering: .sequentiallyConsistent)
        return queue.withLock { queue in
            defer { queue.removeAll() }
            return queue
        }
    }
}
