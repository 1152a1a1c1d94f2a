import Glibc
import Synchronization

/// One value from one thread to another that waits for it.
final class Handover<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    // A POSIX semaphore has one address for life, which a Swift property does not promise.
    private nonisolated(unsafe) let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() {
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func give(_ value: Value) {
        self.value.withLock { $0 = value }
        sem_post(semaphore)
    }

    /// Waits until a value was given.
    func take() -> Value {
        while true {
            while sem_wait(semaphore) != 0 {}
            if let value = value.withLock({ $0 }) { return value }
        }
    }
}
