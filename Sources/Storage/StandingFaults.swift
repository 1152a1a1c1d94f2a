import Flow

/// What is wrong with a store at present. A full Redis still takes heartbeats, and one partition may be ill while others are well, so a
/// success ends only the faults that it disproves.
struct StandingFaults {
    private struct Scope: Hashable {
        let partition: Int32?
        let isSave: Bool

        init(_ request: StoreRequest) {
            partition = request.partition
            if case .save = request { isSave = true } else { isSave = false }
        }
    }

    private var faults: [Scope: StoreFault] = [:]

    /// One of them: of the group before the partitions, of a lower partition before a higher.
    private(set) var first: StoreFault?

    mutating func failed(_ request: StoreRequest, _ fault: StoreFault) {
        faults[Scope(request)] = fault
        choose()
    }

    mutating func succeeded(_ request: StoreRequest, _ answer: StoreAnswer) {
        guard !faults.isEmpty else { return }
        let scope = Scope(request)
        faults[scope] = nil
        faults = faults.filter { standing, fault in
            if fault.failure == .unavailable { return false }
            if scope.isSave, fault.failure == .refusesWrites { return false }
            return standing.partition != scope.partition || !answer.endsOwnership
        }
        choose()
    }

    private mutating func choose() {
        let scope = faults.keys.min {
            ($0.partition ?? -1, $0.isSave ? 1 : 0) < ($1.partition ?? -1, $1.isSave ? 1 : 0)
        }
        first = scope.flatMap { faults[$0] }
    }
}

extension StoreAnswer {
    /// What was wrong with the partition is nothing to its former owner, nor to one that begins.
    fileprivate var endsOwnership: Bool {
        switch self {
        case .lost, .released, .claimed, .held: true
        default: false
        }
    }
}
