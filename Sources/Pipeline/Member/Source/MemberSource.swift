import Flow
import Pacing
import Streams

/// What a member of a group reads, and, where somebody else spreads partitions over members, which of them are its own.
///
/// Belongs to the run's thread.
protocol MemberSource: AnyObject {
    var names: SourceNames { get }
    /// Why partitions cannot be had or read at the moment, for readiness; nil where nothing is in the way. What is wrong with one partition
    /// its feed says.
    var hindrance: String? { get }
    /// How the run is to end, where the source has come to its end for good.
    var ending: RunEnding? { get }
    /// After `stop`: nothing is left of it that others would have to wait for.
    var isStopped: Bool { get }

    /// Tells the member what is to be its own, and whoever spreads partitions what was let go. Each turn, once the member fits its group.
    func advance(_ member: Member, at moment: Moment)

    /// - Parameters:
    ///   - after: by topic, where reading goes on; nil where the store has nothing.
    ///   - mark: is told which record is in work.
    func open(_ partition: Int32, epoch: Epoch, after: [SettledPosition?], mark: WorkMark?) -> any PartitionFeed

    /// What whoever spreads partitions knows to be settled: the next offset to read; nil where nobody does.
    func committed(_ partition: Int32, source: Int) -> Int64?

    /// The partition was handed over, settled so far.
    func hear(released partition: Int32, positions: [SettledPosition?])

    /// Leaves whoever spreads partitions; what is owned is asked back first.
    func stop(withinMilliseconds: Int64)

    /// Ends all connections.
    func close()
}
