extension Shard {
    /// Where an id is looked for: what the two steps of a prefetch hand on.
    public struct Place: Sendable {
        fileprivate let hash: UInt32
    }

    /// The first step of a prefetch: starts to load the place in the table where `identifier` is looked for.
    ///
    /// Among very many activities nearly each event waits for memory several times. Whoever has a batch of events, some dozens, takes
    /// the first step for each, then the second for each, then applies them in order: the waits then overlap. It changes nothing, and
    /// an event may be applied without it, or not at all after it.
    public func prefetchSlot(of identifier: UnsafeRawBufferPointer) -> Place {
        let place = Place(hash: activities.hash(of: identifier))
        activities.prefetch(place.hash)
        return place
    }

    /// The second step: starts to load what applying a position to the activity reads.
    public func prefetchState(at place: Place) {
        guard let index = activities.firstCandidate(place.hash) else { return }
        let state = UnsafeRawPointer(state(index))
        Memory.prefetch(state)
        Memory.prefetch(state + 64)
        guard let ring = slab.ring(index) else { return }
        Memory.prefetch(ring)
        Memory.prefetch(UnsafeRawPointer(ring) + 64)
    }
}
