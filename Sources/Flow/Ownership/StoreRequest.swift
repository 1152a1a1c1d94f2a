import Pacing

/// Counts the owners of a partition: who was given a higher one owns it, and nobody with a lower one may write, commit or send.
public typealias Epoch = UInt64

/// What a member asks of the store that all members of its group share. Each request is answered exactly once, those about one partition in
/// the order in which they were made. Whatever carries an epoch may be answered with `lost` or `forgotten`, everything with `failed`.
public enum StoreRequest: Sendable {
    /// Says that this member lives, and asks who else does. Answer: `alive`.
    case beat
    /// Says that this member leaves, so that nobody waits for it. Answer: `left`.
    case leave
    /// Takes a partition that nobody holds. Answer: `claimed`, `held`.
    case claim(partition: Int32)
    /// Answer: `renewed`; `behind`, the lease being renewed all the same.
    ///
    /// `acknowledged` is the serial of the newest batch of which the store has said in this epoch that it is saved, 0 for none.
    case renew(partition: Int32, Epoch, acknowledged: UInt64 = 0)
    /// Lets go of a partition, all of it having been saved. Answer: `released`, `behind`.
    case release(partition: Int32, Epoch, acknowledged: UInt64 = 0)
    /// What is kept of activities that are not in memory. Answer: `loaded`.
    case load(partition: Int32, Epoch, [LoadKey])
    /// What is kept of the activities whose time comes from `fromMilliseconds` through `throughMilliseconds`, both included, the earliest
    /// first, at most `limit` of them. Answer: `loaded`.
    case loadDue(partition: Int32, Epoch, fromMilliseconds: Int64, throughMilliseconds: Int64, limit: Int)
    /// Writes checkpoints and how far the partition is settled, all or nothing; nothing where a batch of the same epoch with the same or a
    /// higher serial was written. Answer: `saved`, `behind`.
    case save(partition: Int32, Epoch, CheckpointBatch)

    public var partition: Int32? {
        switch self {
        case .beat, .leave: nil
        case .claim(let partition), .renew(let partition, _, _), .release(let partition, _, _),
            .load(let partition, _, _),
            .loadDue(let partition, _, _, _, _), .save(let partition, _, _):
            partition
        }
    }
}

/// Whose checkpoint is asked for: the bytes of an id as events carry it.
public struct LoadKey: Hashable, Comparable, Sendable {
    public let identifier: [UInt8]
    /// A subject's own id: asked for are all activities that follow it.
    public let isSubject: Bool

    public init(identifier: [UInt8], isSubject: Bool = false) {
        self.identifier = identifier
        self.isSubject = isSubject
    }

    public static func < (left: LoadKey, right: LoadKey) -> Bool {
        if left.isSubject != right.isSubject { return right.isSubject }
        return left.identifier.lexicographicallyPrecedes(right.identifier)
    }
}

public enum StoreAnswer: Sendable {
    /// Names of all members that live, this one included; whether the store did not know this one before.
    case alive(members: [String], isNew: Bool = false)
    case left
    case claimed(Claim)
    /// Another member holds it; its lease ends by itself after so long.
    case held(byMember: String, forMilliseconds: Int64)
    case renewed
    case released
    /// One for each checkpoint found, in any order; none for what is not kept.
    case loaded([LoadedCheckpoint])
    case saved
    /// A newer owner has the partition, or the lease has lapsed: nothing was written.
    case lost
    /// The store has forgotten batches that it called saved, as after a fail-over: it knows none with the serial that was acknowledged. Nothing
    /// was written.
    case behind
    /// The store has forgotten that it gave the partition to this member, and nobody has it since: it was emptied, or came back with older data.
    /// Nothing was written.
    case forgotten
    case failed(StoreFailure)
}

public struct Claim: Sendable {
    public let epoch: Epoch
    /// How far each source of the partition is settled, in the order of the sources; nil for one that nobody has read.
    public let positions: [SettledPosition?]
    /// How long ago an owner last said that it lives, nil where there was none.
    public let absenceMilliseconds: Int64?

    public init(epoch: Epoch, positions: [SettledPosition?], absenceMilliseconds: Int64?) {
        self.epoch = epoch
        self.positions = positions
        self.absenceMilliseconds = absenceMilliseconds
    }
}

public struct LoadedCheckpoint: Sendable {
    public let identifier: [UInt8]
    public let bytes: [UInt8]
    /// When time alone will change something, Unix milliseconds, as it was saved; nil where that was not asked for.
    public let dueMilliseconds: Int64?

    public init(identifier: [UInt8], bytes: [UInt8], dueMilliseconds: Int64? = nil) {
        self.identifier = identifier
        self.bytes = bytes
        self.dueMilliseconds = dueMilliseconds
    }
}

/// Why the store did not do what it was asked. Nothing was written, or nobody knows whether it was; the same request may be made again.
public enum StoreFailure: Error, Equatable, Sendable {
    /// Out of reach, or it did not answer in time: whether it was done is unknown.
    case unavailable
    /// Its memory is full, or it only reads: nothing was done.
    case refusesWrites
    /// Wrong password, a missing right, a key of another type: nothing was done, and it will not help to ask again before somebody mends it.
    case misconfigured
}
