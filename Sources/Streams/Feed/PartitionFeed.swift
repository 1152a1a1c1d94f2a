import Flow
import Telemetry

/// Reads one partition of a member, all topics that feed it, from where its owner says that reading goes on. What was read waits in batches:
/// for their activities to be loaded (`unprepared`), then to be applied (`first`).
///
/// Belongs to the thread of the run. It reads ahead by `BatchQueue.most` batches, and by no more: to hold it up is not to take from it.
public protocol PartitionFeed: AnyObject {
    var partition: Int32 { get }
    /// Of the ownership under which it reads.
    var epoch: Epoch { get }
    /// By source, offsets of records that end processes; empty for none. To be known before the first read.
    var poison: [Set<Int64>] { get set }
    /// Why nothing is read at the moment, or not all; nil where that is as it should be.
    var fault: SourceFault? { get }
    /// The oldest batch that was read and is not done with.
    var first: EventBatch? { get }
    /// The oldest batch that waits for its activities to be loaded.
    var unprepared: EventBatch? { get }

    /// The first batch has been applied.
    func finishFirst()

    /// Reads on, if there is room and something to read. To be called often.
    ///
    /// - Parameters:
    ///   - nowMilliseconds: on a clock that never goes back.
    ///   - wallMilliseconds: Unix time.
    func read(nowMilliseconds: Int64, wallMilliseconds: Int64)

    /// How far reading is behind, by source.
    func lags(nowMilliseconds: Int64, wallMilliseconds: Int64) -> [SourceLag]

    /// - Returns: tickets of what was read and will not be applied.
    func close() -> [UInt64]
}

extension PartitionFeed {
    /// Over all sources: their records that are known together, and the age of the oldest.
    public func lag(nowMilliseconds: Int64, wallMilliseconds: Int64) -> SourceLag {
        var sum = SourceLag.unknown
        for lag in lags(nowMilliseconds: nowMilliseconds, wallMilliseconds: wallMilliseconds) {
            if let records = lag.records { sum.records = (sum.records ?? 0) + records }
            sum.milliseconds = max(sum.milliseconds, lag.milliseconds)
        }
        return sum
    }
}

/// How far reading is behind the newest record.
public struct SourceLag: Equatable, Sendable {
    /// Nil where nobody knows.
    public var records: Int64? = 0
    /// Since the oldest record that was not read was written; 0 where all were.
    public var milliseconds: Int64 = 0
    /// The offset that the next record will have; nil where that is not known, or no number.
    public var endOffset: Int64?

    public init() {}

    /// Of what nobody has looked at.
    static var unknown: SourceLag {
        var lag = SourceLag()
        lag.records = nil
        return lag
    }
}
