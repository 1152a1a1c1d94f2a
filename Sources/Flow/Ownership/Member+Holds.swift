/// What somebody else has to keep before a position may pass it: a record that cannot be used, until it lies with the dead letters.
extension Member {
    /// No stored position passes that record before it is released, or the partition gone. Whoever owns the partition then reads it again.
    ///
    /// To be called in the order of offsets, and before the next `advance` after the record was applied.
    public func hold(partition: Int32, source: Int, offset: Int64) {
        let partition = partitions[Int(partition)]
        guard partition.isOwned else { return }
        partition.sources[source].holds.append(offset)
    }

    /// - Parameter epoch: under which it was held. What an owner before this one held is not held any more.
    public func release(partition: Int32, source: Int, offset: Int64, epoch: Epoch) {
        let partition = partitions[Int(partition)]
        guard partition.isOwned, (partition.firstEpoch...partition.epoch).contains(epoch),
            let place = partition.sources[source].holds.firstIndex(of: offset)
        else { return }
        partition.sources[source].holds.remove(at: place)
    }

    /// How many records are held so.
    public func holds(partition: Int32, source: Int) -> Int { partitions[Int(partition)].sources[source].holds.count }
}
