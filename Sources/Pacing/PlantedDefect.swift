#if PLANTED_DEFECTS
    /// Wrong behaviour that the fault simulation has to find; it exists in debug builds alone.
    package enum PlantedDefect: String, CaseIterable, Sendable {
        /// An update that takes the place of a waiting retry takes its number as well.
        case sequenceReused = "sequence-reused"
        /// What was sent counts as shown, whatever the answer says.
        case shownBeforeAccepted = "shown-before-accepted"
        /// After an urgent update the cadence bucket counts as full.
        case bucketFullAfterUrgent = "bucket-full-after-urgent"
        /// The end does not wait for the answer of the update in flight.
        case endOvertakes = "end-overtakes"
        /// Two pushes within a second carry the same timestamp.
        case timestampTwice = "timestamp-twice"
        /// A retry leaves though something newer waits.
        case supersededSent = "superseded-sent"
    }
#endif
