import CLinux
import Glibc
import Synchronization

/// SIGTERM and SIGINT alike: the first asks for an orderly end, the second exits at once.
final class StopSignals: Sendable {
    private let descriptor: Int32
    private let action = Mutex<(@Sendable () -> Void)?>(nil)

    /// Blocks the signals for this thread and all that begin after it, and waits for them on a thread of its own.
    init() {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGTERM)
        sigaddset(&set, SIGINT)
        pthread_sigmask(SIG_BLOCK, &set, nil)
        descriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC))
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<StopSignals>.fromOpaque(context).takeRetainedValue().wait()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        pthread_detach(thread)
    }

    func onFirst(_ action: @escaping @Sendable () -> Void) {
        self.action.withLock { $0 = action }
    }

    private func wait() {
        var information = signalfd_siginfo()
        var isFirst = true
        while true {
            guard read(descriptor, &information, MemoryLayout<signalfd_siginfo>.size) > 0 else { continue }
            let signal = Int32(bitPattern: information.ssi_signo)
            // Shells read 128 + signal as "ended by it".
            guard isFirst, let action = action.withLock({ $0 }) else { _exit(128 + signal) }
            isFirst = false
            action()
        }
    }
}
