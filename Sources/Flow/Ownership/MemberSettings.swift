/// What a member of a group has to know. All members of a group have the same partitions, sources and lease.
public struct MemberSettings: Sendable {
    /// Its own among the members that live at the same time.
    public var name: String
    public var partitions: Int
    /// Topics that feed each partition.
    public var sources = 1
    /// Whether partitions are assigned to it, as by a consumer group of Kafka; else members spread them among themselves.
    public var isAssigned = false
    /// Whether a store that was emptied leaves nothing to be read again, so that memory is all there is: streams in the same Redis are gone with
    /// it, and a group of Kafka goes on at its committed offset, which is where memory is. Else the log is read from its first record.
    public var keepsMemoryOfEmptiedStore = false
    /// For so long a partition stays with an owner that says nothing any more.
    public var leaseMilliseconds: Int64 = 10_000
    /// How often a member says that it lives, and looks who else does.
    public var beatMilliseconds: Int64 = 250
    /// How long pushes under way are waited for before a partition is handed over.
    public var drainTimeoutMilliseconds: Int64 = 5_000
    /// What is not settled after so long, or so many records, is written into checkpoints, so that the position may pass it.
    public var maxUncommittedAgeMilliseconds: Int64 = 120_000
    public var maxUncommittedRecords: Int64 = 1_000_000
    /// Beyond so many, settled activities that rest leave memory until their next event.
    public var maxActivities = 2_000_000

    public init(name: String, partitions: Int) {
        self.name = name
        self.partitions = partitions
    }

    /// A member that could not renew its lease for so long sends nothing more.
    public var sendingMilliseconds: Int64 { leaseMilliseconds * 2 / 3 }
    public var renewalMilliseconds: Int64 { max(1, leaseMilliseconds / 4) }
    /// After a store that failed, the same is asked again no sooner.
    var retryMilliseconds: Int64 { max(20, min(1_000, leaseMilliseconds / 20)) }
}
