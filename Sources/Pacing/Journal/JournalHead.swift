import Telemetry

/// Of one activity, what a position inside the deadband touches of its journal: half a cache line.
struct JournalHead {
    /// Place of the activity in its shard.
    var index: UInt32
    /// Number of the shard, from 1; 0 where nobody has this head.
    var shard: UInt16
    /// Positions inside the deadband since the last entry that ended a phase.
    var runCount: UInt16
    // Milliseconds, the lowest 32 bits: enough to tell times of the last 49 days.
    var runFirst: UInt32
    var runLast: UInt32
    /// Of the run's positions, square metres; `thresholdMeters` is the farthest one's.
    var farthestSquared: Float
    var thresholdMeters: Float
    /// Metres that a degree of longitude has, where the run began, by those of a degree of latitude.
    var cosine: Float
    var entries: UInt16
    var marks: UInt16

    /// From the beginning on, as far as this process saw it, everything was written down.
    static let isWhole: UInt16 = 1

    static let metersPerDegree = Float(Coordinate.earthRadiusMeters * Double.pi / 180)
}

/// The rest of it, which entries touch.
struct JournalTail {
    var oldest: UInt32
    var newest: UInt32
    /// The first entry of the phase that goes on: what is alike within a phase is one entry.
    var phase: UInt32
    var began: Int48
    /// When an entry was written last, the lowest 32 bits.
    var written: UInt32
}

/// Where a shard writes: plain values, so that asking counts no reference.
struct JournalDoor {
    /// Two heads a line; nil where nothing is to be written.
    let heads: UnsafeMutablePointer<JournalHead>?
    let lineMask: UInt32
    /// Shards begin at different lines. Within one, indices are dense, so that line by line is the evenest spread.
    let firstLine: UInt32
    let shard: UInt16

    static var closed: JournalDoor { JournalDoor(heads: nil, lineMask: 0, firstLine: 0, shard: 0) }

    /// The first of the two heads that the activity may have.
    @inline(__always) func line(_ index: UInt32) -> UnsafeMutablePointer<JournalHead>? {
        heads.map { $0 + 2 * Int((index &+ firstLine) & lineMask) }
    }

    /// The head that the activity has.
    @inline(__always) func head(_ index: UInt32) -> UnsafeMutablePointer<JournalHead>? {
        guard let line = line(index) else { return nil }
        if line.pointee.index == index, line.pointee.shard == shard { return line }
        if line[1].index == index, line[1].shard == shard { return line + 1 }
        return nil
    }
}
