/// What waits for its time; what is due at the same time, in the order in which it came.
struct TimedQueue<Element> {
    private struct Entry {
        let dueMilliseconds: Int64
        let order: UInt64
        let element: Element

        func isEarlier(than other: Entry) -> Bool {
            (dueMilliseconds, order) < (other.dueMilliseconds, other.order)
        }
    }

    private var heap: [Entry] = []

    var count: Int { heap.count }
    var nextDueMilliseconds: Int64? { heap.first?.dueMilliseconds }
    var elements: some Sequence<Element> { heap.lazy.map(\.element) }

    mutating func add(_ element: Element, dueMilliseconds: Int64, order: UInt64) {
        add(Entry(dueMilliseconds: dueMilliseconds, order: order, element: element))
    }

    mutating func popDue(at nowMilliseconds: Int64) -> Element? {
        guard let first = heap.first, first.dueMilliseconds <= nowMilliseconds else { return nil }
        removeFirst()
        return first.element
    }

    mutating func removeAll(where isGone: (Element) -> Bool) {
        let kept = heap.filter { !isGone($0.element) }
        heap.removeAll(keepingCapacity: true)
        for entry in kept { add(entry) }
    }

    private mutating func add(_ entry: Entry) {
        heap.append(entry)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].isEarlier(than: heap[parent]) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var earliest = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].isEarlier(than: heap[earliest]) {
                earliest = child
            }
            if earliest == parent { return }
            heap.swapAt(parent, earliest)
            parent = earliest
        }
    }
}
