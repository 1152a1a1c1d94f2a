import HTTP2
import Sockets

/// Holds work until its time, in order of time and then of entry, with one timer of the loop.
final class DelayLine<Element> {
    private struct Held {
        let dueMilliseconds: Int64
        let order: UInt64
        let element: Element
    }

    /// A binary heap, the earliest first.
    private var heap: [Held] = []
    private var nextOrder: UInt64 = 0
    private let loop: EventLoop
    private var timer: LoopTimer?
    private let handler: (Element) -> Void

    init(loop: EventLoop, _ handler: @escaping (Element) -> Void) {
        self.loop = loop
        self.handler = handler
        timer = loop.timer { [unowned self] in fire() }
    }

    var count: Int { heap.count }

    func hold(_ element: Element, milliseconds: Int64) {
        heap.append(
            Held(dueMilliseconds: loop.nowMilliseconds + milliseconds, order: nextOrder, element: element))
        nextOrder += 1
        rise(from: heap.count - 1)
        schedule()
    }

    /// Takes out what `test` names, in no certain order.
    func remove(where test: (Element) -> Bool) -> [Element] {
        let removed = heap.filter { test($0.element) }.sorted { $0.order < $1.order }
        guard !removed.isEmpty else { return [] }
        heap.removeAll { test($0.element) }
        heap.sort(by: DelayLine.precedes)
        schedule()
        return removed.map(\.element)
    }

    private func fire() {
        while let first = heap.first, first.dueMilliseconds <= loop.nowMilliseconds {
            removeFirst()
            handler(first.element)
        }
        schedule()
    }

    private func schedule() {
        guard let first = heap.first else {
            timer?.cancel()
            return
        }
        timer?.schedule(atMilliseconds: first.dueMilliseconds)
    }

    private static func precedes(_ left: Held, _ right: Held) -> Bool {
        (left.dueMilliseconds, left.order) < (right.dueMilliseconds, right.order)
    }

    private func rise(from start: Int) {
        var index = start
        while index > 0, DelayLine.precedes(heap[index], heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var index = 0
        while true {
            let children = (2 * index + 1)...(2 * index + 2)
            let smallest = children.filter { $0 < heap.count }.min { DelayLine.precedes(heap[$0], heap[$1]) }
            guard let smallest, DelayLine.precedes(heap[smallest], heap[index]) else { return }
            heap.swapAt(index, smallest)
            index = smallest
        }
    }
}
