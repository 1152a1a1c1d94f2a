import Pacing

/// What happened to a member that people should hear of.
public enum MemberNotice: Sendable, Equatable {
    case claimed(partition: Int32, epoch: Epoch, absenceMilliseconds: Int64?)
    /// It was handed over with these positions, by source: nil for one that nobody has read.
    case released(partition: Int32, positions: [SettledPosition?])
    /// Another member has it.
    case lost(partition: Int32, stage: FencedStage)
    /// The lease could not be renewed in time.
    case lapsed(partition: Int32)
    /// A checkpoint cannot be read: the activity begins anew, and its phone may call updates old.
    case checkpointUnusable(partition: Int32, identifier: [UInt8], CheckpointFault)
    /// The store has forgotten what it had called saved: all that this member has in memory is written again.
    case storeBehind(partition: Int32)
    /// The store has forgotten whose the partition is, and nobody else has it: it is claimed again, and all of it is written again.
    case ownershipForgotten(partition: Int32)
    case storeFailed(StoreFailure, partition: Int32?)
}

/// Where work of a former owner was refused.
public enum FencedStage: String, Sendable, CaseIterable {
    case dispatch, load, save, renew, release
}

/// Counted since the member began.
public struct MemberCounts: Sendable, Equatable {
    public var partitionsClaimed = 0
    public var partitionsReleased = 0
    public var partitionsLost = 0
    public var drainsCutShort = 0
    public var checkpointsSaved = 0
    public var savesAcknowledged = 0
    public var activitiesLoaded = 0
    public var storeFailures = 0
    /// How often the store had forgotten what it had called saved, counted once a partition.
    public var storeSetbacks = 0
    public var checkpointsForced = 0

    public init() {}
}
