import LiveActivities
import Pacing

/// Updates that wait to be sent again: by time while their delay runs, then first in first out by class.
struct RetryQueue {
    struct Waiting {
        let ticket: Ticket
        let shard: Int
        let isUrgent: Bool
        let tries: Tries
        let notBeforeMilliseconds: Int64
        let order: UInt64
    }

    private var later = TimedQueue<Waiting>()
    private var due: (urgent: ArraySlice<Waiting>, routine: ArraySlice<Waiting>) = ([], [])

    var count: Int { later.count + due.urgent.count + due.routine.count }
    var nextDueMilliseconds: Int64? { later.nextDueMilliseconds }
    func hasDue(urgent: Bool) -> Bool { urgent ? !due.urgent.isEmpty : !due.routine.isEmpty }

    mutating func add(_ waiting: Waiting) {
        later.add(waiting, dueMilliseconds: waiting.notBeforeMilliseconds, order: waiting.order)
    }

    mutating func advance(to nowMilliseconds: Int64) {
        while let first = later.popDue(at: nowMilliseconds) {
            if first.isUrgent { due.urgent.append(first) } else { due.routine.append(first) }
        }
    }

    mutating func popDue(urgent: Bool) -> Waiting? {
        urgent ? due.urgent.popFirst() : due.routine.popFirst()
    }

    /// Forgets what waits for a shard that is no more.
    mutating func removeAll(ofShard shard: Int) {
        later.removeAll { $0.shard == shard }
        due.urgent = ArraySlice(due.urgent.filter { $0.shard != shard })
        due.routine = ArraySlice(due.routine.filter { $0.shard != shard })
    }
}

/// How often the same content has been tried, by how it ended.
struct Tries: Equatable {
    var serverErrors = 0
    var unknownOutcomes = 0
    var connectionRefusals = 0
    var notProcessed = 0

    mutating func count(_ reaction: Reaction) {
        switch reaction.counts {
        case .serverError: serverErrors += 1
        case .unknownOutcome: unknownOutcomes += 1
        case .connectionRefusal: connectionRefusals += 1
        // Throttles are the target's, not the content's.
        case .throttle: break
        case nil: if reaction.update == .sendAgain { notProcessed += 1 }
        }
    }
}
