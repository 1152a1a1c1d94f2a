/// The activities of one pool and class whose gates are all open but the last one: a dispatch credit. The longest waiting leaves first.
struct ReadyQueue {
    private(set) var first = ActivitySlab.noIndex
    private var last = ActivitySlab.noIndex
    private(set) var count = 0

    mutating func append(_ index: UInt32, _ states: UnsafeMutablePointer<ActivityState>) {
        states[Int(index)].readyPrevious = last
        states[Int(index)].readyNext = ActivitySlab.noIndex
        if last == ActivitySlab.noIndex {
            first = index
        } else {
            states[Int(last)].readyNext = index
        }
        last = index
        count += 1
    }

    mutating func remove(_ index: UInt32, _ states: UnsafeMutablePointer<ActivityState>) {
        let (previous, next) = (states[Int(index)].readyPrevious, states[Int(index)].readyNext)
        if previous == ActivitySlab.noIndex {
            first = next
        } else {
            states[Int(previous)].readyNext = next
        }
        if next == ActivitySlab.noIndex {
            last = previous
        } else {
            states[Int(next)].readyPrevious = previous
        }
        count -= 1
    }
}
