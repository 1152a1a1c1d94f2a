/// Spreads partitions over the members of a group, as a broker of Kafka and the assignor of a consumer group do between them, in the plainest
/// form: each call is one instant. It knows members by what they last said, and keeps the positions that they commit.
struct GroupCoordinator {
    enum Message {
        case assigned([Int])
        /// Wanted back: the group waits for it.
        case revoked([Int])
        /// The group does not know the member any more.
        case lost
    }

    private struct Seat {
        let membership: UInt64
        var heardAtMilliseconds: Int64
        var owned: Set<Int> = []
        /// Wanted back and not released so far, at the latest by then.
        var owed: Set<Int> = []
        var owedByMilliseconds = Int64.max
        /// Heard of the round under way, where all is given back before.
        var isCalled = false
    }

    /// What may be wrong with what it is told, to see whether that is noticed: positions that were read, and not those that the store has
    /// acknowledged.
    static let defect = "group-commit-ahead-of-store"

    let partitions: Int
    /// All is given back in each round; else only what moves.
    let isEager: Bool
    let sessionMilliseconds: Int64
    let releaseMilliseconds: Int64
    private var seats: [Int: Seat] = [:]
    private(set) var generation = 0
    /// Somebody came, went or released something: all who live join anew.
    private var roundSinceMilliseconds: Int64?
    /// The next offset that is to be read, by partition and source; nil where nothing was committed.
    private(set) var committed: [[Int64?]]

    init(
        partitions: Int, sources: Int, isEager: Bool, sessionMilliseconds: Int64, releaseMilliseconds: Int64
    ) {
        self.partitions = partitions
        self.isEager = isEager
        self.sessionMilliseconds = sessionMilliseconds
        self.releaseMilliseconds = releaseMilliseconds
        committed = Array(repeating: Array(repeating: nil, count: sources), count: partitions)
    }

    // MARK: What members say

    /// - Returns: whether it is known.
    mutating func hear(_ node: Int, _ membership: UInt64, atMilliseconds now: Int64) -> Bool {
        guard seats[node]?.membership == membership else { return false }
        seats[node]?.heardAtMilliseconds = now
        return true
    }

    mutating func join(_ node: Int, _ membership: UInt64, atMilliseconds now: Int64) {
        seats[node] = Seat(membership: membership, heardAtMilliseconds: now)
        callRound(now)
    }

    mutating func leave(_ node: Int, _ membership: UInt64, atMilliseconds now: Int64) {
        guard seats[node]?.membership == membership else { return }
        seats[node] = nil
        callRound(now)
    }

    mutating func release(_ node: Int, _ membership: UInt64, _ released: [Int], atMilliseconds now: Int64) {
        guard seats[node]?.membership == membership else { return }
        seats[node]?.owned.subtract(released)
        seats[node]?.owed.subtract(released)
        callRound(now)
    }

    func takesCommits(of node: Int, _ membership: UInt64, generation: Int) -> Bool {
        seats[node]?.membership == membership && generation == self.generation
    }

    mutating func commit(partition: Int, source: Int, next offset: Int64) { committed[partition][source] = offset }

    /// It was away itself: nobody is blamed for having said nothing.
    mutating func comeBack(atMilliseconds now: Int64) {
        for node in seats.keys { seats[node]?.heardAtMilliseconds = now }
    }

    // MARK: Rounds

    private mutating func callRound(_ now: Int64) { roundSinceMilliseconds = roundSinceMilliseconds ?? now }

    /// - Returns: what members are to hear.
    mutating func advance(toMilliseconds now: Int64) -> [(node: Int, message: Message)] {
        expire(now)
        guard let since = roundSinceMilliseconds else { return [] }
        var messages: [(Int, Message)] = []
        if isEager {
            for node in seats.keys.sorted() {
                guard let seat = seats[node], !seat.isCalled, seat.heardAtMilliseconds >= since else { continue }
                seats[node]?.isCalled = true
                if !seat.owned.isEmpty { messages.append((node, take(seat.owned, from: node, now))) }
            }
        }
        let areAllHere = seats.values.allSatisfy {
            $0.heardAtMilliseconds >= since && $0.owed.isEmpty && ($0.isCalled || !isEager)
        }
        return areAllHere ? messages + spread(now) : messages
    }

    /// Who said nothing for a session, or did not give back in time, is a member no more.
    private mutating func expire(_ now: Int64) {
        for (node, seat) in seats
        where now - seat.heardAtMilliseconds > sessionMilliseconds || now >= seat.owedByMilliseconds {
            seats[node] = nil
            callRound(now)
        }
    }

    private mutating func take(_ wanted: Set<Int>, from node: Int, _ now: Int64) -> Message {
        seats[node]?.owed = wanted
        seats[node]?.owedByMilliseconds = now + releaseMilliseconds
        return .revoked(wanted.sorted())
    }

    private mutating func spread(_ now: Int64) -> [(Int, Message)] {
        generation += 1
        roundSinceMilliseconds = nil
        let targets = isEager ? ranges() : balanced()
        let taken = seats.values.reduce(into: Set<Int>()) { $0.formUnion($1.owned) }
        var messages: [(Int, Message)] = []
        for node in seats.keys.sorted() {
            let target = targets[node] ?? []
            let surplus = (seats[node]?.owned ?? []).subtracting(target)
            let given = target.subtracting(taken)
            seats[node]?.owned.formUnion(given)
            seats[node]?.isCalled = false
            seats[node]?.owedByMilliseconds = .max
            // Even where nothing is new: with the generation.
            messages.append((node, .assigned(given.sorted())))
            if !surplus.isEmpty { messages.append((node, take(surplus, from: node, now))) }
        }
        return messages
    }

    private func ranges() -> [Int: Set<Int>] {
        var targets: [Int: Set<Int>] = [:]
        var next = 0
        for (place, node) in seats.keys.sorted().enumerated() {
            let count = partitions / seats.count + (place < partitions % seats.count ? 1 : 0)
            targets[node] = Set(next..<(next + count))
            next += count
        }
        return targets
    }

    /// Everybody keeps what he has, up to his share.
    private func balanced() -> [Int: Set<Int>] {
        var targets: [Int: Set<Int>] = [:]
        let order = seats.keys.sorted { (seats[$0]?.owned.count ?? 0, $1) > (seats[$1]?.owned.count ?? 0, $0) }
        var shares: [Int: Int] = [:]
        for (place, node) in order.enumerated() {
            let share = partitions / seats.count + (place < partitions % seats.count ? 1 : 0)
            shares[node] = share
            targets[node] = Set((seats[node]?.owned ?? []).sorted().prefix(share))
        }
        var left = (0..<partitions).filter { partition in !targets.values.contains { $0.contains(partition) } }
        for node in order {
            while let share = shares[node], targets[node, default: []].count < share, let partition = left.popLast() {
                targets[node, default: []].insert(partition)
            }
        }
        return targets
    }
}
