import Glibc
import Registration
import Synchronization

/// Lets so many in at the same time and no more, and none once it is closed; whoever closes it waits for the rest.
final class DeskCounter: Sendable {
    enum Admission { case admitted, full, closed }

    private struct State {
        var waiting = 0
        var isClosed = false
    }

    private let most: Int
    private let state = Mutex(State())

    init(most: Int) { self.most = most }

    func enter() -> Admission {
        state.withLock { state in
            if state.isClosed { return .closed }
            guard state.waiting < most else { return .full }
            state.waiting += 1
            return .admitted
        }
    }

    func leave() { state.withLock { $0.waiting -= 1 } }

    /// Nobody enters any more.
    func refuse() { state.withLock { $0.isClosed = true } }

    /// Nobody enters any more; returns when all have left, or the time is over.
    func close(withinMilliseconds: Int64) {
        refuse()
        var left = withinMilliseconds
        while state.withLock({ $0.waiting }) > 0, left > 0 {
            usleep(UInt32(Self.lookMilliseconds * 1_000))
            left -= Self.lookMilliseconds
        }
    }

    private static let lookMilliseconds: Int64 = 5
}

extension DeskCounter {
    /// What is done between an asker and his answer: he is counted, and told where there is no room.
    func admit<Outcome: Sendable>(
        full: Outcome, closed: Outcome, _ completion: @escaping @Sendable (Outcome) -> Void
    ) -> (@Sendable (Outcome) -> Void)? {
        switch enter() {
        case .admitted:
            return {
                completion($0)
                self.leave()
            }
        case .full: completion(full)
        case .closed: completion(closed)
        }
        return nil
    }
}

/// What everybody is told at the end.
enum DeskWords {
    static let stopping = "this process stops: ask another"
    static let crowded = "too many questions wait for an answer already"
}
