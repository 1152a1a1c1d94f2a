import CLinux
import Glibc
import Sockets

/// An eventfd that librdkafka's threads, and ours, write to when there is something for the loop.
final class WakeDescriptor: Sendable {
    let descriptor: Int32

    init() throws(SystemFault) {
        descriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard descriptor >= 0 else { throw SystemFault(call: "eventfd") }
    }

    deinit { Glibc.close(descriptor) }

    /// What librdkafka writes to wake the loop: an eventfd wants eight bytes.
    static let payload: UInt64 = 1

    func wake() {
        var one = Self.payload
        // Fails only when the counter is full, and then the loop is awake anyway.
        _ = Glibc.write(descriptor, &one, 8)
    }

    func clear() {
        var count: UInt64 = 0
        _ = Glibc.read(descriptor, &count, 8)
    }
}
