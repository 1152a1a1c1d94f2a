import CLinux
import Glibc
import Synchronization

/// Wakes a thread that waits in `poll`.
public final class Wakeup: Sendable {
    let descriptor: Int32

    public init() {
        descriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
        precondition(descriptor >= 0, "eventfd: \(String(cString: strerror(errno)))")
    }

    deinit { close(descriptor) }

    public func wake() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}

/// Asks a run to end: once, and from any thread.
public final class StopRequest: Sendable {
    private let flag = Atomic(false)
    let wakeup: Wakeup

    public init(wakeup: Wakeup = Wakeup()) {
        self.wakeup = wakeup
    }

    public func stop() {
        flag.store(true, ordering: .releasing)
        wakeup.wake()
    }

    /// Returns after `stop`.
    public func wait() {
        while !isStopped {
            var source = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
            poll(&source, 1, -1)
            wakeup.clear()
        }
    }

    public var isStopped: Bool { flag.load(ordering: .acquiring) }
}
