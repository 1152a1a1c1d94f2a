import CLinux
import Delivery
import Flow
import Instruments
import LiveActivities
import Pacing
import Storage
import Streams
import Telemetry

/// What every run does with its lane, wherever its events come from: keeps the clock, fires timers, feeds the workers, hears their reports,
/// counts. It belongs to the thread of its run.
///
/// What each record or push touches is not checked for overlapping access: nothing calls back into a run while it changes something.
final class LaneEngine {
    let settings: RunSettings
    let lane: Lane
    let log: Log
    let instruments: LaneInstruments
    let stop: StopRequest
    /// Whether pushes of a partition may leave, asked by the workers at the last moment.
    let permits: SendPermits?
    @exclusivity(unchecked) var clock: RunClock
    let reports: ReportBox
    let seats: WorkerSeats
    let deadLetters: DeadLetterDesk
    /// Nil where nothing is to be told.
    let feedback: FeedbackDesk?
    private let registryInstruments: RegistryInstruments
    private let marks: DeadLetterMarks
    private let notes: CompletionNotes
    private let appGauges: AppGauges
    /// Nil where no key comes from a file.
    private let keyWatch: KeyWatch?
    /// By pool: how many signing keys its provider token has adopted.
    private var keyAdoptions: [UInt32]
    /// By pool: what the provider answered when it last began to pause.
    private var pauseReasons: [APNsReason?]
    private var hasPushed = false
    @exclusivity(unchecked) private var publisher: DecisionPublisher
    @exclusivity(unchecked) private var body = ByteBuffer(capacity: 8_192)
    private let recordsRead: CounterWriter<NoLabel>
    private var arrivals: [ReportBox.Batch] = []
    /// Called about four times a second.
    var onTick: ((Lane, Moment) -> Void)?
    @exclusivity(unchecked) private var nextTickMilliseconds: Int64 = 0

    /// So many answers before its own, what an answer will read is begun to be loaded.
    private static let answersAhead = 4
    static let tickMilliseconds: Int64 = 250
    /// An urgent record that is due is not to wait for the kernel's 50 microseconds.
    static let timerSlackNanoseconds: UInt = 1_000
    /// At the end, feedback of which nothing is written for so long is given up.
    private static let feedbackPatienceMilliseconds: Int64 = 2_000

    /// - Parameters:
    ///   - time: is kept in step with the recording's clock.
    ///   - permits: nil where nobody else can own a partition.
    ///   - sink: where dead letters go; nil for nowhere.
    ///   - feedback: makes what feedback goes to; nil for nowhere.
    /// - Throws: a setting that is wrong, or a system call that failed.
    init(
        settings: RunSettings, registry: Registry, log: Log, stop: StopRequest, time: RecordingTime,
        permits: SendPermits? = nil, sink: (any DeadLetterSink)?, marks: DeadLetterMarks,
        feedback: FeedbackSinkMaker?
    ) throws {
        self.settings = settings
        self.log = log.component("lane")
        self.stop = stop
        self.permits = permits
        var laneSettings = settings.lane
        laneSettings.broadcasts = false
        laneSettings.shard.notesUntoldEnds = feedback != nil
        laneSettings.shard.asksRegistry = true
        lane = Lane(settings: laneSettings)
        instruments = LaneInstruments(registry: registry)
        recordsRead = instruments.records.writer()
        publisher = DecisionPublisher(instruments)
        registryInstruments = RegistryInstruments(registry: registry, log: self.log)
        clock = RunClock(settings.pace, shared: time)
        deadLetters = DeadLetterDesk(
            settings: settings.deadLetters, sink: sink, registry: registry, alarms: instruments.alarms, log: self.log)
        self.marks = marks
        // Its metrics are there where nothing is told as well.
        let (alarms, feedbackInstruments) = (instruments.alarms, FeedbackInstruments(registry: registry))
        self.feedback = try feedback.map {
            try FeedbackDesk(
                settings: settings.feedback, apps: settings.pools.map(\.app), instruments: feedbackInstruments,
                alarms: alarms, log: log.component("feedback"), sink: $0)
        }
        notes = CompletionNotes(
            instruments: instruments, log: self.log, deadLetters: deadLetters, marks: marks,
            apps: settings.pools.map(\.app), feedback: self.feedback)
        appGauges = AppGauges(registry: registry, pools: settings.pools)
        pauseReasons = settings.pools.map { _ in nil }
        reports = ReportBox(wakeup: stop.wakeup)
        keyAdoptions = settings.pools.map(\.providerToken.adoptions)
        seats = try WorkerSeats(
            count: settings.workers, pools: settings.pools, options: settings.delivery, registry: registry,
            log: log.component("delivery"), lane: lane, reports: reports, permits: permits)
        let keys = WatchedKey.all(settings.pools)
        keyWatch =
            keys.isEmpty
            ? nil
            : try KeyWatch(
                keys, everyMilliseconds: settings.keyCheckMilliseconds, instruments: seats.instruments,
                log: log.component("delivery"))
    }

    /// The workers end, and what they still report is heard.
    func end() {
        flush(isIdle: true)
        seats.stop()
        keyWatch?.stop()
        takeReports()
        deadLetters.advance(nowMilliseconds: clock.moment.realMilliseconds)
        if deadLetters.pending > 0 {
            log.error(
                "dead letters were not written", .field("count", deadLetters.pending),
                .hint(deadLetters.fault?.description ?? "with streams, the next owner of their partitions writes them"))
        }
        feedback?.collect(from: lane, at: clock.moment)
        feedback?.end(patienceMilliseconds: Self.feedbackPatienceMilliseconds)
        publish()
    }

    /// The accounting so far.
    var decisions: DecisionTotals {
        var totals = DecisionTotals()
        totals.add(lane.formerDecisions)
        for shard in lane.eachShard { totals.add(shard.decisions) }
        return totals
    }

    func flush(isIdle: Bool) {
        seats.flush(atMilliseconds: clock.moment.realMilliseconds, isIdle: isIdle)
    }

    // MARK: Dead letters

    func noteRead(_ records: Int) {
        recordsRead.add(Int64(records))
        deadLetters.noteRead(records)
    }

    /// - Parameter hold: the record whose position must not be passed before the letter is written.
    func refuse(_ fault: EventFault, _ letter: DeadLetter, hold: DeadLetterDesk.Hold? = nil) {
        instruments.deadLetters.add(1, LaneInstruments.FaultLabel(fault.reason))
        log.warning(
            "a record cannot be used", .field("source", letter.source), letter.place,
            .field("reason", letter.reason), .hint(letter.detail))
        deadLetters.take(letter, hold: hold)
    }

    // MARK: Timers and dispatch

    func fireDueTimers() {
        guard !clock.stands else { return }
        if let due = lane.nextPacingDueMilliseconds, due <= clock.moment.pacing.nowMilliseconds {
            lane.fire(at: clock.moment)
        }
    }

    func dispatch() {
        while let dispatch = lane.next(at: clock.moment, body: &body) {
            guard let headers = dispatch.headers else {
                preconditionFailure("update \(dispatch.identifier) has no device token and was not refused")
            }
            seats.add(dispatch, headers, body, atMilliseconds: clock.moment.realMilliseconds)
        }
        guard lane.hasUnpushable else { return }
        for refused in lane.takeUnpushable() {
            instruments.unpushable.add(1)
            feedback?.note(refused, at: clock.moment)
            log.warning(
                "an update was not sent: APNs or the phone would not take it",
                .activity(refused.update.activityIdentifier),
                .field("reason", refused.name), .hint(refused.explanation))
            deadLetters.take(
                marks.letter(
                    refused.update, partition: refused.partition, reason: refused.name, detail: refused.explanation,
                    atMilliseconds: clock.moment.pacing.wallMilliseconds))
        }
    }

    // MARK: The registry of tokens

    /// Asks what the lane wants to know of tokens, or to have known.
    ///
    /// - Parameter answered: called with each answer.
    /// - Returns: whether anything was asked.
    func ask(_ tokens: any TokenRegistry, answered: @escaping () -> Void = {}) -> Bool {
        let requests = lane.takeRegistryRequests(at: clock.moment)
        for (identifier, request) in requests {
            registryInstruments.note(request)
            tokens.perform(request) { [weak self] answer in
                guard let self else { return }
                lane.answer(identifier, answer, at: clock.moment)
                answered()
            }
        }
        return !requests.isEmpty
    }

    // MARK: Reports

    func takeReports() {
        reports.take(into: &arrivals)
        guard !arrivals.isEmpty else { return }
        for (worker, batch) in arrivals {
            for (place, report) in batch.enumerated() {
                if place + LaneEngine.answersAhead < batch.count,
                    case .completed(let identifier, _) = batch[place + LaneEngine.answersAhead]
                {
                    lane.prefetchCompletion(identifier)
                }
                switch report {
                case .streams(let pool, let count):
                    let link = seats.link(worker: worker, pool: pool)
                    lane.setStreams(count, link: link)
                    seats.setStreams(count, link: link)
                case .completed(let identifier, let outcome):
                    if let completion = lane.complete(identifier, outcome, at: clock.moment) {
                        notes.note(completion, at: clock.moment)
                        if !hasPushed, completion.fate == .accepted { hasPushed = true }
                        if case .opened = completion.breaker {
                            pauseReasons[completion.dispatch.pool] = completion.reason
                        }
                    }
                }
            }
        }
        arrivals.removeAll(keepingCapacity: true)
        feedback?.handOver()
    }

    // MARK: Nothing can be sent

    /// Why this process can push to none of its apps, and what to do; nil where it can push to one, or could once: so a rollout of a wrong
    /// configuration stops, and members that have worked stay reachable for registrations while a key is mended.
    var hindrance: String? {
        guard !hasPushed, lane.isEveryPoolRefused else { return nil }
        return settings.pools.enumerated().map { index, pool in
            let reason = pauseReasons[index]
            let what = lane.pauseCause(pool: index) == .tokens ? "every token" : "the credential"
            return "app \(pool.app): the provider refuses \(what)"
                + (reason.map { " (\($0.name)); \($0.remedy)" } ?? "")
        }.joined(separator: "; ")
    }

    /// How a run ends that has nothing left to wait for while no app can be pushed to.
    var refusedEnding: RunEnding {
        settings.pools.indices.contains { lane.pauseCause(pool: $0) == .tokens } ? .refusedTokens : .refusedCredentials
    }

    // MARK: From time to time

    func tick() {
        guard clock.moment.realMilliseconds >= nextTickMilliseconds else { return }
        nextTickMilliseconds = clock.moment.realMilliseconds + LaneEngine.tickMilliseconds
        noteKeys()
        feedback?.collect(from: lane, at: clock.moment)
        feedback?.handOver()
        publish()
        onTick?(lane, clock.moment)
    }

    /// With another signing key a pool that pauses for its credential need not wait for its next probe.
    private func noteKeys() {
        for (index, pool) in settings.pools.enumerated() {
            let adoptions = pool.providerToken.adoptions
            guard adoptions != keyAdoptions[index] else { continue }
            keyAdoptions[index] = adoptions
            lane.hasten(pool: index, at: clock.moment)
        }
    }

    private func publish() {
        publisher.publish(lane, clockSteps: clock.steps)
        registryInstruments.publish(lane)
        appGauges.publish(lane, unixSeconds: clock.moment.pacing.wallMilliseconds / 1_000)
        deadLetters.publish()
        feedback?.publish(at: clock.moment)
    }

    /// At most `nanoseconds`, until a timer or a retry is due.
    func nanosecondsUntilDue(atMost nanoseconds: Int64) -> Int64 {
        var nanoseconds = nanoseconds
        if let due = lane.nextRealDueMilliseconds(after: clock.moment.realMilliseconds) {
            nanoseconds = min(nanoseconds, clock.nanoseconds(untilReal: due))
        }
        if !clock.stands, let due = lane.nextPacingDueMilliseconds {
            nanoseconds = min(nanoseconds, clock.nanoseconds(untilPacing: due))
        }
        return nanoseconds
    }
}
