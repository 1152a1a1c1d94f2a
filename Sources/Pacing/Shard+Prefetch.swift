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

    /// Starts to load what taking the next ready activities will read: the record of the one behind `index`, whose state was begun with the
    /// take before this one, and the state of the one behind that.
    func prefetchReady(after index: UInt32) {
        let next = state(index).pointee.readyNext
        guard next != ActivitySlab.noIndex else { return }
        let record = slab.records[next]
        let stored = UnsafeRawPointer(record)
        Memory.prefetch(stored)
        Memory.prefetch(stored + 64)
        let afterNext = state(next).pointee.readyNext
        guard afterNext != ActivitySlab.noIndex else { return }
        let state = UnsafeRawPointer(state(afterNext))
        Memory.prefetch(state)
        Memory.prefetch(state + 64)
    }
}
