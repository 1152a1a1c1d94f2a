import Flow
import LiveActivities
import Pacing
import Streams
import Telemetry

/// Runs a recording through pacing in virtual time, every push accepted at once: what would be sent, and why, before anything is.
public final class Planner {
    public private(set) var report = PlanReport()
    private let lane: Lane
    private let link: Int
    private let recordings: MergedRecordings
    private var clock = RecordClock()
    private var body = ByteBuffer(capacity: 8_192)
    private let onSend: (Update, _ bodyBytes: Int) -> Void
    private let onDeadLetter: (DeadLetter) -> Void

    /// - Parameters:
    ///   - onSend: called for each push, in the order in which they leave.
    ///   - onDeadLetter: called for each record that cannot be used.
    public init(
        settings: LaneSettings, recordings: MergedRecordings, onSend: @escaping (Update, Int) -> Void,
        onDeadLetter: @escaping (DeadLetter) -> Void = { _ in }
    ) {
        lane = Lane(settings: settings)
        self.recordings = recordings
        self.onSend = onSend
        self.onDeadLetter = onDeadLetter
        var links: [Int] = []
        for pool in 0..<max(1, settings.shard.apps.count) {
            let link = lane.addLink(pool: pool)
            lane.setStreams(.max, link: link)
            links.append(link)
        }
        link = links[0]
    }

    public func run() throws(SourceFault) {
        while case .record(let record, let recording) = try recordings.next() {
            report.records += 1
            let before = clock.nowMilliseconds
            try clock.advance(to: record.time) { () throws(SourceFault) in try recordings.followingTimeMilliseconds() }
            if let before, let now = clock.nowMilliseconds, now > before { fireTimers(before: now) }
            apply(record, of: recording)
        }
        guard let now = clock.nowMilliseconds else { return finishReport() }
        lane.finish(at: moment(now))
        sendAll(at: now)
        fireTimers(before: .max)
        finishReport()
    }

    private func apply(_ record: RecordingRecord, of recording: Recording) {
        let now = clock.nowMilliseconds ?? 0
        switch record.event {
        case .failure(let fault):
            lane.countDeadLetter(partition: 0)
            refuse(fault, record, recording)
        case .success(let event):
            report.activityHours.saw(event, atMilliseconds: now)
            // One partition, whatever the recording says: ids are one name space, and timers fire in one order.
            let faults = lane.apply(event, partition: 0, offset: record.offset, at: moment(now))
            for fault in faults.faults { refuse(fault, record, recording) }
            sendAll(at: now)
        }
    }

    private func refuse(_ fault: EventFault, _ record: RecordingRecord, _ recording: Recording) {
        report.deadLetters[fault.reason.name, default: 0] += 1
        onDeadLetter(DeadLetter(fault: fault, source: recording.name, record: record))
    }

    /// Each timer fires at its own time, and what it releases leaves before the next one.
    private func fireTimers(before end: Int64) {
        while let due = lane.nextPacingDueMilliseconds, due < end {
            lane.fire(at: moment(due))
            sendAll(at: due)
        }
    }

    private func sendAll(at now: Int64) {
        while let dispatch = lane.next(at: moment(now), body: &body) {
            onSend(dispatch.update, body.count)
            report.pushes += 1
            _ = lane.complete(
                dispatch.identifier, .answered(ProviderAnswer(status: 200), providerTokenAgeSeconds: 0), at: moment(now)
            )
        }
        for refused in lane.takeUnpushable() { report.unpushable[refused.name, default: 0] += 1 }
    }

    private func moment(_ milliseconds: Int64) -> Moment {
        Moment(pacing: Instant(milliseconds: milliseconds), realMilliseconds: milliseconds)
    }

    private func finishReport() {
        for shard in lane.eachShard { report.add(shard) }
    }
}
