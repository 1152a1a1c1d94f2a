import CLinux
import Delivery
import Flow
import Glibc
import Instruments
import LiveActivities
import Pacing
import Storage
import Streams
import Telemetry

/// Runs one lane on the calling thread: reads the source, keeps the clock, feeds the workers, hears their reports.
///
/// What each record or push touches is not checked for overlapping access: nothing calls back into a runner while it changes something.
public final class LaneRunner {
    private let engine: LaneEngine
    private let lane: Lane
    private let recordings: MergedRecordings
    private let marks: DeadLetterMarks
    private let tokens: MemoryTokenRegistry
    /// Questions about what the lane knows, and registrations, from any thread.
    public let questions: LaneMailbox
    private var decoder: EventDecoder
    private var recordClock = RecordClock()
    /// The next record to be applied: the recordings' current one.
    @exclusivity(unchecked) private var head: UnsafePointer<RecordingRecord>?
    @exclusivity(unchecked) private var phase = Phase.reading
    private var isSourceEmpty = false
    private var drainDeadlineMilliseconds: Int64?

    private enum Phase {
        case reading, finishing, draining
    }

    /// Records are applied in turns of at most so many, so that answers and timers, and what is urgent among the records, wait for some
    /// dozens of microseconds. A turn costs about as much as one record.
    private static let recordsATurn = 64

    /// - Parameter time: is kept in step with the recording's clock.
    /// - Throws: a setting that is wrong, or a system call that failed.
    public init(
        settings: RunSettings, recordings: MergedRecordings, registry: Registry, log: Log, stop: StopRequest,
        time: RecordingTime = RecordingTime()
    ) throws {
        self.recordings = recordings
        marks = DeadLetterMarks(version: settings.deadLetters.version)
        engine = try LaneEngine(
            settings: settings, registry: registry, log: log, stop: stop, time: time,
            sink: settings.deadLetters.sink(), marks: marks, feedback: settings.feedback.sink())
        lane = engine.lane
        tokens = MemoryTokenRegistry { [unowned engine] in engine.clock.moment.pacing.wallMilliseconds }
        questions = LaneMailbox(wakeup: stop.wakeup)
        decoder = EventDecoder(apps: settings.lane.shard.apps)
    }

    /// Called about four times a second, on the runner's thread.
    public var onTick: ((Lane, Moment) -> Void)? {
        get { engine.onTick }
        set { engine.onTick = newValue }
    }

    /// Why no app can be pushed to, and what to do; nil where one can be.
    public var hindrance: String? { engine.hindrance }

    /// The accounting so far.
    public var decisions: DecisionTotals { engine.decisions }

    /// Returns when the recording has been told to its end, or after `stop` and its drain.
    public func run() throws(SourceFault) -> RunEnding {
        clinux_set_timer_slack(LaneEngine.timerSlackNanoseconds)
        defer {
            questions.close()
            engine.end()
        }
        while true {
            engine.clock.read()
            engine.takeReports()
            if engine.stop.isStopped && phase != .draining { beginDraining() }
            engine.fireDueTimers()
            questions.answer { window }
            if phase == .reading, engine.deadLetters.takesMore { try readRecords() }
            if phase == .finishing { stepTimers(before: .max) }
            engine.fireDueTimers()
            // Answered at once: what comes of one answer may ask again.
            while engine.ask(tokens) {}
            engine.dispatch()
            engine.deadLetters.advance(nowMilliseconds: engine.clock.moment.realMilliseconds)
            if phase == .reading, engine.deadLetters.isFlooded { beginDraining() }
            engine.tick()
            if let ending { return ending }
            let nanoseconds = idleNanoseconds
            engine.flush(isIdle: nanoseconds != nil)
            if let nanoseconds { wait(nanoseconds) }
        }
    }

    // MARK: Source

    private func readRecords() throws(SourceFault) {
        isSourceEmpty = false
        var applied = 0
        defer { engine.noteRead(applied) }
        for _ in 0..<LaneRunner.recordsATurn {
            guard try fetch(), let record = head, isDue() else { return }
            apply(record)
            head = nil
            applied += 1
            // What is routine leaves at the end of the turn, in company; under a clock that stands each step is told by itself.
            if lane.hasUrgentNews || (engine.clock.stands && lane.hasNews) { engine.dispatch() }
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
            lane.finish(at: engine.clock.moment)
            engine.log.info("the source has ended")
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
                engine.clock.begin(at: first)
            }
            self.recordClock = recordClock
            return true
        }
    }

    /// Whether the head's time has come. Under a clock that stands, timers due before it fire first, each at its own time; under others
    /// they have, with this turn's moment.
    private func isDue() -> Bool {
        guard !engine.clock.isLive, let time = recordClock.nowMilliseconds else { return true }
        if engine.clock.stands {
            guard stepTimers(before: time) else { return false }
            engine.clock.step(to: max(time, engine.clock.moment.pacing.nowMilliseconds))
            return true
        }
        return time <= engine.clock.moment.pacing.nowMilliseconds
    }

    /// With a clock that stands: from timer to timer, each answered before the next.
    ///
    /// - Returns: whether none is left before `end` and nothing waits for an answer or a stream.
    @discardableResult
    private func stepTimers(before end: Int64) -> Bool {
        guard engine.clock.stands else { return false }
        while lane.inFlightCount == 0 && !lane.hasReady() {
            guard let due = lane.nextPacingDueMilliseconds, due < end else { return true }
            engine.clock.step(to: max(due, engine.clock.moment.pacing.nowMilliseconds))
            lane.fire(at: engine.clock.moment)
            engine.dispatch()
        }
        return false
    }

    private func apply(_ record: UnsafePointer<RecordingRecord>) {
        if let fault = record.pointee.fault {
            lane.countDeadLetter(partition: 0)
            return refuse([fault], record.pointee, isEvent: false)
        }
        let faults = lane.apply(
            record.pointee.decoded, partition: 0, offset: record.pointee.offset, at: engine.clock.moment)
        if !faults.isEmpty { refuse(faults.faults, record.pointee) }
    }

    private func refuse(_ faults: [EventFault], _ record: RecordingRecord, isEvent: Bool = true) {
        engine.refuse(
            faults[0],
            marks.letter(
                faults, record, of: recordings.recording.name, isEvent: isEvent,
                atMilliseconds: engine.clock.moment.pacing.wallMilliseconds))
    }

    // MARK: Questions and registrations

    private var window: LaneWindow {
        LaneWindow(lane: lane, moment: engine.clock.moment, isLive: engine.clock.isLive, registry: tokens) {
            [unowned self] in insert($0)
        }
    }

    /// Applies an event that is in no recording.
    private func insert(_ bytes: UnsafeRawBufferPointer) -> EventFault? {
        do throws(EventFault) {
            let event = try decoder.decode(bytes)
            let faults = lane.apply(event, partition: 0, offset: -1, at: engine.clock.moment)
            return faults.isEmpty ? nil : faults.faults[0]
        } catch {
            return error
        }
    }

    // MARK: The end

    private func beginDraining() {
        engine.log.info(
            "stopping: reading ends, what is urgent and due still leaves", .field("inFlight", lane.inFlightCount))
        phase = .draining
        lane.isDraining = true
        drainDeadlineMilliseconds = engine.clock.moment.realMilliseconds + engine.settings.drainTimeoutMilliseconds
    }

    private var ending: RunEnding? {
        switch phase {
        case .reading:
            // A clock that stands waits for answers before it reads on, and with every credential refused none will come.
            return engine.clock.stands && lane.inFlightCount == 0 && lane.isEveryPoolRefused
                ? engine.refusedEnding : nil
        case .finishing:
            if lane.isIdle { return engine.deadLetters.pending == 0 ? .finished : nil }
            return lane.waitsForRefusedPoolsAlone ? engine.refusedEnding : nil
        case .draining:
            if lane.inFlightCount == 0 && !lane.hasReady(onlyUrgent: true) && engine.deadLetters.pending == 0 {
                return engine.deadLetters.isFlooded ? .tooManyDeadLetters : .drained
            }
            guard let deadline = drainDeadlineMilliseconds, engine.clock.moment.realMilliseconds >= deadline else {
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
                at: 0, to: pollfd(fd: engine.stop.wakeup.descriptor, events: Int16(POLLIN), revents: 0))
            sources.initializeElement(at: 1, to: pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0))
            let awaitsSource = isSourceEmpty && phase == .reading && engine.deadLetters.takesMore
            engine.reports.sleep { _ = clinux_poll(sources.baseAddress, awaitsSource ? 2 : 1, nanoseconds) }
            // Before what it calls for is looked at, so that no call is lost.
            if sources[0].revents != 0 { engine.stop.wakeup.clear() }
        }
    }

    /// How long there is nothing to do, unless something comes; nil where there is.
    private var idleNanoseconds: Int64? {
        var nanoseconds = LaneEngine.tickMilliseconds * 1_000_000
        if phase == .reading && !isSourceEmpty && engine.deadLetters.takesMore {
            guard head != nil else { return nil }
            if engine.clock.stands {
                if lane.inFlightCount == 0 && !lane.hasReady() { return nil }
            } else if let time = recordClock.nowMilliseconds {
                nanoseconds = min(nanoseconds, engine.clock.nanoseconds(untilPacing: time))
            }
        }
        nanoseconds = engine.nanosecondsUntilDue(atMost: nanoseconds)
        return nanoseconds > 0 ? nanoseconds : nil
    }
}
