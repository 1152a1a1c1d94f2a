import Telemetry

/// What every activity has besides its state, flat: 104 bytes in a slab. A send touches it, a position inside the deadband does not.
struct StoredRecord {
    struct Flags: OptionSet {
        let rawValue: UInt16

        /// Its `activity.started` named a token or a channel: the phone shows that event's content-state.
        static let beganOnPhone = Flags(rawValue: 1 << 0)
        /// Begun by its first event, without an `activity.started` so far.
        static let lacksStart = Flags(rawValue: 1 << 1)
        static let hasBeenSent = Flags(rawValue: 1 << 2)
        static let hadTarget = Flags(rawValue: 1 << 3)
        /// `plan` alone: it began without a start, and so has a target throughout this life.
        static let isTargetAssumed = Flags(rawValue: 1 << 4)
        static let hasShown = Flags(rawValue: 1 << 5)
        static let frequentUpdates = Flags(rawValue: 1 << 6)
        static let waitingIsUrgent = Flags(rawValue: 1 << 7)
        /// The target is a start token, and the `start` is still to be sent.
        static let isStarting = Flags(rawValue: 1 << 8)
        /// The end is still to be sent.
        static let isEnding = Flags(rawValue: 1 << 9)
        /// Something had been shown, and is to be told again: the target was replaced, or an owner before may have told something since.
        static let isRetargeting = Flags(rawValue: 1 << 10)
        /// The target of now counts among those that were known.
        static let knowsTarget = Flags(rawValue: 1 << 11)
        /// `life` tells of the end.
        static let isOver = Flags(rawValue: 1 << 12)
        static let hasDifference = Flags(rawValue: 1 << 13)
        /// Stands in the list of those that are to be saved.
        static let isUnsaved = Flags(rawValue: 1 << 14)
        /// To be begun by push, through a start token of its user that is not known so far.
        static let awaitsStartToken = Flags(rawValue: 1 << 15)
    }

    // The newest truth, and what the phone was told. (The positions are in the state.) These three stand first: `prefetchParts`.
    var latestContent = ContentState()
    var shownContent = ContentState()
    /// Nil while all of it is as at the beginning.
    var extras: ActivityExtras?
    var target: PushTarget?
    // In this order the small ones leave no gaps.
    var flags: Flags = []
    /// Index of the subject that it follows.
    var subject = ActivitySlab.noIndex
    /// At most one a second: 32 bits last for 136 years.
    var sequence: UInt32 = 0
    /// Until the year 2106; 0 for none.
    var lastTimestampSeconds: UInt32 = 0
    /// Place in the vocabulary.
    var attributesType = Vocabulary.none
    /// Fields that a `status` or `activity.started` set since the last send: place in the vocabulary.
    var setFields = Vocabulary.none
    /// Of `latestContent` and `shownContent`, with the position parts for which it holds.
    var difference: ContentDifference = []
    var differenceWritten: PositionSources = []
    /// `numbersLeft` in seven bits, `savesNextEvent` in the eighth.
    private var numbersAndMark: UInt8 = 0
    var bucket: CadenceBucket
    /// When this life began, none while an activity that is to be begun by push was not sent; after its end, the last that it did.
    var life = Int48.min
    var targetRegisteredAt = Int48.min
    var lastSentAt = Int48.min

    init(bucket: CadenceBucket) {
        self.bucket = bucket
    }

    /// How many sequence numbers may be used before the store has to promise more, at most 127.
    var numbersLeft: UInt8 {
        get { numbersAndMark & 0x7f }
        set { numbersAndMark = numbersAndMark & 0x80 | min(newValue, 0x7f) }
    }

    /// Whoever restored it would take what the store has for the newest there is: the next event has to be saved, though it may give no reason
    /// to tell anybody.
    var savesNextEvent: Bool {
        get { numbersAndMark & 0x80 != 0 }
        set { numbersAndMark = numbersAndMark & 0x7f | (newValue ? 0x80 : 0) }
    }

    /// Starts to load the contents and the extras.
    mutating func prefetchParts() {
        // Each is one reference, read as a number: to take a reference would count it, and so wait for what is to be loaded.
        withUnsafeBytes(of: &self) { bytes in
            for word in 0..<3 {
                let address = bytes.load(fromByteOffset: word * MemoryLayout<UInt>.size, as: UInt.self)
                if let address = UnsafeRawPointer(bitPattern: address) { Shard.prefetch(address, lines: 2) }
            }
        }
    }
}
