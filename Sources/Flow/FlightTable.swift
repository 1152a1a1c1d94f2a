/// The dispatches under way. An identifier holds the place, so that finding one hashes nothing, and a number that no other has, so that
/// one that was completed is not found again.
struct FlightTable {
    /// So many at the same time: the streams of all links are fewer by far.
    private static let placeBits: UInt64 = 24

    private var places: [Dispatch?] = []
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
            places.append(nil)
        }
        let place = free.removeLast()
        let dispatch = make(newest << FlightTable.placeBits | UInt64(place))
        places[place] = dispatch
        return dispatch
    }

    /// Each identifier is found once.
    mutating func remove(_ identifier: UInt64) -> Dispatch? {
        let place = Int(identifier & (1 << FlightTable.placeBits - 1))
        guard place < places.count, let dispatch = places[place], dispatch.identifier == identifier else { return nil }
        places[place] = nil
        free.append(place)
        return dispatch
    }
}
