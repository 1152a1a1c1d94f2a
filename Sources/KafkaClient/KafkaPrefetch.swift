/// How much may be fetched ahead, derived from one memory budget.
///
/// Each partition has a queue of its own, so librdkafka's limits hold for each. A partition's share is budget ÷ partitions. Half of it is
/// where fetching stops (`queued.max.messages.kbytes`); the other half is what the last answer may go beyond it (`max.partition.fetch.bytes`).
/// A record weighs some 300 bytes besides its own in librdkafka 2.0.2, so their number is limited as well (`queued.min.messages`, which in
/// spite of its name is where fetching stops): 512 bytes of the half for each.
///
/// Brokers answer with one batch of records at least, however large its producer made it (KIP-74): where batches are larger than the half, they
/// are what is fetched beyond the first.
///
/// Do not be sparing with it: librdkafka before 2.2 looks only once a second whether a queue that was full has room again, so that a backlog
/// is read at no more than (records a partition + one answer) × partitions a second. A million records of 200 bytes in four partitions took 9 s
/// with 16 MiB and 3 s with 64 MiB or more.
public struct KafkaPrefetch: Equatable, Sendable {
    public let kibibytesAPartition: Int
    public let recordsAPartition: Int
    public let fetchBytesAPartition: Int
    /// Of one answer of a broker, over all partitions.
    public let fetchBytes: Int

    /// - Parameter partitions: at least 1.
    public init(budgetMiB: Int, partitions: Int) {
        let budget = max(1, budgetMiB) << 20
        let half = budget / max(1, partitions) / 2
        kibibytesAPartition = min(max(1, half >> 10), 2_097_151)
        recordsAPartition = min(max(1, half / 512), 100_000)
        fetchBytesAPartition = min(max(1_024, half), 1 << 20)
        fetchBytes = min(max(1 << 20, budget / 4), 50 << 20)
    }
}
