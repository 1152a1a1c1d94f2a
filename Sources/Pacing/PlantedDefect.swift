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
        /// A checkpoint forgets that the end is still to be told.
        case pendingEndNotWritten = "pending-end-not-written"
        /// A checkpoint forgets that the activity has ended.
        case tombstoneLost = "tombstone-lost"
        /// After a take-over the cadence bucket is full.
        case bucketLost = "bucket-lost"
        /// A push leaves though its partition may have gone to another owner.
        case dispatchNotFenced = "dispatch-not-fenced"
        /// Positions are committed ahead of what is settled.
        case commitAheadOfSettle = "commit-ahead-of-settle"
        /// Positions are committed before the checkpoints that they depend on.
        case cursorBeforeCheckpoint = "cursor-before-checkpoint"
        /// Numbers go on from the last one that was saved, not above the bound.
        case boundNotPersisted = "bound-not-persisted"
        /// A start leaves without a word to the store.
        case intentNotWritten = "intent-not-written"
        /// A start leaves that the registry of tokens has not counted.
        case startUncounted = "start-uncounted"
        /// An update token takes the place of another one whenever they were registered.
        case olderTokenWins = "older-token-wins"
        /// What another activity replaces goes on.
        case replacedGoesOn = "replaced-goes-on"
        /// A partition that the group wants back is kept.
        case revocationUnheeded = "revocation-unheeded"
        /// A partition that another member held is not asked for again.
        case heldIsGivenUp = "held-is-given-up"
    }
#endif
