/// Checkpoints of one partition that are written together with how far it is settled.
public final class CheckpointBatch: Sendable {
    public struct Entry: Sendable {
        /// Where the activity's id and its checkpoint lie in `bytes`.
        public let identifier: Range<Int>
        public let checkpoint: Range<Int>
        /// When time alone will change something, Unix milliseconds; nil for never.
        public let dueMilliseconds: Int64?
        /// How long it is kept from now on, nil for ever.
        public let timeToLiveMilliseconds: Int64?
        /// The id of the subject that the activity follows, in `bytes`; empty where it follows none.
        public let subject: Range<Int>
        /// The id of the subject that it followed until now and follows no more, in `bytes`; empty where there is none.
        public let formerSubject: Range<Int>

        public init(
            identifier: Range<Int>, checkpoint: Range<Int>, dueMilliseconds: Int64? = nil,
            timeToLiveMilliseconds: Int64? = nil, subject: Range<Int> = 0..<0, formerSubject: Range<Int> = 0..<0
        ) {
            self.identifier = identifier
            self.checkpoint = checkpoint
            self.dueMilliseconds = dueMilliseconds
            self.timeToLiveMilliseconds = timeToLiveMilliseconds
            self.subject = subject
            self.formerSubject = formerSubject
        }
    }

    public let bytes: [UInt8]
    public let entries: [Entry]
    /// In the order of the sources; nil for one whose position has not changed.
    public let positions: [SettledPosition?]
    /// Rises with each batch of one ownership: one that was held up on its way must not undo what a later one has written.
    public let serial: UInt64
    /// Serial of the newest batch of which the owner knows that it is saved, 0 for none: a store that has not even that one has forgotten some.
    public let acknowledged: UInt64

    public init(
        bytes: [UInt8], entries: [Entry], positions: [SettledPosition?], serial: UInt64, acknowledged: UInt64 = 0
    ) {
        self.bytes = bytes
        self.entries = entries
        self.positions = positions
        self.serial = serial
        self.acknowledged = acknowledged
    }
}

/// All events of a source up to `offset`, that one included, are settled.
public struct SettledPosition: Equatable, Sendable {
    public var offset: Int64
    /// How many records that were, as far as owners counted them.
    public var records: Int64

    public init(offset: Int64, records: Int64) {
        self.offset = offset
        self.records = records
    }
}
