import Pacing

/// The dispatches under way. An identifier holds the place, so that finding one hashes nothing, and a number that no other has, so that
/// one that was completed is not found again.
struct FlightTable {
    private struct Place {
        var dispatch: Dispatch?
        // Of the dispatch, so that it need not be in the cache to be told from others and to look ahead for it.
        var identifier: UInt64 = 0
        var address = UnsafeRawPointer(bitPattern: 0)
        var shard = 0
        var ticket: Ticket?
    }

    /// So many at the same time: the streams of all links are fewer by far.
    private static let placeBits: UInt64 = 24

    private var places: [Place] = []
    private var free: [Int] = []
    private var newest: UInt64 = 0

    var count: Int { places.count - free.count }
    var isEmpty: Bool { count == 0 }

    /// - Parameter make: is given the identifier.
    mutating func add(_ make: (UInt64) -> Dispatch) -> Dispatch {
        newest += 1
        if free.isEmpty {
            precondition(places.count < 1 << FlightTable.placeBits, "\(places.count) dispatches are under way")
            free.append(places.count)
            places.append(Place())
        }
        let place = free.removeLast()
        let identifier = newest << FlightTable.placeBits | UInt64(place)
        let dispatch = make(identifier)
        places[place] = Place(
            dispatch: dispatch, identifier: identifier,
            address: UnsafeRawPointer(Unmanaged.passUnretained(dispatch).toOpaque()), shard: dispatch.shard,
            ticket: dispatch.update.ticket)
        return dispatch
    }

    /// Each identifier is found once.
    mutating func remove(_ identifier: UInt64) -> Dispatch? {
        guard let place = place(of: identifier) else { return nil }
        defer {
            places[place] = Place()
            free.append(place)
        }
        return places[place].dispatch
    }

    /// Where completing it will look: the dispatch's address, to look ahead and not to read, and what it was taken from.
    func whereabouts(_ identifier: UInt64) -> (address: UnsafeRawPointer, shard: Int, ticket: Ticket)? {
        guard let place = place(of: identifier), let address = places[place].address,
            let ticket = places[place].ticket
        else { return nil }
        return (address, places[place].shard, ticket)
    }

    private func place(of identifier: UInt64) -> Int? {
        let place = Int(identifier & (1 << FlightTable.placeBits - 1))
        return place < places.count && places[place].dispatch != nil && places[place].identifier == identifier
            ? place : nil
    }
}
