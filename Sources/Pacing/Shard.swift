import Telemetry

/// The pacing of one partition: a state machine without a clock. Events, time and outcomes go in, updates come out.
///
/// After each call the caller takes what is ready, as far as its dispatch credits go. Not Sendable: one owner, one call at a time.
///
/// What each event touches is not checked for overlapping access: one owner makes one call at a time, no closure of a caller runs while a
/// table changes, and the checks cost as much as the rest of the position path.
public final class Shard {
    public let settings: ShardSettings
    @exclusivity(unchecked)
    public internal(set) var decisions = DecisionCounts()
    @exclusivity(unchecked) public internal(set) var sendReasons = SendReasonCounts()

    @exclusivity(unchecked)
    var slab = ActivitySlab()
    let vocabulary: Vocabulary
    @exclusivity(unchecked)
    var activities: IdentifierTable
    var subjects: Subjects
    var earlyTokens: EarlyTokens
    @exclusivity(unchecked)
    var wheel = TimingWheel()
    /// Two a pool: urgent, routine.
    @exclusivity(unchecked)
    var queues: [ReadyQueue]
    /// What became ready since the owner emptied it.
    @exclusivity(unchecked)
    public var newlyReady: NewlyReady = []
    /// The default first.
    let rules: [PacingRules]
    private let positionRules: UnsafeMutablePointer<PositionRules>
    private let rulesByType: [(attributesType: String, rules: UInt16)]

    /// The largest `now` seen: a clock that steps back stands still here.
    @exclusivity(unchecked)
    private var nowMilliseconds = Int64.min
    var isFinishing = false
    @exclusivity(unchecked) var nextGeneration: UInt32 = 0
    /// What the engine writes into the content-state of the update at hand.
    @exclusivity(unchecked) var writtenFields = ContentFields()
    var nextStartOrder: Int64 = 0
    @exclusivity(unchecked) private var due: [UInt32] = []

    // What the store is to know. By source:
    var holds: [HoldQueue] = []
    @exclusivity(unchecked) var unsaved: [UInt32] = []
    var unsavedEarlyTokens: Set<[UInt8]> = []
    /// Whether something waits for the store to have answered.
    @exclusivity(unchecked) public internal(set) var awaitsStore = false
    // Asked at each gate, by its shard alone.
    @exclusivity(unchecked) var takeOver = TakeOver()
    var evictionHand: UInt32 = 0
    /// Those that leave memory some time after their checkpoint is saved, unless an event for them is on its way by then.
    @exclusivity(unchecked) var leaving: Set<UInt32> = []
    /// In the order of their time.
    var departures: [Departure] = []
    /// What activities followed until their end, as far as the store has not heard of it.
    var formerSubjects: [UInt32: [UInt8]] = [:]
    /// What is to be asked of the registry of tokens.
    var errands: [Errand] = []
    /// Whose starts wait for their phone to allow another one.
    var deferredStarts: Set<UInt32> = []
    /// How often a start was put off.
    public internal(set) var startDeferrals: UInt64 = 0
    /// Whose replaced activity is not known to be in memory, or to be kept nowhere.
    var replacing: Set<UInt32> = []
    var wantedLoads: Set<[UInt8]> = []
    /// Activities that left memory for others, to be loaded again.
    public internal(set) var evictions = 0

    public init(settings: ShardSettings) {
        self.settings = settings
        vocabulary = Vocabulary()
        activities = IdentifierTable(seed: settings.hashSeed)
        subjects = Subjects(seed: settings.hashSeed)
        earlyTokens = EarlyTokens(keptMilliseconds: settings.default.removeAfterMilliseconds)
        queues = Array(repeating: ReadyQueue(), count: 2 * max(1, settings.apps.count))
        var rules = [PacingRules(settings.default)]
        var rulesByType: [(String, UInt16)] = []
        for (attributesType, settings) in settings.byAttributesType {
            rulesByType.append((attributesType, UInt16(rules.count)))
            rules.append(PacingRules(settings))
        }
        self.rules = rules
        self.rulesByType = rulesByType
        positionRules = .allocate(capacity: rules.count)
        for (index, rules) in rules.enumerated() { (positionRules + index).initialize(to: rules.position) }
    }

    deinit {
        positionRules.deallocate()
    }

    /// Applies one record, in partition order.
    ///
    /// - Parameters:
    ///   - place: where its activity was looked for before, if it was; a hint that may be out of date.
    ///   - offset: its place in its source; −1 where it has none.
    ///   - source: which one of those that feed the partition, of at most `Origin.maxSources`.
    /// - Returns: what the caller has to dead-letter.
    public func apply(
        _ event: Event, place: Place? = nil, offset: Int64 = -1, source: Int = 0, at instant: Instant
    ) -> ApplyFaults {
        let moment = moment(instant)
        let origin = Origin(offset: offset, source: UInt8(source))
        if event.isForSubject { return applyToSubject(event, origin: origin, moment) }
        var faults = ApplyFaults()
        if let fault = applyToActivity(event, at: place ?? self.place(of: event.identifier), origin: origin, moment) {
            faults.add(fault)
        }
        return faults
    }

    /// A record that the decoder refused: one activity event, one dead letter.
    public func countDeadLetter() {
        decisions.activityEvents += 1
        decisions[.deadLetter] += 1
    }

    /// When `fire` is to be called next. Never later than the earliest timer; where a timer was moved it may be early, and nothing happens.
    public var nextDueMilliseconds: Int64? { wheel.nextDueMilliseconds }

    /// Fires the timers due at or before `instant`, in order of due time, then of activity start.
    public func fire(at instant: Instant) {
        let moment = moment(instant)
        while wheel.popDue(nowMilliseconds: moment.nowMilliseconds, slab.states, into: &due) {
            // Firing one arms none that is due already, and removes no other: the batch stays good.
            let batch = due
            for index in batch { timerFired(index, moment) }
        }
    }

    /// The end of a recording: what is held aside is dropped, and from now on only what releases a waiting update is due.
    public func finish(at instant: Instant) {
        let moment = moment(instant)
        isFinishing = true
        for index in 0..<slab.bound where slab.isInUse(index) {
            dropHeld(index)
            wheel.disarm(index, slab.states)
            rearm(index, moment)
        }
    }

    /// Starts that wait for their phone's budget; asked at any time.
    public var deferredStartCount: Int { deferredStarts.count }

    /// Activities in memory, ended ones included; asked at any time.
    public var activityCount: Int { activities.count }

    /// Counted afresh: it walks over all activities, so ask for it once in a while.
    public var statistics: ShardStatistics {
        var statistics = ShardStatistics()
        for index in 0..<slab.bound where slab.isInUse(index) {
            let flags = state(index).pointee.flags
            statistics.activities += 1
            if flags.contains(.ended) { statistics.endedActivities += 1 }
            if flags.contains(.waiting) { statistics.waitingUpdates += 1 }
            if record(index).flight != nil { statistics.unsettledUpdates += 1 }
        }
        statistics.readyUpdates = queues.reduce(0) { $0 + $1.count }
        statistics.subjects = subjects.count
        statistics.earlyTokens = earlyTokens.count
        statistics.tableBytes = slab.stateByteCount + activities.byteCount + subjects.byteCount
        statistics.recordBytes = slab.recordByteCount
        statistics.eventIdentifierBytes = slab.ringByteCount
        return statistics
    }
}

extension Shard {
    /// How far ahead of the wall clock a push may be stamped.
    public static var timestampLeadMilliseconds: Int64 { Gates.timestampLeadMilliseconds }

    func state(_ index: UInt32) -> UnsafeMutablePointer<ActivityState> { slab.states[index] }

    func record(_ index: UInt32) -> ActivityRecord {
        ActivityRecord(stored: slab.records[index], vocabulary: vocabulary)
    }

    func rules(_ index: UInt32) -> PacingRules { rules[Int(state(index).pointee.rules)] }

    func positionRules(_ index: UInt32) -> UnsafePointer<PositionRules> {
        UnsafePointer(positionRules + Int(state(index).pointee.rules))
    }

    func find(_ identifier: UnsafeRawBufferPointer) -> UInt32? { find(identifier, at: place(of: identifier)) }

    func find(_ identifier: UnsafeRawBufferPointer, at place: Place) -> UInt32? {
        let states = slab.states
        func isNamed(_ index: UInt32) -> Bool {
            withUnsafePointer(to: &states[index].pointee.identifier) { StoredIdentifier.hasBytes($0, identifier) }
        }
        // Where it was; a place that is free, or another's by now, has not its id.
        if place.index < slab.bound, isNamed(place.index) { return place.index }
        return activities.find(place.hash, isNamed: isNamed)
    }

    func withIdentifier<Result>(ofIndex index: UInt32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafePointer(to: &state(index).pointee.identifier) { StoredIdentifier.withBytes(of: $0, body) }
    }

    func moment(_ instant: Instant) -> Instant {
        nowMilliseconds = max(nowMilliseconds, instant.nowMilliseconds)
        return Instant(nowMilliseconds: nowMilliseconds, wallMilliseconds: instant.wallMilliseconds)
    }

    func count(_ decision: Decision) {
        decisions[decision] += 1
    }

    func takeStartOrder() -> Int64 {
        nextStartOrder += 1
        return nextStartOrder
    }

    func rulesIndex(forType attributesType: String?) -> UInt16 {
        guard let attributesType else { return 0 }
        return rulesByType.first { $0.attributesType.hasSameBytes(as: attributesType) }?.rules ?? 0
    }

    func poolIndex(forApp app: String?) -> UInt16 {
        guard let app, !settings.keepsOrderOfRelease else { return 0 }
        return UInt16(settings.apps.firstIndex { $0.hasSameBytes(as: app) } ?? 0)
    }
}
