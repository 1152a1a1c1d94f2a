extension Shard {
    /// Where an id is looked for, and where it was found: what looking ahead hands on, so that an id is hashed once.
    public struct Place: Sendable {
        let hash: UInt32
        /// Where its activity lay when it was found; none before that.
        var index = ActivitySlab.noIndex
    }

    func place(of identifier: UnsafeRawBufferPointer) -> Place { Place(hash: activities.hash(of: identifier)) }

    /// The first step of a prefetch: starts to load the place in the table where `identifier` is looked for.
    ///
    /// Among very many activities nearly each event waits for memory several times. Whoever has a batch of events, some dozens, takes
    /// the first step for each, then the second for each, then applies them in order: the waits then overlap. It changes nothing, and
    /// an event may be applied without it, or not at all after it.
    public func prefetchSlot(of identifier: UnsafeRawBufferPointer) -> Place {
        let place = place(of: identifier)
        activities.prefetch(place.hash)
        return place
    }

    /// The second step: starts to load what applying a position to the activity reads.
    public func prefetchState(at place: Place) {
        guard let index = candidate(place) else { return }
        let state = UnsafeRawPointer(state(index))
        Memory.prefetch(state)
        Memory.prefetch(state + 64)
        if let line = door.line(index) { Memory.prefetch(line) }
        guard let ring = slab.ring(index) else { return }
        Memory.prefetch(ring)
        Memory.prefetch(UnsafeRawPointer(ring) + 64)
    }

    /// Instead of the second step, where nothing but `needsLoad` is asked.
    public func prefetchIdentifier(at place: Place) {
        guard let index = candidate(place) else { return }
        withUnsafePointer(to: &state(index).pointee.identifier) { Memory.prefetch($0) }
    }

    /// Most likely where `find` will find it.
    private func candidate(_ place: Place) -> UInt32? {
        place.index < slab.bound ? place.index : activities.firstCandidate(place.hash)
    }

    /// Starts to load what settling an update will read.
    public func prefetchSettling(_ ticket: Ticket) {
        guard ticket.slot < slab.bound else { return }
        Shard.prefetch(UnsafeRawPointer(state(ticket.slot)), lines: 2)
        Shard.prefetch(UnsafeRawPointer(slab.records[ticket.slot]), lines: 2)
    }

    /// - Parameter lines: cache lines from `address` on; nothing is read.
    public static func prefetch(_ address: UnsafeRawPointer, lines: Int) {
        for line in 0..<lines { Memory.prefetch(address + 64 * line) }
    }

    /// Starts to load what taking the ready activities behind `index` will read. One thing leads to the next, so each take goes one step for
    /// each of the three that follow: the state, the record, and what the record leads to.
    func prefetchReady(after index: UInt32) {
        let first = state(index).pointee.readyNext
        guard first != ActivitySlab.noIndex else { return }
        slab.records[first].pointee.prefetchParts()
        let second = state(first).pointee.readyNext
        guard second != ActivitySlab.noIndex else { return }
        Shard.prefetch(UnsafeRawPointer(slab.records[second]), lines: 2)
        let third = state(second).pointee.readyNext
        guard third != ActivitySlab.noIndex else { return }
        Shard.prefetch(UnsafeRawPointer(state(third)), lines: 2)
    }
}
