import CLinux
import Delivery
import Flow
import Glibc
import Instruments
import LiveActivities
import Pacing
import Streams
import Telemetry

/// Everything that a run needs to be told.
public struct RunSettings: Sendable {
    public var lane: LaneSettings
    public var pace: Pace
    public var workers = 1
    public var pools: [PoolSettings]
    public var delivery: DeliveryOptions
    public var drainTimeoutMilliseconds: Int64 = 10_000
    public var deadLetterFile: String?

    public init(lane: LaneSettings, pace: Pace, pools: [PoolSettings], delivery: DeliveryOptions) {
        self.lane = lane
        self.pace = pace
        self.pools = pools
        self.delivery = delivery
    }
}

/// How a run ended.
public enum RunEnding: Equatable, Sendable {
    /// The recording was told to its end.
    case finished
    /// Asked to stop; everything in flight was answered.
    case drained
    /// Asked to stop; so many updates were still in flight when the time was over.
    case drainDeadlineExceeded(inFlight: Int)
    /// The provider refuses the credentials of every app, and nothing is left to wait for.
    case refusedCredentials
}

/// Runs one lane on the calling thread: reads the source, keeps the clock, feeds the workers, hears their reports.
///
/// What each record or push touches is not checked for overlapping access: nothing calls back into a runner while it changes something.
public final class LaneRunner {
    let settings: RunSettings
    let lane: Lane
    let log: Log
    let instruments: LaneInstruments
    let recordings: MergedRecordings
    let stop: StopRequest
    @exclusivity(unchecked) var clock: RunClock
    private var recordClock = RecordClock()
    private let reports: ReportBox
    private let seats: WorkerSeats
    private let deadLetters: DeadLetterFile?
    private let notes: CompletionNotes
    @exclusivity(unchecked) private var publisher: DecisionPublisher
    @exclusivity(unchecked) private var body = ByteBuffer(capacity: 8_192)
    private let recordsRead: CounterWriter<NoLabel>
    /// The next record to be applied: the recordings' current one.
    @exclusivity(unchecked) private var head: UnsafePointer<RecordingRecord>?
    private var arrivals: [ReportBox.Batch] = []
    @exclusivity(unchecked) private var phase = Phase.reading
    private var isSourceEmpty = false
    private var drainDeadlineMilliseconds: Int64?
    /// Called about four times a second, on the runner's thread.
    public var onTick: ((Lane, Moment) -> Void)?
    @exclusivity(unchecked) private var nextTickMilliseconds: Int64 = 0

    private enum Phase {
        case reading, finishing, draining
    }

    /// Records are applied in turns of at most so many, so that answers and timers, and what is urgent among the records, wait for some
    /// dozens of microseconds. A turn costs about as much as one record.
    private static let recordsATurn = 64
    /// So many answers before its own, what an answer will read is begun to be loaded.
    private static let answersAhead = 4
    private static let tickMilliseconds: Int64 = 250
    /// An urgent record that is due is not to wait for the kernel's 50 microseconds.
    private static let timerSlackNanoseconds: UInt = 1_000

    /// - Parameter time: is kept in step with the recording's clock.
    /// - Throws: a setting that is wrong, or a system call that failed.
    public init(
        settings: RunSettings, recordings: MergedRecordings, registry: Registry, log: Log, stop: StopRequest,
        time: RecordingTime = RecordingTime()
    ) throws {
        self.settings = settings
        self.recordings = recordings
        self.log = log.component("lane")
        self.stop = stop
        var laneSettings = settings.lane
        laneSettings.broadcasts = false
        lane = Lane(settings: laneSettings)
        instruments = LaneInstruments(registry: registry)
        recordsRead = instruments.records.writer()
        publisher = DecisionPublisher(instruments)
        clock = RunClock(settings.pace, shared: time)
        deadLetters = try settings.deadLetterFile.map { path throws(SettingFault) in try DeadLetterFile(path: path) }
        notes = CompletionNotes(instruments: instruments, log: self.log, deadLetters: deadLetters)
        reports = ReportBox(wakeup: stop.wakeup)
        seats = try WorkerSeats(
            count: settings.workers, pools: settings.pools, options: settings.delivery, registry: registry,
            log: log.component("delivery"), lane: lane, reports: reports)
    }

    /// Returns when the recording has been told to its end, or after `stop` and its drain.
    public func run() throws(SourceFault) -> RunEnding {
        clinux_set_timer_slack(LaneRunner.timerSlackNanoseconds)
        defer {
            seats.flush(atMilliseconds: clock.moment.realMilliseconds, isIdle: true)
            seats.stop()
            takeReports()
            publish()
        }
        while true {
            clock.read()
            takeReports()
            if stop.isStopped && phase != .draining { beginDraining() }
            fireDueTimers()
            if phase == .reading { try readRecords() }
            if phase == .finishing { stepTimers(before: .max) }
            fireDueTimers()
            dispatch()
            tick()
            if let ending { return ending }
            let nanoseconds = idleNanoseconds
            seats.flush(atMilliseconds: clock.moment.realMilliseconds, isIdle: nanoseconds != nil)
            if let nanoseconds { wait(nanoseconds) }
        }
    }

    /// The accounting so far.
    public var decisions: DecisionTotals {
        var totals = DecisionTotals()
        for shard in lane.eachShard { totals.add(shard.decisions) }
        return totals
    }

    // MARK: Source

    private func readRecords() throws(SourceFault) {
        isSourceEmpty = false
        var applied: Int64 = 0
        defer { recordsRead.add(applied) }
        for _ in 0..<LaneRunner.recordsATurn {
            guard try fetch(), let record = head, isDue() else { return }
            apply(record)
            head = nil
            applied += 1
            // What is routine leaves at the end of the turn, in company; under a clock that stands each step is told by itself.
            if lane.hasUrgentNews || (clock.stands && lane.hasNews) { dispatch() }
        }
    }

    /// Makes `head` the next record; false where there is none now.
    private func fetch() throws(SourceFault) -> Bool {
        if head != nil { return true }
        switch try recordings.advance(waits: false) {
        case .notYet:
            isSourceEmpty = true
            return false
        case .end:
            phase = .finishing
            lane.finish(at: clock.moment)
            log.info("the source has ended")
            return false
        case .record:
            let record = recordings.current
            head = record
            let batch = recordings.newBatch
            if batch.count > 1 { lane.prefetch(batch.count, partition: 0) { batch[$0].decoded.identifier } }
            var recordClock = recordClock
            try recordClock.advance(to: record.pointee.time) { () throws(SourceFault) in
                try recordings.followingTimeMilliseconds(waits: false)
            }
            if self.recordClock.nowMilliseconds == nil, let first = recordClock.nowMilliseconds {
                clock.begin(at: first)
            }
            self.recordClock = recordClock
            return true
        }
    }

    /// Whether the head's time has come. Under a clock that stands, timers due before it fire first, each at its own time; under others
    /// they have, with this turn's moment.
    private func isDue() -> Bool {
        guard !clock.isLive, let time = recordClock.nowMilliseconds else { return true }
        if clock.stands {
            guard stepTimers(before: time) else { return false }
            clock.step(to: max(time, clock.moment.pacing.nowMilliseconds))
            return true
        }
        return time <= clock.moment.pacing.nowMilliseconds
    }

    /// With a clock that stands: from timer to timer, each answered before the next.
    ///
    /// - Returns: whether none is left before `end` and nothing waits for an answer or a stream.
    @discardableResult
    private func stepTimers(before end: Int64) -> Bool {
        guard clock.stands else { return false }
        while lane.inFlightCount == 0 && !lane.hasReady() {
            guard let due = lane.nextPacingDueMilliseconds, due < end else { return true }
            clock.step(to: max(due, clock.moment.pacing.nowMilliseconds))
            lane.fire(at: clock.moment)
            dispatch()
        }
        return false
    }

    private func apply(_ record: UnsafePointer<RecordingRecord>) {
        if let fault = record.pointee.fault {
            lane.countDeadLetter(partition: 0)
            return refuse(fault, record.pointee, recordings.recording)
        }
        let faults = lane.apply(
            record.pointee.decoded, partition: 0, offset: record.pointee.offset, at: clock.moment)
        guard !faults.isEmpty else { return }
        for fault in faults.faults { refuse(fault, record.pointee, recordings.recording) }
    }

    private func refuse(_ fault: EventFault, _ record: RecordingRecord, _ source: Recording) {
        instruments.deadLetters.add(1, LaneInstruments.FaultLabel(fault.reason))
        log.warning(
            "a record cannot be used", .field("source", source.name), .field("record", record.number),
            .field("reason", fault.reason.name), .hint(fault.explanation))
        deadLetters?.append(DeadLetter(fault: fault, source: source.name, record: record))
    }

    // MARK: Timers and dispatch

    private func fireDueTimers() {
        guard !clock.stands else { return }
        if let due = lane.nextPacingDueMilliseconds, due <= clock.moment.pacing.nowMilliseconds {
            lane.fire(at: clock.moment)
        }
    }

    private func dispatch() {
        while let dispatch = lane.next(at: clock.moment, body: &body) {
            guard let headers = dispatch.headers else {
                preconditionFailure("update \(dispatch.identifier) has no device token and was not refused")
            }
            seats.add(dispatch, headers, body, atMilliseconds: clock.moment.realMilliseconds)
        }
        guard lane.hasUnpushable else { return }
        for refused in lane.takeUnpushable() {
            instruments.unpushable.add(1)
            log.warning(
                "an update was not sent: APNs or the phone would not take it",
                .activity(refused.update.activityIdentifier),
                .field("reason", refused.name), .hint(refused.explanation))
            deadLetters?.append(refused)
        }
    }

    // MARK: Reports

    private func takeReports() {
        reports.take(into: &arrivals)
        guard !arrivals.isEmpty else { return }
        for (worker, batch) in arrivals {
            for (place, report) in batch.enumerated() {
                if place + LaneRunner.answersAhead < batch.count,
                    case .completed(let identifier, _) = batch[place + LaneRunner.answersAhead]
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
                    }
                }
            }
        }
        arrivals.removeAll(keepingCapacity: true)
    }

    // MARK: The end

    private func beginDraining() {
        log.info("stopping: reading ends, what is urgent and due still leaves", .field("inFlight", lane.inFlightCount))
        phase = .draining
        lane.isDraining = true
        drainDeadlineMilliseconds = clock.moment.realMilliseconds + settings.drainTimeoutMilliseconds
    }

    private var ending: RunEnding? {
        switch phase {
        case .reading:
            // A clock that stands waits for answers before it reads on, and with every credential refused none will come.
            return clock.stands && lane.inFlightCount == 0 && lane.isEveryCredentialRefused ? .refusedCredentials : nil
        case .finishing:
            if lane.isIdle { return .finished }
            return lane.inFlightCount == 0 && lane.isEveryCredentialRefused ? .refusedCredentials : nil
        case .draining:
            if lane.inFlightCount == 0 && !lane.hasReady(onlyUrgent: true) { return .drained }
            guard let deadline = drainDeadlineMilliseconds, clock.moment.realMilliseconds >= deadline else {
                return nil
            }
            return .drainDeadlineExceeded(inFlight: lane.inFlightCount)
        }
    }

    // MARK: Waiting

    /// Until something is due, or a worker or a stop request calls.
    private func wait(_ nanoseconds: Int64) {
        withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 2) { sources in
            sources.initializeElement(
                at: 0, to: pollfd(fd: stop.wakeup.descriptor, events: Int16(POLLIN), revents: 0))
            sources.initializeElement(at: 1, to: pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0))
            let awaitsSource = isSourceEmpty && phase == .reading
            reports.sleep { _ = clinux_poll(sources.baseAddress, awaitsSource ? 2 : 1, nanoseconds) }
            // Before what it calls for is looked at, so that no call is lost.
            if sources[0].revents != 0 { stop.wakeup.clear() }
        }
    }

    /// How long there is nothing to do, unless something comes; nil where there is.
    private var idleNanoseconds: Int64? {
        var nanoseconds = LaneRunner.tickMilliseconds * 1_000_000
        if phase == .reading && !isSourceEmpty {
            guard head != nil else { return nil }
            if clock.stands {
                if lane.inFlightCount == 0 && !lane.hasReady() { return nil }
            } else if let time = recordClock.nowMilliseconds {
                nanoseconds = min(nanoseconds, clock.nanoseconds(untilPacing: time))
            }
        }
        if let due = lane.nextRealDueMilliseconds(after: clock.moment.realMilliseconds) {
            nanoseconds = min(nanoseconds, clock.nanoseconds(untilReal: due))
        }
        if !clock.stands, let due = lane.nextPacingDueMilliseconds {
            nanoseconds = min(nanoseconds, clock.nanoseconds(untilPacing: due))
        }
        return nanoseconds > 0 ? nanoseconds : nil
    }

    private func tick() {
        guard clock.moment.realMilliseconds >= nextTickMilliseconds else { return }
        nextTickMilliseconds = clock.moment.realMilliseconds + LaneRunner.tickMilliseconds
        publish()
        onTick?(lane, clock.moment)
    }

    private func publish() {
        publisher.publish(lane, clockSteps: clock.steps)
    }
}
