import Pacing

/// Before events are applied: their activities have to be in memory, or known not to exist.
extension Member {
    /// So many are looked up side by side.
    private static let keysAhead = 64

    private struct Key {
        let identifier: UnsafeRawBufferPointer
        let isSubject: Bool
        var place: Shard.Place
    }

    /// Has all that the store keeps of these activities loaded, so that events for them may be applied.
    ///
    /// - Parameters:
    ///   - key: of the record at that place: the bytes of its id, and whether it is a subject's.
    ///   - found: is told where the activity of the record at that place was looked for, for `apply`.
    /// - Returns: a ticket for `isPrepared`.
    public func prepare(
        _ count: Int, partition number: Int32, at moment: Moment,
        key: (Int) -> (identifier: UnsafeRawBufferPointer, isSubject: Bool),
        found: (Int, Shard.Place) -> Void = { _, _ in }
    ) -> UInt64 {
        let partition = partitions[Int(number)]
        let shard = shard(of: partition)
        var missing: Set<LoadKey> = []
        var needed: Set<LoadKey>? = mayEvict ? [] : nil
        withUnsafeTemporaryAllocation(of: Key.self, capacity: Member.keysAhead) { keys in
            for begin in stride(from: 0, to: count, by: Member.keysAhead) {
                let ahead = min(Member.keysAhead, count - begin)
                for place in 0..<ahead {
                    let (identifier, isSubject) = key(begin + place)
                    keys.initializeElement(
                        at: place,
                        to: Key(
                            identifier: identifier, isSubject: isSubject, place: shard.prefetchSlot(of: identifier)))
                }
                for place in 0..<ahead { shard.prefetchIdentifier(at: keys[place].place) }
                for place in 0..<ahead where !keys[place].identifier.isEmpty {
                    look(for: &keys[place], shard, &missing, &needed)
                    found(begin + place, keys[place].place)
                }
            }
        }
        let ticket = nextTicket
        nextTicket += 1
        preparations[ticket] = Preparation(
            partition: number, epoch: partition.epoch, isDone: missing.isEmpty, needed: needed)
        // In an order of their own, not in that of a hash that each process draws anew: a simulated world is to be the same twice.
        if !missing.isEmpty { load(missing.sorted(), of: partition, ticket: ticket, moment) }
        return ticket
    }

    private func look(
        for key: inout Key, _ shard: Shard, _ missing: inout Set<LoadKey>, _ needed: inout Set<LoadKey>?
    ) {
        if needed != nil { needed?.insert(LoadKey(identifier: Array(key.identifier))) }
        if shard.needsLoad(key.identifier, at: &key.place) {
            // An activity of a subject's name was loaded with the subject's followers.
            if key.isSubject, !shard.needsLoad(key.identifier, isSubject: true) { return }
            missing.insert(LoadKey(identifier: Array(key.identifier)))
        }
        if key.isSubject, shard.needsLoad(key.identifier, isSubject: true) {
            missing.insert(LoadKey(identifier: Array(key.identifier), isSubject: true))
        }
    }
}
