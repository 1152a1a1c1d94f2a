import Telemetry

/// A position as far as the deadband needs it; NaN in the latitude is none.
struct Fix {
    var latitude: Double
    var longitude: Double
    var accuracyMeters: Double

    static let none = Fix(latitude: .nan, longitude: .nan, accuracyMeters: .nan)

    init(latitude: Double, longitude: Double, accuracyMeters: Double) {
        self.latitude = latitude
        self.longitude = longitude
        self.accuracyMeters = accuracyMeters
    }

    init(_ position: Position) {
        self.init(
            latitude: position.coordinate.latitude, longitude: position.coordinate.longitude,
            accuracyMeters: position.accuracyMeters)
    }

    var exists: Bool { !latitude.isNaN }
    var coordinate: Coordinate { Coordinate(latitude: latitude, longitude: longitude) }

    /// Never below the great-circle distance: the way along a meridian, then along the equator. It spares the trigonometry wherever
    /// it already answers the question; the margin covers the rounding of either formula.
    func distanceBoundMeters(to other: Fix) -> Double {
        let metersPerDegree = Coordinate.earthRadiusMeters * Double.pi / 180
        return 1.000_001 * metersPerDegree
            * ((other.latitude - latitude).magnitude + (other.longitude - longitude).magnitude) + 0.001
    }
}

/// What the position path touches of an activity: flat, at most two cache lines, no reference counted by it.
struct ActivityState {
    struct Flags: OptionSet {
        let rawValue: UInt8

        static let ended = Flags(rawValue: 1 << 0)
        /// An update waits for a gate.
        static let waiting = Flags(rawValue: 1 << 1)
        /// Something but an event changed what the phone shows: judge in full at the next event.
        static let mustJudge = Flags(rawValue: 1 << 2)
        static let hasEventSinceSend = Flags(rawValue: 1 << 3)
        /// A position is held aside.
        static let hasHeld = Flags(rawValue: 1 << 4)
        /// In a ready queue.
        static let ready = Flags(rawValue: 1 << 5)
        static let readyIsUrgent = Flags(rawValue: 1 << 6)
        static let hasTimer = Flags(rawValue: 1 << 7)
    }

    /// The newest position taken, and what the phone was last told.
    var latest = Fix.none
    var shown = Fix.none
    /// Event time of `latest`; `Int64.min` for none.
    var latestTimestampMilliseconds = Int64.min
    /// The largest source offset applied; −1 for none.
    var lastOffset: Int64 = -1
    /// From here on refresh and the stale rule may give a reason; until then a position inside the deadband cannot.
    var quietUntilMilliseconds = Int64.max
    var timerDueMilliseconds = Int64.max
    var startOrder: UInt64 = 0
    /// Owned: released when the activity leaves memory. Nil for a free slot.
    var record: Unmanaged<ActivityRecord>?
    var timerNext = ActivitySlab.noIndex
    var timerPrevious = ActivitySlab.noIndex
    var readyNext = ActivitySlab.noIndex
    var readyPrevious = ActivitySlab.noIndex
    var rules: UInt16 = 0
    var pool: UInt16 = 0
    var timerSlot: UInt16 = 0
    var flags: Flags = []
}

/// All activity states of a shard, addressed by a 32-bit index that stays while the activity lives.
struct ActivitySlab: ~Copyable {
    static let noIndex = UInt32.max

    private(set) var states: UnsafeMutablePointer<ActivityState>
    private var capacity = 16
    private var used = 0
    private var free: [UInt32] = []

    init() {
        states = .allocate(capacity: capacity)
    }

    deinit {
        for index in 0..<used { states[index].record?.release() }
        states.deallocate()
    }

    var byteCount: Int { capacity * MemoryLayout<ActivityState>.stride }
    /// All indices ever given out lie below.
    var bound: UInt32 { UInt32(used) }

    func isInUse(_ index: UInt32) -> Bool { Int(index) < used && states[Int(index)].record != nil }

    mutating func allocate() -> UInt32 {
        if let index = free.popLast() {
            states[Int(index)] = ActivityState()
            return index
        }
        if used == capacity {
            let grown = UnsafeMutablePointer<ActivityState>.allocate(capacity: capacity * 2)
            grown.moveInitialize(from: states, count: used)
            states.deallocate()
            states = grown
            capacity *= 2
        }
        (states + used).initialize(to: ActivityState())
        used += 1
        return UInt32(used - 1)
    }

    mutating func release(_ index: UInt32) {
        states[Int(index)].record?.release()
        states[Int(index)].record = nil
        free.append(index)
    }
}
