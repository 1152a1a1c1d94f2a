/// Where an event stands: in which of the sources that feed its partition, and at which place there. Places of different sources say nothing
/// about each other.
struct Origin: Equatable {
    /// A partition is fed by at most so many.
    static let maxSources = 8
    /// Of an event that has no place.
    static let none = Origin(offset: -1, source: 0)

    var offset: Int64
    var source: UInt8

    var isKnown: Bool { offset >= 0 }
}

extension Shard {
    /// The most sources that may feed one partition.
    public static var maxSources: Int { Origin.maxSources }

    /// The largest offset of that source that was applied to the activity; −1 for none.
    func lastOffset(_ index: UInt32, source: UInt8) -> Int64 {
        if source == 0 { return state(index).pointee.lastOffset }
        guard let others = record(index).stored.pointee.extras?.otherOffsets, others.count >= Int(source) else {
            return -1
        }
        return others[Int(source) - 1]
    }

    func noteOffset(_ index: UInt32, _ origin: Origin) {
        guard origin.source > 0 else {
            state(index).pointee.lastOffset = max(state(index).pointee.lastOffset, origin.offset)
            return
        }
        guard origin.offset > lastOffset(index, source: origin.source) else { return }
        let extras = record(index).extras
        while extras.otherOffsets.count < Int(origin.source) { extras.otherOffsets.append(-1) }
        extras.otherOffsets[Int(origin.source) - 1] = origin.offset
    }
}
