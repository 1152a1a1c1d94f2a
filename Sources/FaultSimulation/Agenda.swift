/// What is going to happen in a world, by time; at one instant in the order in which it was planned.
struct Agenda {
    enum Action {
        /// A line of the script, by its index.
        case script(Int)
        /// A record that was not in the script: what an app reports of the card of a life.
        case report(SimulatedEvent, life: Int)
        case rotateToken(activity: Int)
        /// The request reaches the provider.
        case arrive(request: UInt64)
        case answer(request: UInt64)
        case deliver(Delivery)
        case weather(Weather.Change)
        case streams(Int, link: Int)
        case stepClock(milliseconds: Int64)
        case faultsEnd
        case recordingEnds
        /// The registry of tokens answers.
        case registry(UInt64)
        case registerStartToken
        /// An update token is registered for an activity that has not begun.
        case keepToken(activity: Int)
        case group(GroupWorld.Action)
    }

    private struct Entry {
        let realMilliseconds: Int64
        let order: UInt64
        let action: Action

        func isBefore(_ other: Entry) -> Bool {
            (realMilliseconds, order) < (other.realMilliseconds, other.order)
        }
    }

    private var heap: [Entry] = []
    private var planned: UInt64 = 0

    /// Whether something like that is still to happen.
    func contains(_ isMeant: (Action) -> Bool) -> Bool { heap.contains { isMeant($0.action) } }

    var isEmpty: Bool { heap.isEmpty }
    var nextMilliseconds: Int64? { heap.first?.realMilliseconds }

    mutating func plan(_ action: Action, atMilliseconds milliseconds: Int64) {
        heap.append(Entry(realMilliseconds: milliseconds, order: planned, action: action))
        planned += 1
        var child = heap.count - 1
        while child > 0, heap[child].isBefore(heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func next() -> Action? {
        guard let first = heap.first else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var earliest = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].isBefore(heap[earliest]) {
                earliest = child
            }
            if earliest == parent { return first.action }
            heap.swapAt(parent, earliest)
            parent = earliest
        }
    }
}
