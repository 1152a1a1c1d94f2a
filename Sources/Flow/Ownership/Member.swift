import Pacing
import Telemetry

/// One member of a group: which partitions it owns, what of them it has read, and what the store is to know of them.
///
/// It has no clock, no thread and no socket. Time, answers of the store and records go in; requests to the store and, through its lane,
/// pushes come out. Its owner calls it, one call at a time.
public final class Member {
    public let settings: MemberSettings
    public let lane: Lane
    let partitions: [OwnedPartition]
    var asked: [UInt64: Question] = [:]
    private var outbox: [(identifier: UInt64, request: StoreRequest)] = []
    private var sent = 0
    private var nextIdentifier: UInt64 = 1
    var preparations: [UInt64: Preparation] = [:]
    var nextTicket: UInt64 = 1

    // The group.
    var members: [String] = []
    var nextBeatMilliseconds: Int64 = .min
    var isBeating = false
    /// The store was told once that this member lives.
    var hasBeaten = false
    /// Before, nothing is claimed or handed over for the sake of an even spread.
    var spreadsFromMilliseconds = Int64.min
    /// From where partitions are tried, so that all have their turn.
    var claimFrom = 0
    /// Before the next beat.
    var claimsLeft = 0
    private var isStopping = false
    var isLeaving = false
    public internal(set) var isStopped = false

    /// What the owner of the member should tell people, since it was last asked.
    public var notices: [MemberNotice] = []
    public internal(set) var counts = MemberCounts()

    /// What was asked, and when.
    struct Question {
        let request: StoreRequest
        let askedAtMilliseconds: Int64
        /// Nil where the partition was not owned when it was asked.
        var ticket: UInt64?
    }

    /// A batch of records whose activities are being loaded.
    struct Preparation {
        let partition: Int32
        let epoch: Epoch
        var isDone = false
        /// Activities that have to be in memory, as far as they are kept; nil where memory was not full, so that none would leave.
        var needed: Set<LoadKey>?
    }

    public init(settings: MemberSettings, lane: Lane) {
        precondition(1...Shard.maxSources ~= settings.sources, "\(settings.sources) sources feed a partition")
        precondition(lane.settings.shard.keepsCheckpoints, "a member's lane keeps checkpoints")
        self.settings = settings
        self.lane = lane
        partitions = (0..<settings.partitions).map { OwnedPartition(number: Int32($0), sources: settings.sources) }
    }

    // MARK: Time

    /// All that time brings, and what records and answers since have made necessary. To be called after each of them, and when
    /// `nextDueMilliseconds` has come.
    public func advance(to moment: Moment) {
        beatIfDue(moment)
        for partition in partitions where partition.phase != .free || partition.isAssigned {
            advance(partition, moment)
        }
        if isStopping { leaveIfFree(moment) }
    }

    /// On the real clock.
    public var nextDueMilliseconds: Int64 {
        if isStopped { return .max }
        var due = isBeating || isLeaving || settings.isAssigned ? Int64.max : nextBeatMilliseconds
        for partition in partitions where partition.phase != .free || partition.isAssigned {
            due = min(due, nextDue(of: partition))
        }
        return due
    }

    private func advance(_ partition: OwnedPartition, _ moment: Moment) {
        let now = moment.realMilliseconds
        guard partition.isOwned else {
            switch partition.phase {
            case .releasing: releaseAgain(partition, moment)
            case .free: claimIfAssigned(partition, moment)
            default: break
            }
            return
        }
        if now >= partition.leasedAtMilliseconds + settings.leaseMilliseconds {
            notices.append(.lapsed(partition: partition.number))
            lose(partition)
            return
        }
        if partition.isReclaiming { return }
        renewIfDue(partition, moment)
        switch partition.phase {
        case .owned:
            loadAgain(partition, moment)
            loadWanted(partition, moment)
            lookForDue(partition, moment)
            saveIfDue(partition, moment)
        case .draining(let until):
            if now >= until || !lane.isUnderWay(partition.number, at: moment) {
                if now >= until { counts.drainsCutShort += 1 }
                seal(partition, moment)
                saveLast(partition, moment)
            } else {
                saveIfDue(partition, moment)
            }
        case .saving: saveLast(partition, moment)
        case .free, .claiming, .releasing: break
        }
    }

    private func nextDue(of partition: OwnedPartition) -> Int64 {
        var due = partition.leasedAtMilliseconds + settings.leaseMilliseconds
        if partition.isReclaiming { return due }
        switch partition.phase {
        case .free: return isWanted(partition) && partition.isAssigned ? partition.retryAtMilliseconds : .max
        case .claiming: return .max
        case .releasing: return partition.isReleaseUnderWay ? due : min(due, partition.retryAtMilliseconds)
        case .owned:
            if partition.isCaughtUp, partition.dueFromMilliseconds != nil {
                due = min(due, max(partition.nextDueLookMilliseconds, partition.retryAtMilliseconds))
            }
            if !partition.loadsToRepeat.isEmpty || shard(of: partition).hasWantedLoads {
                due = min(due, partition.retryAtMilliseconds)
            }
        case .draining(let until): due = min(due, until)
        case .saving(let until):
            due = min(due, until)
            if partition.receipt == nil { due = min(due, partition.retryAtMilliseconds) }
        }
        if partition.renewalAskedAtMilliseconds == nil { due = min(due, partition.nextRenewalMilliseconds) }
        if partition.receipt == nil, !partition.isSaving {
            if hasToSave(partition) {
                due = min(due, max(partition.nextSaveMilliseconds, partition.retryAtMilliseconds))
            }
            due = min(due, max(partition.nextBoundMilliseconds, partition.retryAtMilliseconds))
        }
        return due
    }

    // MARK: Requests

    public func nextRequest() -> (identifier: UInt64, request: StoreRequest)? {
        guard sent < outbox.count else { return nil }
        defer {
            sent += 1
            if sent == outbox.count {
                outbox.removeAll(keepingCapacity: true)
                sent = 0
            }
        }
        return outbox[sent]
    }

    @discardableResult
    func ask(_ request: StoreRequest, ticket: UInt64? = nil, _ moment: Moment) -> UInt64 {
        let identifier = nextIdentifier
        nextIdentifier += 1
        asked[identifier] = Question(request: request, askedAtMilliseconds: moment.realMilliseconds, ticket: ticket)
        outbox.append((identifier, request))
        return identifier
    }

    // MARK: Records

    /// Partitions that are read, in order.
    public var readPartitions: [Int32] { partitions.filter { $0.phase == .owned }.map(\.number) }

    /// Partitions that are owned, those that are being handed over included.
    public var ownedPartitions: [Int32] { partitions.filter(\.isOwned).map(\.number) }

    public func epoch(of partition: Int32) -> Epoch { partitions[Int(partition)].epoch }

    /// Activities that left memory until their next event.
    public var evictions: Int { lane.evictions }

    /// How far a source is settled and read, in offsets and records.
    public func progress(partition: Int32, source: Int) -> (settled: SettledPosition?, read: SettledPosition?) {
        let known = partitions[Int(partition)].sources[source]
        return (known.settled, known.readOffset.map { SettledPosition(offset: $0, records: known.recordsRead) })
    }

    /// Records read of a source that no settled position has passed.
    public func unsettledRecords(partition: Int32, source: Int) -> Int64 {
        max(0, partitions[Int(partition)].sources[source].recordsUnsettled)
    }

    /// How long ago the oldest record was applied that keeps the position from moving on; 0 where none does.
    public func oldestUnsettledMilliseconds(partition number: Int32, source: Int, at moment: Moment) -> Int64 {
        let partition = partitions[Int(number)]
        guard partition.isOwned, let held = shard(of: partition).smallestHeld(source: source) else { return 0 }
        return max(0, moment.pacing.nowMilliseconds - held.appliedAtMilliseconds)
    }

    /// Where the log itself says that reading goes on: it begins there, or what lay before is no more.
    public func begin(partition: Int32, source: Int, after position: SettledPosition) {
        partitions[Int(partition)].begin(after: position, source: source)
    }

    /// The log was cut back, and what is written next gets offsets that were given before: nothing above this one counts as applied.
    public func rewind(partition number: Int32, source: Int, to position: SettledPosition) {
        let partition = partitions[Int(number)]
        partition.rewind(to: position, source: source)
        shard(of: partition).rewind(source: source, to: position.offset)
    }

    /// Whether records of the partition are to be read.
    public func isReading(_ partition: Int32) -> Bool { partitions[Int(partition)].phase == .owned }

    /// The offset after which reading goes on; nil where nobody has read the source yet.
    public func readAfter(partition: Int32, source: Int) -> Int64? {
        partitions[Int(partition)].sources[source].readOffset
    }

    /// Whether the events of a batch may be applied. Batches of one partition are applied in the order in which they were prepared; those of
    /// a partition that is read no more are never prepared, and to be forgotten.
    public func isPrepared(_ ticket: UInt64) -> Bool {
        guard let preparation = preparations[ticket], preparation.isDone else { return false }
        let partition = partitions[Int(preparation.partition)]
        return partition.isRead && partition.epoch == preparation.epoch
    }

    /// The batch has been applied, or forgotten.
    public func finish(_ ticket: UInt64) { preparations[ticket] = nil }

    /// Nothing where the partition is read no more: the event is its next owner's.
    ///
    /// - Parameter place: where `prepare` found its activity, if that is known.
    /// - Returns: what the caller has to dead-letter.
    public func apply(
        _ event: Event, place: Shard.Place? = nil, partition: Int32, source: Int = 0, offset: Int64, at moment: Moment
    ) -> ApplyFaults {
        guard partitions[Int(partition)].isRead else { return ApplyFaults() }
        let faults = lane.apply(
            event, place: place, partition: partition, source: source, offset: offset, at: moment)
        note(read: offset, partition: partition, source: source, moment)
        return faults
    }

    /// A record that the decoder refused.
    public func countDeadLetter(partition: Int32, source: Int = 0, offset: Int64, at moment: Moment) {
        guard partitions[Int(partition)].isRead else { return }
        lane.countDeadLetter(partition: partition)
        note(read: offset, partition: partition, source: source, moment)
    }

    private func note(read offset: Int64, partition: Int32, source: Int, _ moment: Moment) {
        let partition = partitions[Int(partition)]
        if partition.note(read: offset, source: source) { caughtUp(partition, moment) }
    }

    /// The newest record of the source when the partition was claimed, −1 where there was none. The owner before may have told phones of
    /// all up to there, so nothing leaves before it was applied here as well: a phone would see the past again.
    public func noteEnd(partition: Int32, source: Int, offset: Int64, at moment: Moment) {
        let partition = partitions[Int(partition)]
        if partition.note(endAtClaim: offset, source: source) { caughtUp(partition, moment) }
    }

    // MARK: The end

    /// Hands all partitions over, and leaves the group.
    public func stop(at moment: Moment) {
        isStopping = true
        for partition in partitions where partition.phase == .owned { drain(partition, moment) }
    }

    var takesPartitions: Bool { !isStopping }

    func drain(_ partition: OwnedPartition, _ moment: Moment) {
        lane.drain(partition.number)
        partition.phase = .draining(untilMilliseconds: moment.realMilliseconds + settings.drainTimeoutMilliseconds)
    }

    /// Nothing of it leaves any more, whatever is under way, and all that is known of it is to be written.
    func seal(_ partition: OwnedPartition, _ moment: Moment) {
        lane.fence(partition.number)
        shard(of: partition).saveAll()
        partition.phase = .saving(untilMilliseconds: moment.realMilliseconds + settings.leaseMilliseconds)
    }

    /// Somebody else has the partition, or may have: nothing is written.
    func lose(_ partition: OwnedPartition) {
        counts.partitionsLost += 1
        letGo(partition)
    }

    func letGo(_ partition: OwnedPartition) {
        lane.drop(partition.number)
        partition.forget()
    }

    /// Whoever gets it next goes on from what was saved. It stays in memory until the store has said that it has all of that.
    func release(_ partition: OwnedPartition, _ moment: Moment) {
        partition.phase = .releasing
        askToRelease(partition, moment)
    }

    private func askToRelease(_ partition: OwnedPartition, _ moment: Moment) {
        partition.isReleaseUnderWay = true
        ask(
            .release(partition: partition.number, partition.epoch, acknowledged: partition.acknowledgedSerial), moment)
    }

    private func releaseAgain(_ partition: OwnedPartition, _ moment: Moment) {
        let now = moment.realMilliseconds
        if now >= partition.leasedAtMilliseconds + settings.leaseMilliseconds {
            // Nobody answers: the lease has ended by itself.
            letGo(partition)
        } else if !partition.isReleaseUnderWay, now >= partition.retryAtMilliseconds {
            askToRelease(partition, moment)
        }
    }

    private func leaveIfFree(_ moment: Moment) {
        guard !isLeaving, partitions.allSatisfy({ $0.phase == .free }) else { return }
        isLeaving = true
        ask(.leave, moment)
    }

    func shard(of partition: OwnedPartition) -> Shard { lane.shards[lane.shard(of: partition.number)] }
}
