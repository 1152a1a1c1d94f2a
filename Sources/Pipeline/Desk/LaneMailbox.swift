import Flow
import Pacing
import Storage
import Synchronization
import Telemetry

/// What a question finds on the thread that owns activities. Valid until the question returns.
public struct LaneWindow {
    public let lane: Lane
    public let moment: Moment
    /// Whether the lane lives by the machine's clock, and not by that of a recording.
    let isLive: Bool
    /// Where the run keeps tokens.
    let registry: any TokenRegistry
    /// Applies an event as if it had been read: where the source is a recording, and nowhere else.
    let insert: ((UnsafeRawBufferPointer) -> EventFault?)?

    /// Whether what is in memory of a partition is what its phones are told: it is this lane's, and no owner before was ahead of it.
    public func speaks(for partition: Int32) -> Bool { lane.speaks(for: partition, at: moment.realMilliseconds) }
}

/// Questions of other threads to the one that owns activities. It answers all that have come in its next turn, and pays for looking one atomic
/// load where none has.
public final class LaneMailbox: Sendable {
    /// Called once, on the lane's thread, or on the asker's with nil where the lane has ended.
    public typealias Question = @Sendable (LaneWindow?) -> Void

    private struct State {
        var questions: [Question] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let hasSome = Atomic(false)
    private let wakeup: Wakeup

    init(wakeup: Wakeup) { self.wakeup = wakeup }

    public func ask(_ question: @escaping Question) {
        let (isClosed, isFirst) = state.withLock { state in
            guard !state.isClosed else { return (true, false) }
            state.questions.append(question)
            return (false, state.questions.count == 1)
        }
        if isClosed { return question(nil) }
        guard isFirst else { return }
        hasSome.store(true, ordering: .releasing)
        // It is read by a poll, so that none is missed that comes while the lane falls asleep.
        wakeup.wake()
    }

    /// In the lane's turn.
    func answer(_ window: () -> LaneWindow) {
        guard hasSome.load(ordering: .relaxed), hasSome.exchange(false, ordering: .acquiring) else { return }
        let questions = state.withLock { state in
            defer { state.questions = [] }
            return state.questions
        }
        let window = window()
        for question in questions { question(window) }
    }

    /// The lane has ended.
    func close() {
        let questions = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state.questions
        }
        for question in questions { question(nil) }
    }
}
