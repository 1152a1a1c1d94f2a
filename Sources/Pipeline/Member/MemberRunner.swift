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
    let settings: GroupRunSettings
    let source: any MemberSource
    let loop: EventLoop
    let client: RedisClient
    let store: RedisStore
    let instruments: MemberInstruments
    let notes: MemberNotes
    let reports: PartitionReports
    private let board: StatusBoard
    let permits: SendPermits
    /// Where tokens are registered.
    let tokens: RedisTokenRegistry
    private var registryWatch = RegistryWatch()
    /// Why tokens cannot be found or kept, where that lasts; nil where they can.
    private(set) var registryHindrance: String?
    /// Questions about what this member owns, from any thread.
    public let questions: LaneMailbox
    /// What all connections of this process to Redis and Kafka count.
    public let connectionInstruments: ConnectionInstruments
    private let marks: DeadLetterMarks
    let crashes: CrashWatch?
    /// By partition: what has to be known of crashes before it is read.
    private var crashesAsked: [Int]
    /// By partition.
    var feeds: [(any PartitionFeed)?]
    /// The partition whose turn comes next.
    private var turn = 0
    let group: GroupCheck
    var drainDeadlineMilliseconds: Int64?
    /// Partitions that are to be given back in the end.
    private var partitionsToRelease = 0
    private var permitChanges = -1
    var hasStirred = false
    var hasAsked = false
    var deferred: DeferredSaves
    /// What was read when nothing was in the way last, and when that was; nil where nothing was.
    var knownLag: (records: Int64, milliseconds: Int64, atMilliseconds: Int64)?
    /// Called with why the process should be given no work, nil where it should.
    public var onReadiness: ((String?) -> Void)?

    /// Some tenths of a millisecond: answers and timers wait for it, what is urgent does not. With 64 the turns cost a tenth of it all.
    private static let recordsATurn = 512
    /// What a record reads is loaded while so many before it are applied.
    private static let recordsAhead = 16
    /// After what is under way has been waited for, to write what is left and let go.
    private static let handOverMilliseconds: Int64 = 2_000
    /// Before that is over, whoever spreads partitions is left without a farewell, if it does not answer.
    private static let farewellMilliseconds: Int64 = 500

    /// - Throws: a setting that is wrong, or a system call that failed.
    public init(
        settings: RunSettings, group: GroupRunSettings, registry: Registry, log: Log, stop: StopRequest
    ) throws {
        self.settings = group
        deferred = DeferredSaves(patienceMilliseconds: settings.feedback.saveWaitMilliseconds)
        var settings = settings
        settings.lane.shard.keepsCheckpoints = true
        permits = SendPermits(partitions: group.member.partitions)
        feeds = Array(repeating: nil, count: group.member.partitions)
        crashesAsked = Array(repeating: 0, count: group.member.partitions)
        loop = try EventLoop()
        let redisInstruments = RedisInstruments(registry: registry)
        client = RedisClient(
            settings: group.redis, loop: loop, instruments: redisInstruments, log: log.component("redis"))
        switch group.source {
        case .streams(let streams):
            source = StreamSource(client: client, settings: streams)
            connectionInstruments = ConnectionInstruments(redis: redisInstruments, kafka: nil)
        case .kafka(let kafka):
            let read = try KafkaSource(
                settings: kafka, partitions: group.member.partitions, loop: loop, registry: registry,
                log: log.component("kafka"))
            source = read
            connectionInstruments = ConnectionInstruments(redis: redisInstruments, kafka: read.instruments)
        }
        let (client, letters, names) = (client, settings.deadLetters, source.names)
        crashes = try letters.stateDirectory.map { directory throws(SettingFault) in
            try CrashWatch(
                directory: directory, maxCrashes: letters.maxCrashes, group: group.group.name, names: names,
                client: client, log: log.component("member"))
        }
        marks = DeadLetterMarks(
            group: group.group.name, instance: group.member.name, version: settings.deadLetters.version)
        engine = try LaneEngine(
            settings: settings, registry: registry, log: log, stop: stop, time: RecordingTime(), permits: permits,
            sink: settings.deadLetters.sink(client: client, group: group, source: source), marks: marks,
            feedback: settings.feedback.sink(
                group: group, redis: redisInstruments, kafka: (source as? KafkaSource)?.instruments,
                log: log.component("feedback")))
        member = Member(settings: group.member, lane: engine.lane)
        store = RedisStore(client: client, place: group.place, group: group.group)
        instruments = MemberInstruments(registry: registry)
        notes = MemberNotes(
            instruments: instruments, log: log.component("member"), group: group.group.name, names: names)
        board = StatusBoard(client: client, group: group.group)
        reports = PartitionReports(registry: registry, board: board, source: source)
        tokens = RedisTokenRegistry(client: client, place: group.place, group: group.group.name)
        questions = LaneMailbox(wakeup: stop.wakeup)
        self.group = GroupCheck(store: store, notes: notes)
        engine.onTick = { [weak self] _, moment in
            guard let self else { return }
            registryHindrance = registryWatch.hindrance(tokens.fault, nowMilliseconds: moment.realMilliseconds)
            publish()
        }
        engine.deadLetters.onWritten = { [weak self] hold in
            self?.member.release(
                partition: hold.partition, source: hold.source, offset: hold.offset, epoch: hold.epoch)
        }
    }

    /// Says to all of the group where this member's API answers. Before it runs.
    public func announce(api address: String) { board.address = address }

    /// The accounting so far.
    public var decisions: DecisionTotals { engine.decisions }

    /// Returns after `stop`, once everything is handed over or the time for that is over.
    public func run() -> RunEnding {
        clinux_set_timer_slack(LaneEngine.timerSlackNanoseconds)
        defer {
            questions.close()
            engine.end()
            for case let feed? in feeds { _ = feed.close() }
            source.close()
            client.close()
            loop.runOnce(timeoutMilliseconds: 0)
        }
        while true {
            engine.clock.read()
            loop.runOnce(timeoutMilliseconds: 0)
            engine.takeReports()
            if engine.stop.isStopped || source.ending != nil, drainDeadlineMilliseconds == nil { beginStopping() }
            if group.advance(nowMilliseconds: engine.clock.moment.realMilliseconds) { hasAsked = true }
            // A lease that was renewed after a pause: workers would refuse what leaves below.
            renewPermits()
            engine.fireDueTimers()
            let hasApplied = engine.deadLetters.takesMore && applyRecords()
            engine.dispatch()
            engine.deadLetters.advance(nowMilliseconds: engine.clock.moment.realMilliseconds)
            step()
            questions.answer { window }
            engine.tick()
            if let ending { return ending }
            let nanoseconds = hasApplied || hasWork ? nil : idleNanoseconds
            engine.flush(isIdle: nanoseconds != nil)
            if let nanoseconds { wait(nanoseconds) }
        }
    }

    private var window: LaneWindow {
        LaneWindow(lane: engine.lane, moment: engine.clock.moment, isLive: true, registry: tokens, insert: nil)
    }

    // MARK: The group

    /// What time and records have made necessary, and the requests of it.
    private func step() {
        // Nothing is claimed before it is known that this member fits its group.
        guard group.hasJoined else { return }
        let moment = engine.clock.moment
        // What answers have brought: the source lets go of what was handed over, with its last positions.
        tellNotices()
        source.advance(member, at: moment)
        member.advance(to: moment)
        // Before a release is on its way: its next owner may send as soon as it has arrived.
        renewPermits()
        while let (identifier, request) = member.nextRequest() {
            hasAsked = true
            if let feedback = engine.feedback,
                deferred.hold(identifier, request, for: feedback, engine.lane, at: moment)
            {
                continue
            }
            perform(request, identifier)
        }
        while let feedback = engine.feedback, let (identifier, request) = deferred.next(feedback, at: moment) {
            hasAsked = true
            perform(request, identifier)
        }
        if engine.ask(tokens, answered: { [weak self] in self?.hasStirred = true }) { hasAsked = true }
        tellNotices()
        readOn(moment)
    }

    private func perform(_ request: StoreRequest, _ identifier: UInt64) {
        store.perform(settings.isVolatile ? request.withoutCheckpoints : request) { [weak self] answer in
            guard let self else { return }
            member.answer(identifier, answer, at: engine.clock.moment)
            hasStirred = true
        }
    }

    private func tellNotices() {
        notes.note(drainsCutShort: member.counts.drainsCutShort)
        for notice in member.notices {
            notes.note(notice, store.fault)
            switch notice {
            case .lost, .lapsed, .ownershipForgotten: group.noteLoss()
            case .released(let partition, let positions): source.hear(released: partition, positions: positions)
            default: break
            }
        }
        member.notices.removeAll(keepingCapacity: true)
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
            if let crashes {
                guard crashes.isAnswered(crashesAsked[place]) else { continue }
                feed.poison = crashes.poison(of: partition)
            }
            feed.read(nowMilliseconds: moment.realMilliseconds, wallMilliseconds: moment.pacing.wallMilliseconds)
            while let batch = feed.unprepared {
                batch.ticket = member.prepare(batch.records.count, partition: partition, at: moment) {
                    batch.key(at: $0)
                } found: {
                    batch.note($1, at: $0)
                }
                hasStirred = true
            }
        }
    }

    private func open(_ partition: Int32) -> any PartitionFeed {
        let after = (0..<settings.member.sources).map { member.progress(partition: partition, source: $0).settled }
        let feed = source.open(partition, epoch: member.epoch(of: partition), after: after, mark: crashes?.mark)
        feeds[Int(partition)] = feed
        crashesAsked[Int(partition)] = crashes?.ask() ?? 0
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
        if applied > 0 { engine.noteRead(applied) }
        return applied > 0
    }

    private func apply(_ batch: EventBatch, of partition: Int32, atMost limit: Int) -> Int {
        let begin = batch.applied
        let end = min(begin + limit, batch.records.count)
        let moment = engine.clock.moment
        let mark = crashes?.mark
        defer { mark?.clear() }
        let records = batch.records
        func prefetch(_ place: Int) {
            guard place < end, let found = records[place].place else { return }
            engine.lane.prefetch(records[place].event.identifier, at: found, partition: partition)
        }
        // Of what was looked up when it was prepared, the other partitions' turns have left little in the cache.
        for place in begin..<min(begin + MemberRunner.recordsAhead, end) { prefetch(place) }
        for place in begin..<end {
            prefetch(place + MemberRunner.recordsAhead)
            batch.applied = place + 1
            let (source, offset) = (records[place].source, records[place].offset)
            mark?.note(partition: partition, source: source, offset: offset)
            if records[place].isRefused {
                member.countDeadLetter(partition: partition, source: source, offset: offset, at: moment)
                refuse(records[place].fault.map { [$0] } ?? [], records[place], batch, partition, isEvent: false)
                continue
            }
            let faults = member.apply(
                records[place].event, place: records[place].place, partition: partition, source: source,
                offset: offset, at: moment)
            if !faults.isEmpty { refuse(faults.faults, records[place], batch, partition) }
            if engine.lane.hasUrgentNews { engine.dispatch() }
        }
        return limit - (end - begin)
    }

    /// The position does not pass the record before its letter is written.
    private func refuse(
        _ faults: [EventFault], _ record: FeedRecord, _ batch: EventBatch, _ partition: Int32, isEvent: Bool = true
    ) {
        var hold: DeadLetterDesk.Hold?
        if engine.deadLetters.keeps {
            hold = DeadLetterDesk.Hold(
                partition: partition, source: record.source, offset: record.offset, epoch: member.epoch(of: partition))
            member.hold(partition: partition, source: record.source, offset: record.offset)
        }
        let letter = marks.letter(
            faults, record, message: batch.messages?[batch.applied - 1], names: source.names, partition: partition,
            isEvent: isEvent,
            atMilliseconds: engine.clock.moment.pacing.wallMilliseconds)
        engine.refuse(faults[0], letter, hold: hold)
    }

    private func hear(_ notice: FeedNotice, _ partition: Int32) {
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
        group.stop()
        source.stop(
            withinMilliseconds: engine.settings.drainTimeoutMilliseconds + MemberRunner.handOverMilliseconds
                - MemberRunner.farewellMilliseconds)
        member.stop(at: engine.clock.moment)
    }

    private var ending: RunEnding? {
        guard let deadline = drainDeadlineMilliseconds else { return nil }
        if !group.hasJoined { return .drained }
        if member.isStopped, source.isStopped {
            let left = partitionsToRelease - member.counts.partitionsReleased
            return source.ending ?? (left > 0 ? .notHandedOver(partitions: left) : .drained)
        }
        guard engine.clock.moment.realMilliseconds >= deadline else { return nil }
        if let ending = source.ending { return ending }
        return .drainDeadlineExceeded(inFlight: engine.lane.inFlightCount)
    }
}
