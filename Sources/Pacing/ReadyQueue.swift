/// Classes of updates.
public struct NewlyReady: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let urgent = NewlyReady(rawValue: 1)
    public static let routine = NewlyReady(rawValue: 2)
}

/// The activities of one pool and class whose gates are all open but the last one: a dispatch credit. The longest waiting leaves first.
struct ReadyQueue {
    private(set) var first = ActivitySlab.noIndex
    private var last = ActivitySlab.noIndex
    private(set) var count = 0

    mutating func append(_ index: UInt32, _ states: SlabElements<ActivityState>) {
        states[index].pointee.readyPrevious = last
        states[index].pointee.readyNext = ActivitySlab.noIndex
        if last == ActivitySlab.noIndex {
            first = index
        } else {
            states[last].pointee.readyNext = index
        }
        last = index
        count += 1
    }

    mutating func remove(_ index: UInt32, _ states: SlabElements<ActivityState>) {
        let (previous, next) = (states[index].pointee.readyPrevious, states[index].pointee.readyNext)
        if previous == ActivitySlab.noIndex {
            first = next
        } else {
            states[previous].pointee.readyNext = next
        }
        if next == ActivitySlab.noIndex {
            last = previous
        } else {
            states[next].pointee.readyPrevious = previous
        }
        count -= 1
    }
}
