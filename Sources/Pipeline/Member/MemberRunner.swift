import CLinux
import Delivery
import Flow
import Glibc
import Instruments
import Pacing
import RedisClient
import Sockets
import Storage
import Streams
import Telemetry

/// Runs one member of a group on the calling thread: its lane, its connections to Redis, its partitions.
public final class MemberRunner {
    let engine: LaneEngine
    let member: Member
    private let settings: GroupRunSettings
    private let loop: EventLoop
    private let client: RedisClient
    private let store: RedisStore
    private let instruments: MemberInstruments
    private let notes: MemberNotes
    private let permits: SendPermits
    /// By partition.
    private var feeds: [StreamFeed?]
    /// The partition whose turn comes next.
    private var turn = 0
    private var group = GroupState.unchecked
    private var nextCheckMilliseconds: Int64 = 0
    private var drainDeadlineMilliseconds: Int64?
    /// Partitions that are to be given back in the end.
    private var partitionsToRelease = 0
    private var permitChanges = -1
    /// Why the group cannot be joined yet, or this member does not fit it any more.
    private var standing: StoreFault?
    /// Partitions were lost: Redis may have other data, or none.
    private var isCheckDue = false
    private var hasStirred = false
    private var hasAsked = false
    /// What was read when the store last did what it was asked, and when that was; nil where nothing was.
    private var knownLag: (entries: Int64, milliseconds: Int64, atMilliseconds: Int64)?
    /// Called with why the process should be given no work, nil where it should.
    public var onReadiness: ((String?) -> Void)?

    private enum GroupState {
        case unchecked, checking, joined
    }

    private static let recordsATurn = 64
    /// After what is under way has been waited for, to write what is left and let go.
    private static let handOverMilliseconds: Int64 = 2_000
    private static let recheckMilliseconds: Int64 = 1_000
    /// How often is looked, while all is well, whether the group is still as it was found: producers may write to more streams.
    private static let lookAgainMilliseconds: Int64 = 60_000

    /// - Throws: a setting that is wrong, or a system call that failed.
    public init(
        settings: RunSettings, group: GroupRunSettings, registry: Registry, log: Log, stop: StopRequest
    ) throws {
        self.settings = group
        var settings = settings
        settings.lane.shard.keepsCheckpoints = true
        permits = SendPermits(partitions: group.member.partitions)
        feeds = Array(repeating: nil, count: group.member.partitions)
        engine = try LaneEngine(
            settings: settings, registry: registry, log: log, stop: stop, time: RecordingTime(), permits: permits)
        member = Member(settings: group.member, lane: engine.lane)
        loop = try EventLoop()
        client = RedisClient(
            settings: group.redis, loop: loop, instruments: RedisInstruments(registry: registry),
            log: log.component("redis"))
        store = RedisStore(client: client, place: group.place, group: group.group)
        instruments = MemberInstruments(registry: registry)
        notes = MemberNotes(instruments: instruments, log: log.component("member"), settings: group)
        engine.onTick = { [weak self] _, _ in self?.publish() }
    }

    /// The accounting so far.
    public var decisions: DecisionTotals { engine.decisions }

    /// Returns after `stop`, once everything is handed over or the time for that is over.
    public func run() -> RunEnding {
        clinux_set_timer_slack(LaneEngine.timerSlackNanoseconds)
        defer {
            engine.end()
            for case let feed? in feeds { _ = feed.close() }
            client.close()
            loop.runOnce(timeoutMilliseconds: 0)
        }
        while true {
            engine.clock.read()
            loop.runOnce(timeoutMilliseconds: 0)
            engine.takeReports()
            if engine.stop.isStopped, drainDeadlineMilliseconds == nil { beginStopping() }
            joinIfDue()
            // A lease that was renewed after a pause: workers would refuse what leaves below.
            renewPermits()
            engine.fireDueTimers()
            let hasApplied = applyRecords()
            engine.dispatch()
            step()
            engine.tick()
            if let ending { return ending }
            let nanoseconds = hasApplied || hasWork ? nil : idleNanoseconds
            engine.flush(isIdle: nanoseconds != nil)
            if let nanoseconds { wait(nanoseconds) }
        }
    }

    // MARK: The group

    /// Claims nothing before it is known that this member fits its group and Redis lets it work.
    private func joinIfDue() {
        guard group == .unchecked, engine.clock.moment.realMilliseconds >= nextCheckMilliseconds,
            drainDeadlineMilliseconds == nil
        else { return }
        group = .checking
        hasAsked = true
        store.check { [weak self] check in self?.checked(check) }
    }

    private func checked(_ check: StoreCheck) {
        switch check {
        case .passed(let warnings):
            for warning in warnings { notes.warn(warning) }
            standing = nil
            group = .joined
            nextCheckMilliseconds = engine.clock.moment.realMilliseconds
        // Whoever leaves closes the connection that the answer was to come over.
        case .refused where drainDeadlineMilliseconds != nil: break
        case .refused(let fault):
            group = .unchecked
            nextCheckMilliseconds = engine.clock.moment.realMilliseconds + MemberRunner.recheckMilliseconds
            notes.refused(fault)
            // It may be mended while this waits.
            standing = fault
        }
    }

    private func checkAgainIfDue() {
        let now = engine.clock.moment.realMilliseconds
        guard store.fault == nil, drainDeadlineMilliseconds == nil, now >= nextCheckMilliseconds,
            isCheckDue || standing != nil || now >= nextCheckMilliseconds + MemberRunner.lookAgainMilliseconds
        else { return }
        isCheckDue = false
        nextCheckMilliseconds = now + MemberRunner.recheckMilliseconds
        store.check { [weak self] check in
            guard let self else { return }
            switch check {
            case .passed(let warnings):
                for warning in warnings { notes.warn(warning) }
                standing = nil
            case .refused(let fault):
                isCheckDue = true
                if fault.failure != .unavailable {
                    standing = fault
                    notes.refused(fault)
                }
            }
        }
    }

    /// What time and records have made necessary, and the requests of it.
    private func step() {
        guard group == .joined else { return }
        let moment = engine.clock.moment
        member.advance(to: moment)
        // Before a release is on its way: its next owner may send as soon as it has arrived.
        renewPermits()
        while let (identifier, request) = member.nextRequest() {
            hasAsked = true
            store.perform(settings.isVolatile ? request.withoutCheckpoints : request) { [weak self] answer in
                guard let self else { return }
                member.answer(identifier, answer, at: engine.clock.moment)
                hasStirred = true
            }
        }
        notes.note(drainsCutShort: member.counts.drainsCutShort)
        for notice in member.notices {
            notes.note(notice, store.fault)
            switch notice {
            case .lost, .lapsed, .ownershipForgotten: isCheckDue = true
            default: break
            }
        }
        checkAgainIfDue()
        member.notices.removeAll(keepingCapacity: true)
        readOn(moment)
    }

    private func renewPermits() {
        guard permitChanges != engine.lane.permitChanges else { return }
        permitChanges = engine.lane.permitChanges
        permits.set(
            (0..<Int32(settings.member.partitions)).map { partition in
                let permit = engine.lane.permit(of: partition)
                return SendPermits.Permit(epoch: permit.epoch, untilMilliseconds: permit.untilMilliseconds)
            })
    }

    // MARK: Records

    private func readOn(_ moment: Moment) {
        for place in feeds.indices {
            let partition = Int32(place)
            let isRead = member.isReading(partition)
            if let feed = feeds[place], !isRead || feed.epoch != member.epoch(of: partition) {
                for ticket in feed.close() { member.finish(ticket) }
                feeds[place] = nil
            }
            guard isRead else { continue }
            let feed = feeds[place] ?? open(partition)
            feed.read(nowMilliseconds: moment.realMilliseconds, wallMilliseconds: moment.pacing.wallMilliseconds)
            while let batch = feed.unprepared {
                batch.ticket = member.prepare(batch.records.count, partition: partition, at: moment) {
                    batch.key(at: $0)
                }
                hasStirred = true
            }
        }
    }

    private func open(_ partition: Int32) -> StreamFeed {
        let after = (0..<settings.member.sources).map { member.progress(partition: partition, source: $0).settled }
        let feed = StreamFeed(
            partition: partition, epoch: member.epoch(of: partition), client: client, settings: settings.streams,
            after: after)
        feeds[Int(partition)] = feed
        hasAsked = true
        return feed
    }

    /// - Returns: whether there was anything to apply.
    private func applyRecords() -> Bool {
        var left = MemberRunner.recordsATurn
        var next = turn
        for step in feeds.indices where left > 0 {
            let place = (turn + step) % feeds.count
            let partition = Int32(place)
            guard let feed = feeds[place], member.isReading(partition), feed.epoch == member.epoch(of: partition)
            else { continue }
            if next == turn { next = place + 1 }
            while left > 0, let batch = feed.first, let ticket = batch.ticket, member.isPrepared(ticket) {
                if batch.applied == 0 { for notice in batch.notices { hear(notice, partition) } }
                left = apply(batch, of: partition, atMost: left)
                guard batch.applied == batch.records.count else { break }
                member.finish(ticket)
                feed.finishFirst()
            }
        }
        turn = next % feeds.count
        let applied = MemberRunner.recordsATurn - left
        if applied > 0 { engine.recordsRead.add(Int64(applied)) }
        return applied > 0
    }

    private func apply(_ batch: StreamBatch, of partition: Int32, atMost limit: Int) -> Int {
        let begin = batch.applied
        let end = min(begin + limit, batch.records.count)
        // Of what was looked up when it was prepared, the other partitions' turns have left little in the cache.
        if end - begin > 1 {
            engine.lane.prefetch(end - begin, partition: partition) { batch.key(at: begin + $0).identifier }
        }
        let moment = engine.clock.moment
        while batch.applied < end {
            let record = batch.records[batch.applied]
            batch.applied += 1
            if let fault = record.fault {
                member.countDeadLetter(partition: partition, source: record.source, offset: record.offset, at: moment)
                refuse(fault, record, partition)
                continue
            }
            let faults = member.apply(
                record.event, partition: partition, source: record.source, offset: record.offset, at: moment)
            if !faults.isEmpty { for fault in faults.faults { refuse(fault, record, partition) } }
            if engine.lane.hasUrgentNews { engine.dispatch() }
        }
        return limit - (end - begin)
    }

    private func refuse(_ fault: EventFault, _ record: StreamRecord, _ partition: Int32) {
        engine.refuse(
            fault,
            DeadLetter(
                fault: fault, source: settings.streams.stream(record.source, partition), partition: partition,
                record: record))
    }

    private func hear(_ notice: StreamNotice, _ partition: Int32) {
        notes.note(notice, partition)
        let moment = engine.clock.moment
        switch notice {
        case .begins(let source, let position, let newestOffset):
            member.begin(partition: partition, source: source, after: position)
            member.noteEnd(partition: partition, source: source, offset: newestOffset, at: moment)
        case .reachedEnd(let source):
            member.noteEnd(partition: partition, source: source, offset: -1, at: moment)
        case .trimmed(let source, _, let position), .recounted(let source, _, let position):
            member.begin(partition: partition, source: source, after: position)
        case .rewound(let source, _, let position), .replaced(let source, _, let position):
            member.rewind(partition: partition, source: source, to: position)
        }
    }

    // MARK: The end

    private func beginStopping() {
        let now = engine.clock.moment.realMilliseconds
        drainDeadlineMilliseconds =
            now + engine.settings.drainTimeoutMilliseconds + MemberRunner.handOverMilliseconds
        engine.log.info(
            "stopping: reading ends, what is urgent and due still leaves, all else is left to the next owner",
            .field("inFlight", engine.lane.inFlightCount), .field("partitions", member.ownedPartitions.count))
        partitionsToRelease = member.counts.partitionsReleased + member.ownedPartitions.count
        member.stop(at: engine.clock.moment)
    }

    private var ending: RunEnding? {
        guard let deadline = drainDeadlineMilliseconds else { return nil }
        if group != .joined { return .drained }
        if member.isStopped {
            let left = partitionsToRelease - member.counts.partitionsReleased
            return left > 0 ? .notHandedOver(partitions: left) : .drained
        }
        guard engine.clock.moment.realMilliseconds >= deadline else { return nil }
        return .drainDeadlineExceeded(inFlight: engine.lane.inFlightCount)
    }

    // MARK: Waiting

    /// Whether something was asked or answered whose consequences have not been drawn yet.
    private var hasWork: Bool {
        defer { (hasAsked, hasStirred) = (false, false) }
        return hasAsked || hasStirred
    }

    private var idleNanoseconds: Int64? {
        for (place, feed) in feeds.enumerated() {
            guard let ticket = feed?.first?.ticket, member.isReading(Int32(place)) else { continue }
            if member.isPrepared(ticket) { return nil }
        }
        let clock = engine.clock
        var nanoseconds = engine.nanosecondsUntilDue(atMost: LaneEngine.tickMilliseconds * 1_000_000)
        if group == .joined { nanoseconds = min(nanoseconds, clock.nanoseconds(untilReal: member.nextDueMilliseconds)) }
        if let turn = loop.nextTurnMilliseconds {
            if turn == .min { return nil }
            nanoseconds = min(nanoseconds, max(0, turn - EventLoop.currentMilliseconds()) * 1_000_000)
        }
        if let deadline = drainDeadlineMilliseconds {
            nanoseconds = min(nanoseconds, clock.nanoseconds(untilReal: deadline))
        }
        return nanoseconds > 0 ? nanoseconds : nil
    }

    /// Until something is due, or a worker, Redis or a stop request calls.
    private func wait(_ nanoseconds: Int64) {
        withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 2) { sources in
            sources.initializeElement(
                at: 0, to: pollfd(fd: engine.stop.wakeup.descriptor, events: Int16(POLLIN), revents: 0))
            sources.initializeElement(at: 1, to: pollfd(fd: loop.pollDescriptor, events: Int16(POLLIN), revents: 0))
            engine.reports.sleep { _ = clinux_poll(sources.baseAddress, 2, nanoseconds) }
            // Before what it calls for is looked at, so that no call is lost.
            if sources[0].revents != 0 { engine.stop.wakeup.clear() }
        }
    }

    // MARK: What can be seen from outside

    private func publish() {
        var lag: (entries: Int64, milliseconds: Int64) = (0, 0)
        let now = engine.clock.moment.realMilliseconds
        for case let feed? in feeds {
            let known = feed.lag(nowMilliseconds: now)
            lag.entries += known.entries ?? 0
            lag.milliseconds = max(lag.milliseconds, known.milliseconds)
        }
        if store.fault == nil {
            knownLag = feeds.contains { $0 != nil } ? (lag.entries, lag.milliseconds, now) : nil
        } else if let known = knownLag {
            // As far as this process can know, nobody reads what it had to let go.
            lag.entries = max(lag.entries, known.entries)
            lag.milliseconds = max(lag.milliseconds, known.milliseconds + now - known.atMilliseconds)
        }
        instruments.publish(
            member, fencedPushes: permits.fenced, unmirroredSaves: store.unmirroredSaves, lag: lag)
        if let reason = store.unmirroredReason { notes.unmirrored(reason) }
        let unreadiness = self.unreadiness
        if unreadiness == nil { notes.well() }
        onReadiness?(unreadiness)
    }

    /// Why this process should be given no work; nil where it should.
    private var unreadiness: String? {
        if let fault = store.fault { return fault.description }
        if group != .joined {
            if let standing { return standing.description }
            if case .failing(let fault) = client.status { return fault.description }
            return "joining the group \(settings.group.name)"
        }
        if let standing { return standing.description }
        let faults = feeds.compactMap { $0?.fault }
        for fault in faults { notes.hindered(fault) }
        return faults.first?.description
    }
}
