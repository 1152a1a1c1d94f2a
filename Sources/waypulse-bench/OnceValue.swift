import Pipeline
import Synchronization

/// One value from another thread to one that waits for it.
final class OnceValue<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let isGiven = StopRequest()

    func give(_ value: Value) {
        self.value.withLock { $0 = value }
        isGiven.stop()
    }

    func take() -> Value {
        isGiven.wait()
        return value.withLock { $0! }
    }
}
