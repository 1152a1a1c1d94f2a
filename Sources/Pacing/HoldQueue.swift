/// The smallest offset that something holds: it has to be read again if the process ends now.
struct Held {
    var offset: Int64
    var appliedAtMilliseconds: Int64

    /// Lowers `held`, if `origin` is of that source and above what a checkpoint has covered.
    static func lower(
        _ held: inout Held?, _ origin: Origin, _ appliedAtMilliseconds: Int64, _ source: UInt8, _ saved: Int64
    ) {
        guard origin.source == source, origin.offset > saved, origin.isKnown else { return }
        if let held, held.offset <= origin.offset { return }
        held = Held(offset: origin.offset, appliedAtMilliseconds: appliedAtMilliseconds)
    }
}

/// Finds the smallest offset of a source that any activity holds, without touching an activity for each event.
///
/// An activity enters once, when it begins to hold, with the offset of then: a lower bound, since what it holds only rises until it holds
/// nothing. Whether that is still true is asked when its turn comes. A heap, for the bounds are asked for in order; entering costs one
/// append, since offsets come in order as well.
struct HoldQueue {
    struct Entry {
        var offset: Int64
        let index: UInt32
    }

    private static let leastBeforeSweep = 4_096

    private(set) var heap: [Entry] = []
    private var sweepAt = leastBeforeSweep

    mutating func add(offset: Int64, index: UInt32) {
        heap.append(Entry(offset: offset, index: index))
        rise(heap.count - 1)
    }

    /// - Parameters:
    ///   - current: what an activity holds now.
    ///   - left: told of each activity that holds nothing and stands here no more.
    mutating func smallest(_ current: (UInt32) -> Held?, left: (UInt32) -> Void) -> Held? {
        if heap.count >= sweepAt { sweep(current, left: left) }
        while let first = heap.first {
            guard let held = current(first.index) else {
                removeFirst()
                left(first.index)
                continue
            }
            if held.offset <= first.offset { return held }
            heap[0].offset = held.offset
            sink(0)
        }
        return nil
    }

    /// No bound is above `offset` any more.
    mutating func lower(to offset: Int64) {
        for place in heap.indices where heap[place].offset > offset { heap[place].offset = offset }
    }

    /// What has ended to hold while something before it did not would otherwise stay.
    private mutating func sweep(_ current: (UInt32) -> Held?, left: (UInt32) -> Void) {
        var kept: [Entry] = []
        var seen: Set<UInt32> = []
        for entry in heap {
            guard let held = current(entry.index) else {
                left(entry.index)
                continue
            }
            guard seen.insert(entry.index).inserted else { continue }
            kept.append(Entry(offset: held.offset, index: entry.index))
        }
        heap = kept
        for place in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sink(place) }
        sweepAt = max(HoldQueue.leastBeforeSweep, heap.count * 2)
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        if !heap.isEmpty { sink(0) }
    }

    private mutating func rise(_ place: Int) {
        var child = place
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].offset < heap[parent].offset else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func sink(_ place: Int) {
        var parent = place
        while true {
            var least = parent
            let left = 2 * parent + 1
            if left < heap.count, heap[left].offset < heap[least].offset { least = left }
            if left + 1 < heap.count, heap[left + 1].offset < heap[least].offset { least = left + 1 }
            if least == parent { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
