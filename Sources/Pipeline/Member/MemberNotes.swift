import Flow
import Instruments
import Storage
import Streams

/// Tells people what happens to a member: in the log and in metrics. What goes on and on is told once, and again if it comes back.
final class MemberNotes {
    private let instruments: MemberInstruments
    private let log: Log
    private let group: String
    private let names: SourceNames
    private var told: Set<String> = []
    private var warned: Set<String> = []
    private var drainsCutShort = 0
    /// Beyond so many different ones, all are told again.
    private static let mostTold = 1_024

    init(instruments: MemberInstruments, log: Log, group: String, names: SourceNames) {
        (self.instruments, self.log) = (instruments, log)
        (self.group, self.names) = (group, names)
    }

    /// Each warning once, however often it is found.
    func warn(_ text: String) {
        guard warned.insert(text).inserted else { return }
        log.warning("Redis may lose what it keeps", .hint(text))
    }

    /// Told once: nothing is lost by it, but others see the group where it is not.
    func unmirrored(_ reason: String) {
        guard warned.insert(reason).inserted else { return }
        log.warning(
            "a position was saved, and the stream's consumer group could not be moved there", .field("refusal", reason),
            .hint("XINFO GROUPS shows too much lag; grant +xgroup to this user"))
    }

    /// The group cannot be joined at the moment.
    func refused(_ fault: StoreFault) {
        guard isNew(fault.description) else { return }
        log.error("the group cannot be joined", .field("group", group), .hint(fault.description))
    }

    /// A partition is owned, and its streams cannot be read at the moment.
    func hindered(_ fault: SourceFault) {
        guard isNew(fault.description) else { return }
        log.error("a partition cannot be read", .hint(fault.description))
    }

    /// Tokens cannot be found or kept at the moment.
    func hindered(registry fault: String) {
        guard isNew(fault) else { return }
        log.error("the registry of tokens does not do what it is asked", .hint(fault))
    }

    /// What was told is over.
    func well() {
        guard !told.isEmpty else { return }
        told = []
        log.info("nothing hinders this member any more")
    }

    private var trimmingRemedy: String {
        switch names {
        case .streams: "trim by MINID below the group's last-delivered-id (XINFO GROUPS), or keep more entries"
        case .topics: "keep records for longer: retention.ms and retention.bytes of the topic"
        }
    }

    private func isNew(_ fault: String) -> Bool {
        if told.count >= MemberNotes.mostTold { told = [] }
        return told.insert(fault).inserted
    }

    /// - Parameter count: since the member began.
    func note(drainsCutShort count: Int) {
        guard count > drainsCutShort else { return }
        log.warning(
            "answers were waited for no longer, and what was under way may be told again by the next owner",
            .field("partitions", count - drainsCutShort),
            .hint("raise the lease (beside the topics) and drainTimeout, or see what keeps the provider"))
        drainsCutShort = count
    }

    func note(_ notice: MemberNotice, _ fault: StoreFault?) {
        switch notice {
        case .claimed(let partition, let epoch, let absence):
            log.info(
                "a partition is taken over", .partition(Int(partition)), .field("epoch", "\(epoch)"),
                .field("absenceMilliseconds", absence.map { "\($0)" } ?? "none"))
        case .released(let partition, _):
            log.info("a partition is handed over", .partition(Int(partition)))
        case .lost(let partition, let stage):
            instruments.fenced.add(1, MemberInstruments.StageLabel(stage))
            log.warning(
                "another process owns a partition; nothing of it was written", .partition(Int(partition)),
                .field("stage", stage.rawValue))
        case .lapsed(let partition):
            log.warning(
                "the lease of a partition could not be renewed in time, and it is let go", .partition(Int(partition)),
                .hint("see whether Redis was out of reach, or this process did not get to run"))
        case .checkpointUnusable(let partition, let identifier, let fault):
            instruments.unusableCheckpoints.add(1)
            log.error(
                "a checkpoint cannot be read, and its activity begins anew", .partition(Int(partition)),
                .activity(String(decoding: identifier, as: UTF8.self)), .hint(fault.explanation))
        case .storeBehind(let partition):
            log.error(
                "Redis has forgotten checkpoints that it had called saved, as after a fail-over; they are written again",
                .partition(Int(partition)),
                .hint("appendfsync always and min-replicas-to-write 1 make that rarer"))
        case .ownershipForgotten(let partition):
            log.error(
                "Redis has forgotten who owns a partition, as when it was emptied or came back with older data; what is in memory is written again",
                .partition(Int(partition)),
                .hint("see how Redis keeps its data: appendonly, FLUSHALL, replicas that lag"))
        case .storeFailed:
            guard let fault, isNew(fault.description) else { return }
            log.error("Redis does not do what it is asked", .hint(fault.description))
        }
    }

    func note(_ notice: FeedNotice, _ partition: Int32) {
        switch notice {
        case .begins, .reachedEnd: break
        case .trimmed(let source, let records, let position):
            instruments.gaps.add(1)
            instruments.trimmedEntries.add(records)
            log.error(
                "records were removed before they were read, and are lost",
                .field("stream", names.log(source, partition)),
                .field("records", "\(records)"), .field("goesOnAfter", names.place(position.offset)),
                .hint(trimmingRemedy))
        case .recounted(_, let records, _) where records <= 0: break
        case .recounted(let source, let records, _):
            log.warning(
                "entries went before they were read, some of them at least by XDEL",
                .field("stream", names.log(source, partition)), .field("records", "\(records)"))
        case .replaced(let source, let before, _):
            instruments.rewinds.add(1)
            log.error(
                "a stream was removed and made anew; reading goes on in the new one",
                .field("stream", names.log(source, partition)),
                .field("readThrough", names.place(before)))
        case .rewound(let source, let before, let position):
            instruments.rewinds.add(1)
            log.error(
                "a log has lost its newest records, as after a fail-over, or was made anew; reading goes on behind what is left of what was read",
                .field("stream", names.log(source, partition)),
                .field("readThrough", names.place(before)),
                .field("endsAt", names.place(position.offset)))
        }
    }
}

extension MemberInstruments.StageLabel {
    init(_ stage: FencedStage) {
        switch stage {
        case .dispatch: self = .dispatch
        case .load: self = .load
        case .save: self = .save
        case .renew: self = .renew
        case .release: self = .release
        }
    }
}
