import Storage

/// Whether this member fits its group and Redis lets it work. Asked before anything is claimed, after partitions were lost, for Redis may have
/// come back with other data or none, and each minute, for producers may begin to write to more streams.
final class GroupCheck {
    private let store: RedisStore
    private let notes: MemberNotes
    private(set) var hasJoined = false
    /// Why the group cannot be joined yet, or this member does not fit it any more.
    private(set) var fault: StoreFault?
    private var isUnderWay = false
    private var isDue = false
    private var nextMilliseconds: Int64 = 0
    private var nowMilliseconds: Int64 = 0
    private var isStopping = false

    private static let recheckMilliseconds: Int64 = 1_000
    private static let lookAgainMilliseconds: Int64 = 60_000

    init(store: RedisStore, notes: MemberNotes) {
        self.store = store
        self.notes = notes
    }

    /// - Returns: whether something was asked.
    func advance(nowMilliseconds now: Int64) -> Bool {
        nowMilliseconds = now
        guard !isUnderWay, !isStopping, now >= nextMilliseconds else { return false }
        if hasJoined {
            let isLookDue = now >= nextMilliseconds + GroupCheck.lookAgainMilliseconds
            guard store.fault == nil, isDue || fault != nil || isLookDue else { return false }
        }
        isDue = false
        isUnderWay = true
        nextMilliseconds = now + GroupCheck.recheckMilliseconds
        store.check { [weak self] in self?.checked($0) }
        return true
    }

    /// It is asked again soon.
    func noteLoss() { isDue = true }

    /// Whoever leaves closes the connection that an answer was to come over: nothing is asked or told any more.
    func stop() { isStopping = true }

    private func checked(_ check: StoreCheck) {
        isUnderWay = false
        switch check {
        case .passed(let warnings):
            for warning in warnings { notes.warn(warning) }
            fault = nil
            hasJoined = true
        case .refused where isStopping: break
        case .refused(let fault):
            nextMilliseconds = nowMilliseconds + GroupCheck.recheckMilliseconds
            isDue = true
            // What is out of reach is told by the store itself once there is a group to speak of.
            if hasJoined, fault.failure == .unavailable { return }
            notes.refused(fault)
            // It may be mended while this waits.
            self.fault = fault
        }
    }
}
