/// A request between its submission and its report.
struct Flight {
    /// Of the job.
    var identifier: UInt64
    var submittedAtMilliseconds: Int64
    /// Of the provider token that it carries.
    var bearerGeneration: UInt32
}

/// What is under way: one flat piece of memory, in which a flight is found by its number. Numbers are used again, the last one first.
final class FlightTable {
    private struct Entry {
        var flight: Flight
        /// Of a free one: the next that is free, or −1.
        var nextFree: Int
        var isFree: Bool
    }

    private var entries: UnsafeMutablePointer<Entry>
    private var capacity: Int
    private var used = 0
    private var firstFree = -1
    private(set) var count = 0

    init(capacity: Int = 64) {
        self.capacity = capacity
        entries = .allocate(capacity: capacity)
    }

    deinit { entries.deallocate() }

    /// - Returns: its number.
    func insert(_ flight: Flight) -> UInt64 {
        let place: Int
        if firstFree >= 0 {
            place = firstFree
            firstFree = entries[place].nextFree
        } else {
            if used == capacity { grow() }
            place = used
            used += 1
        }
        (entries + place).initialize(to: Entry(flight: flight, nextFree: -1, isFree: false))
        count += 1
        return UInt64(place)
    }

    func flight(_ number: UInt64) -> Flight {
        check(number)
        return entries[Int(number)].flight
    }

    func remove(_ number: UInt64) -> Flight {
        check(number)
        let place = Int(number)
        entries[place].isFree = true
        entries[place].nextFree = firstFree
        firstFree = place
        count -= 1
        return entries[place].flight
    }

    private func check(_ number: UInt64) {
        precondition(
            number < UInt64(used) && !entries[Int(number)].isFree, "flight \(number) ended twice, or never began")
    }

    private func grow() {
        let larger = UnsafeMutablePointer<Entry>.allocate(capacity: 2 * capacity)
        larger.moveInitialize(from: entries, count: used)
        entries.deallocate()
        entries = larger
        capacity *= 2
    }
}
