/// A timer of an `EventLoop`: made once, set as often as needed, in O(log n) of the timers set.
public final class LoopTimer {
    enum Place: Equatable {
        case idle
        case heap(Int)
        /// Taken from the heap, about to be called; another timer's handler may still cancel it.
        case due
    }

    // A timer does not keep its loop: whoever owns the timer lives on the loop.
    private unowned let loop: EventLoop
    let handler: () -> Void
    fileprivate(set) var place = Place.idle
    fileprivate(set) var timeMilliseconds: Int64 = 0

    init(loop: EventLoop, handler: @escaping () -> Void) {
        self.loop = loop
        self.handler = handler
    }

    /// When it will be called, if it is set.
    public var deadlineMilliseconds: Int64? { place == .idle ? nil : timeMilliseconds }

    /// Calls the handler once at this time of the loop's clock, or in the next turn if that has passed. Replaces an earlier time.
    public func schedule(atMilliseconds: Int64) {
        loop.timers.remove(self)
        timeMilliseconds = atMilliseconds
        loop.timers.insert(self)
    }

    public func cancel() { loop.timers.remove(self) }
}

/// A binary heap whose entries know their place, so that one can be taken out of the middle.
struct TimerHeap {
    private var entries: [LoopTimer] = []

    var earliestMilliseconds: Int64? { entries.first?.timeMilliseconds }

    mutating func insert(_ timer: LoopTimer) {
        entries.append(timer)
        timer.place = .heap(entries.count - 1)
        rise(entries.count - 1)
    }

    mutating func remove(_ timer: LoopTimer) {
        guard case .heap(let index) = timer.place else {
            timer.place = .idle
            return
        }
        timer.place = .idle
        let last = entries.removeLast()
        guard index < entries.count else { return }
        entries[index] = last
        last.place = .heap(index)
        rise(index)
        sink(index)
    }

    /// Takes out what is due. In two steps, so that a handler that sets its timer to "now" waits for the next turn.
    mutating func takeDue(nowMilliseconds: Int64) -> [LoopTimer] {
        guard let first = entries.first, first.timeMilliseconds <= nowMilliseconds else { return [] }
        var due: [LoopTimer] = []
        while let first = entries.first, first.timeMilliseconds <= nowMilliseconds {
            remove(first)
            first.place = .due
            due.append(first)
        }
        return due
    }

    /// Whether a timer that was taken is still wanted; it is idle from here on.
    mutating func confirm(_ timer: LoopTimer) -> Bool {
        guard timer.place == .due else { return false }
        timer.place = .idle
        return true
    }

    private mutating func rise(_ start: Int) {
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard entries[index].timeMilliseconds < entries[parent].timeMilliseconds else { return }
            swap(index, parent)
            index = parent
        }
    }

    private mutating func sink(_ start: Int) {
        var index = start
        while true {
            var smallest = index
            for child in (2 * index + 1)...(2 * index + 2) where child < entries.count {
                if entries[child].timeMilliseconds < entries[smallest].timeMilliseconds { smallest = child }
            }
            guard smallest != index else { return }
            swap(index, smallest)
            index = smallest
        }
    }

    private mutating func swap(_ left: Int, _ right: Int) {
        entries.swapAt(left, right)
        entries[left].place = .heap(left)
        entries[right].place = .heap(right)
    }
}
