import LiveActivities
import Pacing
import Telemetry

/// All that a lane has to know; the same for plan, live operation and the fault simulation.
public struct LaneSettings: Sendable {
    public var shard: ShardSettings
    public var types: ActivityTypes
    public var reactions = ReactionTable()
    public var breaker = Breaker.Settings()
    /// Of each start token, where there is a registry that counts (`ShardSettings.asksRegistry`).
    public var startBudget = StartBudget()
    /// Whether broadcast pushes can be delivered; where not, an update for a channel is refused by name.
    public var broadcasts = true
    /// Jitter comes from this.
    public var seed: UInt64 = 0
    /// So much memory remembers the last decisions of activities; 0 remembers none.
    public var explanationBytes = 0

    public init(shard: ShardSettings, types: ActivityTypes) {
        self.shard = shard
        self.types = types
    }
}

/// The core of one lane: events, time, free streams and answers go in; pushes come out, only when a stream is free and bound to the
/// newest truth at that moment. It has no thread, no clock and no socket: its owner calls it, one call at a time.
public final class Lane {
    // Nothing calls back into a lane, so no two accesses can meet; the check costs a hundred instructions each.
    public let settings: LaneSettings
    @exclusivity(unchecked) var shards: [Shard] = []
    private var shardOfPartition: [Int32: Int] = [:]
    /// By shard: who may send for it.
    @exclusivity(unchecked) var standings: [Standing] = []
    /// Rises whenever what `permit(of:)` says may have changed.
    public internal(set) var permitChanges = 0
    /// Records of one partition come in a row.
    @exclusivity(unchecked) private var newestPartition: (partition: Int32, shard: Int)?
    @exclusivity(unchecked) var pools: [Pool]
    private var poolOfLink: [Int] = []
    @exclusivity(unchecked) var inFlight = FlightTable()
    @exclusivity(unchecked) var unpushable: [Unpushable] = []
    /// 429 in a row, by activity: a target that is throttled stays so across its updates.
    @exclusivity(unchecked) var throttles: [String: Throttle] = [:]
    struct Throttle {
        let shard: Int
        var count = 0
    }
    @exclusivity(unchecked) var random: SplitMix
    var registry = RegistryQuestions()
    var startDeferrals: [StartDeferral] = []
    /// Of retries, in the order in which they were held.
    var nextRetryOrder: UInt64 = 1
    @exclusivity(unchecked) private var nextPool = 0
    /// Whether something came since `next` had nothing that may let an update leave; passing time may as well, and is not counted here.
    @exclusivity(unchecked) public internal(set) var hasNews = true
    /// Whether an event that was applied since then made something urgent ready.
    @exclusivity(unchecked) public internal(set) var hasUrgentNews = false
    /// While draining only what is urgent leaves; the rest is left to the next owner.
    @exclusivity(unchecked) public var isDraining = false
    /// What was decided and why; nil where nothing is written down.
    public let journal: Journal?
    /// Reasons of answers that the journal has by their number.
    var answerNames = AnswerNames()

    public init(settings: LaneSettings) {
        self.settings = settings
        random = SplitMix(seed: settings.seed)
        journal = Journal(byteLimit: settings.explanationBytes)
        pools = (0..<max(1, settings.shard.apps.count)).map { _ in Pool(breaker: settings.breaker) }
    }

    // MARK: Links

    /// Makes known a worker's side of a pool and returns its number.
    public func addLink(pool: Int) -> Int {
        let index = poolOfLink.count
        poolOfLink.append(pool)
        pools[pool].links.append(Pool.Link(index: index))
        return index
    }

    /// How many streams the link can carry at the same time, those in use included. A hint: what cannot leave comes back `unsent`.
    public func setStreams(_ streams: Int, link: Int) {
        let pool = poolOfLink[link]
        guard let place = pools[pool].links.firstIndex(where: { $0.index == link }) else { return }
        pools[pool].links[place].streams = streams
        hasNews = true
    }

    // MARK: Events and time

    /// - Parameter place: where its activity was looked for before, if it was.
    /// - Returns: what the caller has to dead-letter.
    public func apply(
        _ event: Event, place: Shard.Place? = nil, partition: Int32, source: Int = 0, offset: Int64, at moment: Moment
    ) -> ApplyFaults {
        let shard = shards[shard(of: partition)]
        let faults = shard.apply(event, place: place, offset: offset, source: source, at: moment.pacing)
        if !shard.newlyReady.isEmpty {
            hasNews = true
            if shard.newlyReady.contains(.urgent) { hasUrgentNews = true }
            shard.newlyReady = []
        }
        return faults
    }

    /// Starts to load what applying a batch of events to one partition will read, some dozens at most. It changes nothing but how long
    /// `apply` takes.
    public func prefetch(_ count: Int, partition: Int32, identifier: (Int) -> UnsafeRawBufferPointer) {
        let shard = shards[shard(of: partition)]
        withUnsafeTemporaryAllocation(of: Shard.Place.self, capacity: count) { places in
            for index in 0..<count {
                places.initializeElement(at: index, to: shard.prefetchSlot(of: identifier(index)))
            }
            for index in 0..<count { shard.prefetchState(at: places[index]) }
        }
    }

    /// The same for one event whose activity was looked for before, to be called some events ahead of `apply`.
    public func prefetch(_ identifier: UnsafeRawBufferPointer, at place: Shard.Place, partition: Int32) {
        shards[shard(of: partition)].prefetchState(at: place)
        // It is compared.
        if let bytes = identifier.baseAddress { Shard.prefetch(bytes, lines: 1) }
    }

    /// The same for a batch of answers, some before each is completed.
    public func prefetchCompletion(_ identifier: UInt64) {
        guard let (dispatch, shard, ticket) = inFlight.whereabouts(identifier) else { return }
        Shard.prefetch(dispatch, lines: Dispatch.linesRead)
        shards[shard].prefetchSettling(ticket)
    }

    /// A record that the decoder refused.
    public func countDeadLetter(partition: Int32) {
        shards[shard(of: partition)].countDeadLetter()
    }

    func shard(of partition: Int32) -> Int {
        if let newestPartition, newestPartition.partition == partition { return newestPartition.shard }
        let index = shardOfPartition[partition] ?? shards.count
        if index == shards.count {
            shards.append(Shard(settings: settings.shard, journal: journal))
            standings.append(Standing(partition: partition))
            shardOfPartition[partition] = index
        }
        newestPartition = (partition, index)
        return index
    }

    /// Nil for a partition that the lane has never had.
    func knownShard(of partition: Int32) -> Int? { shardOfPartition[partition] }

    /// When `fire` is to be called next, on pacing's clock.
    public var nextPacingDueMilliseconds: Int64? {
        var earliest: Int64?
        for shard in shards {
            if let due = shard.nextDueMilliseconds { earliest = min(earliest ?? due, due) }
        }
        return earliest
    }

    /// When `next` (or `takeRegistryRequests`) is worth another try for time alone, on the real clock: a retry or a probe will be due. What was due by `now` waits for
    /// something else, such as a free stream or an update to probe with, and time does not bring that.
    public func nextRealDueMilliseconds(after now: Int64) -> Int64? {
        var earliest = Int64.max
        for index in pools.indices {
            if let due = pools[index].retries.nextDueMilliseconds, due > now { earliest = min(earliest, due) }
            if let due = pools[index].breaker.nextProbeMilliseconds, due > now { earliest = min(earliest, due) }
        }
        if let due = registry.later.nextDueMilliseconds { earliest = min(earliest, max(due, now)) }
        return earliest == .max ? nil : earliest
    }

    /// Fires the timers that are due.
    public func fire(at moment: Moment) {
        hasNews = true
        for shard in shards { shard.fire(at: moment.pacing) }
    }

    /// The end of a recording.
    public func finish(at moment: Moment) {
        hasNews = true
        for shard in shards { shard.finish(at: moment.pacing) }
    }

    // MARK: What can be seen from outside

    public var inFlightCount: Int { inFlight.count }
    /// Streams that count as in use, over all links.
    package var outstandingStreams: Int { pools.reduce(0) { $0 + $1.links.reduce(0) { $0 + $1.outstanding } } }
    /// Updates that wait to be sent again.
    public var retryCount: Int { pools.reduce(0) { $0 + $1.retries.count } }
    public var eachShard: some Sequence<Shard> { shards }
    /// Of partitions that are no longer owned.
    public internal(set) var formerDecisions = DecisionCounts()
    /// Activity events that were still to be decided when their partition went to its next owner.
    public internal(set) var handedOverEvents: UInt64 = 0
    var formerEvictions = 0
    /// Activities that left memory until their next event.
    public var evictions: Int { shards.reduce(formerEvictions) { $0 + $1.evictions } }

    /// What is known of an activity; nil where it is not in memory, or the partition is not this lane's.
    public func view(of identifier: [UInt8], partition: Int32, at moment: Moment) -> ActivityView? {
        guard let index = knownShard(of: partition) else { return nil }
        return identifier.withUnsafeBytes { shards[index].view(of: $0, at: moment.pacing) }
    }

    public func breakerState(pool: Int) -> Breaker.State { pools[pool].breaker.state }

    /// Why a pool lets no more than single probes through; nil where it lets all.
    public func pauseCause(pool: Int) -> Breaker.Cause? { pools[pool].breaker.cause }

    public var openBreakers: Int { pools.count { $0.breaker.state != .closed } }

    /// Whether no pool can send, each for its credential or its configuration: time alone mends neither.
    public var isEveryPoolRefused: Bool { pools.allSatisfy(\.isRefused) }

    /// After `finish`: all that is left waits for pools that are refused, so that only somebody's work brings it on.
    public var waitsForRefusedPoolsAlone: Bool {
        guard inFlight.isEmpty, nextPacingDueMilliseconds == nil, pools.contains(where: \.isRefused) else {
            return false
        }
        return pools.indices.allSatisfy { pool in
            pools[pool].isRefused
                || (pools[pool].retries.count == 0 && shards.allSatisfy { $0.ready(pool: pool) == nil })
        }
    }

    /// Whether anything waits for a pool that is refused.
    public var waitsForRefusedPools: Bool {
        pools.indices.contains { pool in
            pools[pool].isRefused
                && (pools[pool].retries.count > 0 || shards.contains { $0.ready(pool: pool) != nil })
        }
    }

    /// What stood in a pool's way may be gone, as with another signing key: it probes at once.
    public func hasten(pool: Int, at moment: Moment) {
        if pools[pool].breaker.hasten(atMilliseconds: moment.realMilliseconds) { hasNews = true }
    }

    /// Whether an update waits for nothing but a free stream (or a sick server, or its turn). What waits for a pool that is refused waits for
    /// somebody to mend that, and holds up nothing else.
    public func hasReady(onlyUrgent: Bool = false) -> Bool {
        for pool in pools.indices where !pools[pool].isRefused {
            if pools[pool].retries.hasDue(urgent: true) || (!onlyUrgent && pools[pool].retries.hasDue(urgent: false)) {
                return true
            }
            for shard in shards.indices {
                guard let ready = shards[shard].ready(pool: pool), !standings[shard].isCatchingUp else { continue }
                if ready.isUrgent || !(onlyUrgent || standings[shard].isDraining) { return true }
            }
        }
        return false
    }

    /// After `finish`: nothing is under way, and nothing will leave any more.
    public var isIdle: Bool {
        // A retry that was superseded still stands in its queue: the shards know which ones count.
        inFlight.isEmpty && nextPacingDueMilliseconds == nil && !hasReady() && registry.awaitedByStarts == 0
            && shards.allSatisfy { $0.statistics.unsettledUpdates == 0 }
    }

    public var hasUnpushable: Bool { !unpushable.isEmpty }

    /// The updates refused before they became pushes since the last call.
    public func takeUnpushable() -> [Unpushable] {
        defer { unpushable.removeAll(keepingCapacity: true) }
        return unpushable
    }

    /// The pools in turn, so that a busy one cannot starve the others.
    func poolsInTurn() -> (Int, Int) {
        nextPool = (nextPool + 1) % pools.count
        return (nextPool, pools.count)
    }
}
