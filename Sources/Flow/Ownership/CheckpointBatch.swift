/// Checkpoints of one partition that are written together with how far it is settled.
public final class CheckpointBatch: Sendable {
    public struct Entry: Sendable {
        /// Where id and checkpoint lie in `bytes`.
        public let identifier: Range<Int>
        public let checkpoint: Range<Int>
        /// When time alone will change something, Unix milliseconds; nil for never.
        public let dueMilliseconds: Int64?
        /// How long it is kept from now on, nil for ever.
        public let timeToLiveMilliseconds: Int64?
        /// The id of the subject that the activity follows, in `bytes`; empty where it follows none.
        public let subject: Range<Int>
        /// The id of the subject that it followed until now and does so no more, in `bytes`; empty where there is none.
        public let formerSubject: Range<Int>
    }

    public let bytes: [UInt8]
    public let entries: [Entry]
    /// In the order of the sources; nil for one whose position has not changed.
    public let positions: [SettledPosition?]

    public init(bytes: [UInt8], entries: [Entry], positions: [SettledPosition?]) {
        self.bytes = bytes
        self.entries = entries
        self.positions = positions
    }
}
