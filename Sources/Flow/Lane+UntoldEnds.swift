import Pacing

/// Ends of which no phone will hear, where the settings of its shards ask for them.
extension Lane {
    /// Those of one partition since the last call: to be asked for before what is known of it is saved.
    public func takeUntoldEnds(of partition: Int32) -> [UntoldEnd] {
        knownShard(of: partition).map { shards[$0].takeUntoldEnds() } ?? []
    }

    /// Those of all partitions since the last call.
    public func takeUntoldEnds(_ body: (_ partition: Int32, UntoldEnd) -> Void) {
        for index in shards.indices {
            for end in shards[index].takeUntoldEnds() { body(standings[index].partition, end) }
        }
    }
}
