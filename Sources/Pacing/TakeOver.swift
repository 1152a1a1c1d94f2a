import Telemetry

/// How a partition is taken over.
struct TakeOver {
    /// When routine updates leave of what the new owner has told nothing yet. What came due while nobody owned the partition is not to leave
    /// at once.
    enum Turns {
        /// As their own gates allow.
        case over
        /// None before the owner has caught up: turns that passed meanwhile would be one moment's burst at its end.
        case awaited
        /// Each at its place within so long.
        case running(fromMilliseconds: Int64, spreadMilliseconds: Int64)
    }

    var turns = Turns.over
    var beganAtMilliseconds = Int64.min
    /// What begins later is this owner's own.
    var lastStartOrder = Int64.min
    /// No push of the owner before carries a later timestamp.
    var timestampFloorSeconds = Int64.min
    /// The owner before may have been gone all of a sudden: positions inside the deadband, and pushes, may have come after what it saved.
    var mayLackNewest = false
    /// Offsets above these say nothing, by source: the log was cut back to there.
    var offsetCeilings: [Int64] = []

    /// Starts get numbers from the clock, so many a millisecond: a new owner goes on above the one before.
    static let startsAMillisecond: Int64 = 32
    /// So many pushes of an activity may have left since its checkpoint: one that was answered and one on its way, as a rule.
    static let unsavedStamps: Int64 = 3
}

extension Shard {
    /// The shard becomes that of a partition which another one had. Routine updates of what is restored wait for `noteCaughtUp`.
    ///
    /// - Parameter timestampLeadMilliseconds: the owner before may have stamped pushes so far ahead of the wall clock of now.
    public func beginOwning(timestampLeadMilliseconds: Int64, offsetCeilings: [Int64] = [], at instant: Instant) {
        let moment = moment(instant)
        // Above what any owner before can have counted to, as long as clocks are right within a minute.
        nextStartOrder = max(nextStartOrder, moment.nowMilliseconds * TakeOver.startsAMillisecond)
        takeOver = TakeOver(
            turns: .awaited, beganAtMilliseconds: moment.nowMilliseconds, lastStartOrder: nextStartOrder,
            timestampFloorSeconds: (moment.wallMilliseconds + timestampLeadMilliseconds) / 1_000,
            mayLackNewest: true, offsetCeilings: offsetCeilings)
    }

    /// All was applied that the owner before may have told phones of. It walks once over all activities.
    ///
    /// - Parameter spreadMilliseconds: within so long routine updates of what is restored, now or later, get their turn; 0 for at once.
    public func noteCaughtUp(spreadMilliseconds: Int64, at instant: Instant) {
        guard case .awaited = takeOver.turns else { return }
        let moment = moment(instant)
        takeOver.turns =
            spreadMilliseconds > 0
            ? .running(fromMilliseconds: moment.nowMilliseconds, spreadMilliseconds: spreadMilliseconds) : .over
        for index in 0..<slab.bound where slab.isInUse(index) {
            if state(index).pointee.flags.contains(.waiting), isAsTakenOver(index) { advanceGates(index, moment) }
        }
    }

    /// From when on a routine update of the activity may leave: `Int64.min` where it need not wait, `Int64.max` where that is not known yet.
    func turnMilliseconds(_ index: UInt32, _ moment: Instant) -> Int64 {
        switch takeOver.turns {
        case .over: return .min
        case .awaited: return isAsTakenOver(index) ? .max : .min
        case .running(let began, let spread):
            guard moment.nowMilliseconds < began + spread, isAsTakenOver(index) else { return .min }
            // A refresh that is due by itself meanwhile keeps its time: held back, those would pile up at the end of the spread.
            let quietUntil = state(index).pointee.quietUntilMilliseconds
            let places = quietUntil > began ? min(spread, quietUntil - began) : spread
            let place = withIdentifier(ofIndex: index) { UInt64(activities.hash(of: $0)) } % UInt64(places)
            return began + Int64(place)
        }
    }

    /// Whether this owner has neither begun the activity nor told anything of it.
    func isAsTakenOver(_ index: UInt32) -> Bool {
        state(index).pointee.startOrder <= takeOver.lastStartOrder
            && record(index).lastSentAtMilliseconds ?? .min < takeOver.beganAtMilliseconds
    }
}
