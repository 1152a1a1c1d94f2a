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

/// What the position path touches of an activity: flat, two cache lines, nothing counted by reference.
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

    // One line: where it is, and what it has heard.
    /// The newest position taken, and what the phone was last told.
    var latest = Fix.none
    var shown = Fix.none
    private var latestTimestamp = Int48.min
    var rules: UInt16 = 0
    /// The largest source offset applied; −1 for none.
    var lastOffset: Int64 = -1

    // The other: who it is, and what time will do.
    /// None for a free slot.
    var identifier = StoredIdentifier.none
    var flags: Flags = []
    private var quietUntil = Int48.max
    private var timerDue = Int48.max
    private var startOrderBits = Int48(0)
    var pool: UInt16 = 0
    /// `timerSlot` in twelve bits, above it what spares the position path a look at the record.
    private var timerSlotAndMarks: UInt16 = 0
    /// Of a free slot: the next one.
    var timerNext = ActivitySlab.noIndex
    var timerPrevious = ActivitySlab.noIndex
    var readyNext = ActivitySlab.noIndex
    var readyPrevious = ActivitySlab.noIndex
}

extension ActivityState {
    /// Event time of `latest`; `Int64.min` for none.
    var latestTimestampMilliseconds: Int64 {
        get { latestTimestamp.value }
        set { latestTimestamp = Int48(newValue) }
    }

    /// From here on refresh and the stale rule may give a reason; until then a position inside the deadband cannot.
    var quietUntilMilliseconds: Int64 {
        get { quietUntil.value }
        set { quietUntil = Int48(newValue) }
    }

    var timerDueMilliseconds: Int64 {
        get { timerDue.value }
        set { timerDue = Int48(newValue) }
    }

    /// Where in the wheel its timer stands; 704 places there are.
    var timerSlot: UInt16 {
        get { timerSlotAndMarks & 0xfff }
        set { timerSlotAndMarks = timerSlotAndMarks & ~0xfff | (newValue & 0xfff) }
    }

    /// What the newest position was is forgotten: the next one need not fit to it.
    var isAnchorForgotten: Bool {
        get { timerSlotAndMarks & 1 << 15 != 0 }
        set { mark(15, newValue) }
    }

    /// Set with each update that gets under way, and never wrong where it is not set; whoever finds none may take it back.
    var mayHaveFlight: Bool {
        get { timerSlotAndMarks & 1 << 14 != 0 }
        set { mark(14, newValue) }
    }

    private mutating func mark(_ bit: UInt16, _ isSet: Bool) {
        timerSlotAndMarks = timerSlotAndMarks & ~(1 << bit) | (isSet ? 1 << bit : 0)
    }

    var startOrder: Int64 {
        get { startOrderBits.value }
        set { startOrderBits = Int48(newValue) }
    }
}
