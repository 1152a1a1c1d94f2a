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

    private var heap: [Waiting] = []
    private var due: (urgent: ArraySlice<Waiting>, routine: ArraySlice<Waiting>) = ([], [])

    /// On the real clock; nil where it does not wait, or its time has come.
    func notBefore(_ ticket: Ticket, shard: Int) -> Int64? {
        heap.first { $0.ticket == ticket && $0.shard == shard }?.notBeforeMilliseconds
    }

    var count: Int { heap.count + due.urgent.count + due.routine.count }
    var nextDueMilliseconds: Int64? { heap.first?.notBeforeMilliseconds }
    func hasDue(urgent: Bool) -> Bool { urgent ? !due.urgent.isEmpty : !due.routine.isEmpty }

    mutating func add(_ waiting: Waiting) {
        heap.append(waiting)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard RetryQueue.isEarlier(heap[child], heap[parent]) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func advance(to nowMilliseconds: Int64) {
        while let first = heap.first, first.notBeforeMilliseconds <= nowMilliseconds {
            removeFirst()
            if first.isUrgent { due.urgent.append(first) } else { due.routine.append(first) }
        }
    }

    mutating func popDue(urgent: Bool) -> Waiting? {
        urgent ? due.urgent.popFirst() : due.routine.popFirst()
    }

    /// Forgets what waits for a shard that is no more.
    mutating func removeAll(ofShard shard: Int) {
        let kept = heap.filter { $0.shard != shard }
        heap.removeAll(keepingCapacity: true)
        for waiting in kept { add(waiting) }
        due.urgent = ArraySlice(due.urgent.filter { $0.shard != shard })
        due.routine = ArraySlice(due.routine.filter { $0.shard != shard })
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var earliest = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && RetryQueue.isEarlier(heap[child], heap[earliest]) {
                earliest = child
            }
            if earliest == parent { return }
            heap.swapAt(parent, earliest)
            parent = earliest
        }
    }

    private static func isEarlier(_ left: Waiting, _ right: Waiting) -> Bool {
        (left.notBeforeMilliseconds, left.order) < (right.notBeforeMilliseconds, right.order)
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
