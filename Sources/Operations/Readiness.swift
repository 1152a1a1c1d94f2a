import Synchronization

/// Whether this process should be given work, and if not, why.
public final class Readiness: Sendable {
    public enum State: Sendable, Equatable {
        case starting
        /// It works, or tries to, and cannot do what it is for: why.
        case hindered(String)
        case ready
        case stopping
    }

    private let state = Mutex(State.starting)

    public init() {}

    public var current: State { state.withLock { $0 } }

    /// Whoever stops stays so: a word that was on its way when the signal came changes nothing.
    public func become(_ next: State) {
        state.withLock { if $0 != .stopping { $0 = next } }
    }
}
