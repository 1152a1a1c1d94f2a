import Flow
import Glibc
import Instruments
import Pacing
import Sockets
import Streams

/// Notes what became of pushes and activities for the services that published them, and hands it to the thread that writes it. Pushing never
/// waits for it: at a limit events are dropped, `push.accepted` first.
///
/// Belongs to the run's thread. A push costs it one reference and a place in an array.
final class FeedbackDesk {
    /// From so much of the limit on what tells of accepted pushes is dropped; the rest is room for what others depend on.
    private static let acceptedShare = 0.75
    private static let tellMilliseconds: Int64 = 60_000

    private let box: FeedbackBox
    private let thread: LoopThread
    private let wanted: [Bool]
    private let limit: Int
    private let acceptedLimit: Int
    private let instruments: FeedbackInstruments
    private let alarms: Counter<LaneInstruments.AlarmLabel>
    private let log: Log
    @exclusivity(unchecked) private var outgoing: [FeedbackNote] = []
    /// Notes put into the box, those of `outgoing` included.
    @exclusivity(unchecked) private var taken = 0
    /// By partition: how many notes there were when the last came that must not be lost.
    private var promised: [Int32: Int] = [:]
    private var droppedSinceTold = 0
    private var nextTellMilliseconds = Int64.min

    /// - Parameters:
    ///   - apps: by pool.
    ///   - sink: makes the sink, on the thread that writes.
    /// - Throws: where the system gives no thread.
    init(
        settings: FeedbackSettings, apps: [String], instruments: FeedbackInstruments,
        alarms: Counter<LaneInstruments.AlarmLabel>, log: Log, sink: @escaping @Sendable (EventLoop) -> any FeedbackSink
    ) throws(SystemFault) {
        let box = FeedbackBox()
        (self.box, self.instruments, self.alarms, self.log) = (box, instruments, alarms, log)
        limit = settings.maxPending
        acceptedLimit = max(1, Int(Double(settings.maxPending) * Self.acceptedShare))
        wanted = FeedbackEvent.Kind.allCases.map { settings.kinds.contains($0) }
        thread = try LoopThread.start(name: "feedback") { loop in
            var writer: FeedbackWriter? = FeedbackWriter(
                box: box, sink: sink(loop), apps: apps, instruments: instruments, log: log, loop: loop)
            loop.onWake { [unowned loop] in
                guard box.isClosing else {
                    writer?.takeNotes()
                    return
                }
                writer?.close()
                writer = nil
                box.noteClosed()
                loop.stop()
            }
        }
    }

    // MARK: What comes

    func note(_ completion: Completion, at moment: Moment) {
        let isEnd = completion.update.kind == .end
        switch completion.fate {
        case .accepted:
            add(.pushAccepted, .push(completion.dispatch, completion.answer), moment)
            if isEnd { add(.activityEnded, .push(completion.dispatch, completion.answer), moment) }
        case .refused:
            add(.pushRefused, .push(completion.dispatch, completion.answer), moment)
            if isEnd { add(.activityEnded, .push(completion.dispatch, completion.answer), moment) }
        case .targetGone: add(.tokenGone, .push(completion.dispatch, completion.answer), moment)
        case .startUnknown: add(.startUnknown, .push(completion.dispatch, completion.answer), moment)
        case .held, .sendAgain, .unsent, .orphaned: break
        }
    }

    func note(_ refused: Unpushable, at moment: Moment) {
        add(.pushRefused, .unpushable(refused), moment)
        if refused.update.kind == .end { add(.activityEnded, .unpushable(refused), moment) }
    }

    /// Ends of which no phone will hear. To be called a few times a second, for nobody waits for them.
    func collect(from lane: Lane, at moment: Moment) {
        lane.takeUntoldEnds { partition, end in
            add(.activityEnded, .untoldEnd(end, partition: partition), moment)
        }
    }

    private func add(_ kind: FeedbackEvent.Kind, _ subject: FeedbackNote.Subject, _ moment: Moment) {
        guard wanted[FeedbackInstruments.KindLabel(kind).ordinal] else { return }
        guard pending < (kind == .pushAccepted ? acceptedLimit : limit) else {
            instruments.events.add(1, LabelPair(FeedbackInstruments.KindLabel(kind), .dropped))
            droppedSinceTold += 1
            return
        }
        let note = FeedbackNote(kind: kind, subject: subject, atMilliseconds: moment.pacing.wallMilliseconds)
        outgoing.append(note)
        taken += 1
        if kind != .pushAccepted { promised[note.partition] = taken }
    }

    /// Hands over what was noted. To be called each turn.
    func handOver() {
        guard !outgoing.isEmpty else { return }
        if box.add(&outgoing) { thread.mailbox.wake() }
    }

    // MARK: What waits for it

    var pending: Int { taken - box.endedCount }

    /// What has to have ended before the store may hear what became of a partition's updates: a checkpoint that says so would keep the next
    /// owner from finding it out, and telling it, after a crash. Nil where nothing does.
    ///
    /// It counts what `lane` knows of the partition's ends as well.
    func mark(of partition: Int32, _ lane: Lane, at moment: Moment) -> Int? {
        for end in lane.takeUntoldEnds(of: partition) {
            add(.activityEnded, .untoldEnd(end, partition: partition), moment)
        }
        guard let mark = promised[partition] else { return nil }
        handOver()
        if hasEnded(mark) {
            promised[partition] = nil
            return nil
        }
        return mark
    }

    func hasEnded(_ mark: Int) -> Bool { box.endedCount >= mark }

    /// A save goes on without it.
    func noteUnwaited() { instruments.unwaited.add(1) }

    // MARK: From time to time

    func publish(at moment: Moment) {
        instruments.pending.set(Int64(pending))
        guard droppedSinceTold > 0, moment.realMilliseconds >= nextTellMilliseconds else { return }
        nextTellMilliseconds = moment.realMilliseconds + Self.tellMilliseconds
        alarms.add(1, .feedback)
        log.error(
            "feedback was dropped: more waits than feedback.maxPending", .field("dropped", droppedSinceTold),
            .field("pending", pending), .hint("see why it cannot be written; waypulse_feedback_total counts it by type")
        )
        droppedSinceTold = 0
    }

    /// Waits for what was handed over, as long as it gets less, and ends the thread.
    ///
    /// - Parameter patienceMilliseconds: so long nothing may be written before the rest is given up.
    func end(patienceMilliseconds: Int64) {
        handOver()
        wait(patienceMilliseconds) { pending == 0 }
        instruments.pending.set(Int64(pending))
        if pending > 0 {
            log.error(
                "feedback was not written and is lost", .field("count", pending),
                .hint("see above why it could not be written"))
        }
        box.close()
        thread.mailbox.wake()
        // One that hangs in a write to a file, on a share that is away, ends with the process.
        wait(patienceMilliseconds) { box.isClosed }
        if box.isClosed { thread.join() }
    }

    private func wait(_ patienceMilliseconds: Int64, until isDone: () -> Bool) {
        var (ended, since) = (box.endedCount, EventLoop.currentMilliseconds())
        while !isDone() {
            usleep(1_000)
            let now = EventLoop.currentMilliseconds()
            if box.endedCount > ended { (ended, since) = (box.endedCount, now) }
            if now - since >= patienceMilliseconds { return }
        }
    }
}
