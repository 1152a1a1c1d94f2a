import Flow
import Instruments
import LiveActivities

/// Tells registry, log and dead letters what became of pushes.
struct CompletionNotes {
    private let instruments: LaneInstruments
    private let log: Log
    private let deadLetters: DeadLetterDesk
    private let marks: DeadLetterMarks
    /// By pool.
    private let apps: [String]
    /// Nil where nothing is to be told.
    private let feedback: FeedbackDesk?
    // What is noted for each push is written to cells of this thread's own.
    private let updates: CounterWriter<LaneInstruments.FateLabel>
    private let pushes: CounterWriter<LaneInstruments.ClassLabel>
    private let freshness: HistogramWriter<LaneInstruments.ClassLabel>

    /// - Parameter apps: those that the pools push to, in their order.
    init(
        instruments: LaneInstruments, log: Log, deadLetters: DeadLetterDesk, marks: DeadLetterMarks, apps: [String],
        feedback: FeedbackDesk?
    ) {
        self.marks = marks
        self.apps = apps
        self.feedback = feedback
        self.instruments = instruments
        self.log = log
        self.deadLetters = deadLetters
        updates = instruments.updates.writer()
        pushes = instruments.pushes.writer()
        freshness = instruments.freshness.writer()
    }

    func note(_ completion: Completion, at moment: Moment) {
        updates.add(1, LaneInstruments.FateLabel(completion.fate))
        feedback?.note(completion, at: moment)
        switch completion.fate {
        case .accepted:
            let label: LaneInstruments.ClassLabel = completion.dispatch.update.isUrgent ? .urgent : .routine
            pushes.add(1, label)
            if let applied = completion.dispatch.update.newestEventAppliedAtMilliseconds {
                freshness.record(max(0, moment.pacing.nowMilliseconds - applied), label)
            }
        case .refused:
            let reason = completion.reason?.name ?? "none"
            log.warning(
                "the provider refused an update for good", .activity(completion.update.activityIdentifier),
                .field("reason", reason))
            deadLetters.take(
                marks.letter(
                    completion.update, partition: completion.dispatch.partition, reason: reason,
                    detail: "the provider refused it for good", atMilliseconds: moment.pacing.wallMilliseconds))
        case .targetGone:
            log.info(
                "the provider no longer knows an activity's token", .activity(completion.update.activityIdentifier),
                .field("reason", completion.reason?.name ?? "none"))
        case .startUnknown:
            log.warning(
                "whether an activity was started is not known, and it is not started twice",
                .activity(completion.update.activityIdentifier))
        case .held, .sendAgain, .unsent, .orphaned:
            break
        }
        noteAlarm(completion)
        noteBreaker(completion)
    }

    private func noteAlarm(_ completion: Completion) {
        switch completion.alarm {
        case .clock:
            instruments.alarms.add(1, .clock)
            log.error(
                "the provider called a young provider token expired", app(of: completion),
                .hint("compare this machine's clock with a time server"))
        case .credential:
            instruments.alarms.add(1, .credential)
            log.error(
                "the provider refuses the credential", app(of: completion), reason(of: completion),
                remedy(for: completion))
        case .configuration:
            instruments.alarms.add(1, .configuration)
            log.error(
                "the provider refuses the topic or a header", app(of: completion), reason(of: completion),
                remedy(for: completion))
        case nil: break
        }
        if completion.isSuspicionAlarming {
            instruments.alarms.add(1, .suspectTokens)
            log.error(
                "the provider refuses many tokens; none is forgotten", app(of: completion), reason(of: completion),
                remedy(for: completion))
        }
    }

    private func noteBreaker(_ completion: Completion) {
        switch completion.breaker {
        case .opened(.server):
            log.warning("pushing pauses: the provider is sick", app(of: completion), reason(of: completion))
        case .opened(.credential):
            log.error(
                "pushing pauses: the provider takes nothing of this credential", app(of: completion),
                reason(of: completion), remedy(for: completion))
        case .opened(.tokens):
            log.error(
                "pushing pauses: the provider refuses token after token; none is forgotten, and what was to be told waits",
                app(of: completion), reason(of: completion), remedy(for: completion))
        case .closed: log.info("pushing resumes", app(of: completion))
        case nil: break
        }
    }

    private func app(of completion: Completion) -> LogField {
        .field("app", apps.indices.contains(completion.dispatch.pool) ? apps[completion.dispatch.pool] : "")
    }

    private func reason(of completion: Completion) -> LogField {
        .field("reason", completion.reason?.name ?? "none")
    }

    private func remedy(for completion: Completion) -> LogField {
        .hint(completion.reason?.remedy ?? "check teamId, keyId, keyFile, environment and bundleId of the app")
    }
}
