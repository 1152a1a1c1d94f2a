/// Where commands of each slot are under way, so that those of one slot are answered in the order in which they were asked for, also while the
/// slot moves: a later one goes to the new node only when the old one has answered all before it.
struct SlotOrder {
    private struct Place {
        let address: RedisAddress
        var count: Int
    }

    private var places: [HashSlot: Place] = [:]

    func allows(_ slot: HashSlot?, at address: RedisAddress) -> Bool {
        guard let slot, let place = places[slot] else { return true }
        return place.address == address
    }

    mutating func sent(_ slot: HashSlot?, to address: RedisAddress) {
        guard let slot else { return }
        places[slot, default: Place(address: address, count: 0)].count += 1
    }

    /// True when nothing of the slot is under way any more.
    mutating func ended(_ slot: HashSlot?) -> Bool {
        guard let slot, var place = places[slot] else { return false }
        place.count -= 1
        places[slot] = place.count > 0 ? place : nil
        return place.count == 0
    }
}
