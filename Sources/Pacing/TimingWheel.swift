/// A hierarchical timing wheel over the activities' states: eleven levels of 64 slots, each level 64 times coarser, the finest of one
/// millisecond. A timer is a link in its activity's state, so arming, moving and firing cost the same however many there are.
///
/// It keeps exact due times: a timer sinks through the levels and fires out of a one-millisecond slot.
struct TimingWheel {
    private static let levels = 11
    private static let slotsPerLevel = 64

    private var heads = [UInt32](repeating: ActivitySlab.noIndex, count: levels * slotsPerLevel)
    /// The earliest due time that was put into the slot since it was empty.
    private var earliest = [Int64](repeating: .max, count: levels * slotsPerLevel)
    private var occupied = [UInt64](repeating: 0, count: levels)
    /// Every timer is in this millisecond's slot or in a later one.
    private var current: UInt64 = 0

    init() {}

    /// Never later than the earliest timer; earlier only where one was disarmed.
    var nextDueMilliseconds: Int64? {
        for level in 0..<TimingWheel.levels where occupied[level] != 0 {
            return earliest[level * TimingWheel.slotsPerLevel + occupied[level].trailingZeroBitCount]
        }
        return nil
    }

    /// - Precondition: the activity has no timer.
    mutating func arm(_ index: UInt32, dueMilliseconds: Int64, _ states: SlabElements<ActivityState>) {
        states[index].pointee.timerDueMilliseconds = dueMilliseconds
        states[index].pointee.flags.insert(.hasTimer)
        link(index, states)
    }

    mutating func disarm(_ index: UInt32, _ states: SlabElements<ActivityState>) {
        let state = states[index]
        guard state.pointee.flags.contains(.hasTimer) else { return }
        let slot = Int(state.pointee.timerSlot)
        let (previous, next) = (state.pointee.timerPrevious, state.pointee.timerNext)
        if previous == ActivitySlab.noIndex {
            heads[slot] = next
        } else {
            states[previous].pointee.timerNext = next
        }
        if next != ActivitySlab.noIndex { states[next].pointee.timerPrevious = previous }
        if heads[slot] == ActivitySlab.noIndex { empty(slot) }
        state.pointee.flags.remove(.hasTimer)
        state.pointee.timerDueMilliseconds = .max
    }

    /// Takes the timers that are due first, all of one millisecond, into `batch` in the order of activity start, and disarms them.
    /// False where none is due at or before `now`.
    mutating func popDue(
        nowMilliseconds: Int64, _ states: SlabElements<ActivityState>, into batch: inout [UInt32]
    ) -> Bool {
        batch.removeAll(keepingCapacity: true)
        let now = TimingWheel.ordered(nowMilliseconds)
        while true {
            guard let level = (0..<TimingWheel.levels).first(where: { occupied[$0] != 0 }) else { break }
            let place = occupied[level].trailingZeroBitCount
            let start = slotStart(level: level, place: place)
            if start > now { break }
            current = max(current, start)
            let slot = level * TimingWheel.slotsPerLevel + place
            var index = heads[slot]
            heads[slot] = ActivitySlab.noIndex
            empty(slot)
            while index != ActivitySlab.noIndex {
                let next = states[index].pointee.timerNext
                if level == 0 {
                    states[index].pointee.flags.remove(.hasTimer)
                    batch.append(index)
                } else {
                    link(index, states)
                }
                index = next
            }
            if level == 0 {
                if batch.count > 1 {
                    batch.sort {
                        (states[$0].pointee.timerDueMilliseconds, states[$0].pointee.startOrder)
                            < (states[$1].pointee.timerDueMilliseconds, states[$1].pointee.startOrder)
                    }
                }
                for index in batch { states[index].pointee.timerDueMilliseconds = .max }
                return true
            }
        }
        current = max(current, now)
        return false
    }

    private mutating func link(_ index: UInt32, _ states: SlabElements<ActivityState>) {
        let state = states[index]
        // One that is overdue already fires with the current millisecond, before what is due then.
        let due = max(TimingWheel.ordered(state.pointee.timerDueMilliseconds), current)
        let level = due == current ? 0 : (63 - (due ^ current).leadingZeroBitCount) / 6
        let place = Int(truncatingIfNeeded: due >> UInt64(6 * level)) & 63
        let slot = level * TimingWheel.slotsPerLevel + place
        let head = heads[slot]
        state.pointee.timerSlot = UInt16(slot)
        state.pointee.timerPrevious = ActivitySlab.noIndex
        state.pointee.timerNext = head
        if head != ActivitySlab.noIndex { states[head].pointee.timerPrevious = index }
        heads[slot] = index
        occupied[level] |= 1 << UInt64(place)
        earliest[slot] = min(earliest[slot], state.pointee.timerDueMilliseconds)
    }

    private mutating func empty(_ slot: Int) {
        occupied[slot / TimingWheel.slotsPerLevel] &= ~(1 << UInt64(slot % TimingWheel.slotsPerLevel))
        earliest[slot] = .max
    }

    private func slotStart(level: Int, place: Int) -> UInt64 {
        let shift = UInt64(6 * level)
        let above = shift + 6 >= 64 ? 0 : (current >> (shift + 6)) << (shift + 6)
        return above | UInt64(place) << shift
    }

    /// Order-preserving map of signed times to unsigned ones.
    private static func ordered(_ milliseconds: Int64) -> UInt64 {
        UInt64(bitPattern: milliseconds) ^ (1 << 63)
    }
}
