import Flow
import LiveActivities
import Pacing
import Streams
import Telemetry

/// Runs a recording through pacing in virtual time, every push accepted at once: what would be sent, and why, before anything is.
public final class Planner {
    public private(set) var report = PlanReport()
    private let lane: Lane
    private let recordings: MergedRecordings
    private var clock = RecordClock()
    /// What the clock showed when the last record was applied.
    private var lastMilliseconds = Int64.min
    private var body = ByteBuffer(capacity: 8_192)
    private let onSend: (Update, _ bodyBytes: Int) -> Void

    /// - Parameter onSend: called for each push, in the order in which they leave.
    public init(
        settings: LaneSettings, recordings: MergedRecordings, onSend: @escaping (Update, Int) -> Void
    ) {
        var settings = settings
        settings.shard.keepsOrderOfRelease = true
        lane = Lane(settings: settings)
        self.recordings = recordings
        self.onSend = onSend
        lane.setStreams(.max, link: lane.addLink(pool: 0))
    }

    public func run() throws(SourceFault) {
        while case .record(let record, _) = try recordings.next() {
            report.records += 1
            try clock.advance(to: record.time) { () throws(SourceFault) in try recordings.followingTimeMilliseconds() }
            // Also where the clock stands still: an activity may have outlived its limit when its start was read.
            if let now = clock.nowMilliseconds { fireTimers(before: now, notBefore: lastMilliseconds) }
            lastMilliseconds = clock.nowMilliseconds ?? lastMilliseconds
            apply(record)
        }
        guard let now = clock.nowMilliseconds else { return finishReport() }
        lane.finish(at: moment(now))
        sendAll(at: now)
        fireTimers(before: .max, notBefore: now)
        finishReport()
    }

    /// Plays up to a time, what happens then included, and stands still there.
    ///
    /// - Parameter end: asked with the time of the first record that has one; nil for the last record's time.
    public func play(until end: (_ firstMilliseconds: Int64) -> Int64?) throws(SourceFault) {
        var last: Int64?
        while case .record(let record, _) = try recordings.next() {
            report.records += 1
            let isFirst = clock.nowMilliseconds == nil
            try clock.advance(to: record.time) { () throws(SourceFault) in try recordings.followingTimeMilliseconds() }
            if isFirst, let now = clock.nowMilliseconds { last = end(now) }
            if let now = clock.nowMilliseconds {
                fireTimers(before: min(now, last.map { $0 + 1 } ?? .max), notBefore: lastMilliseconds)
                if let last, now > last { break }
            }
            lastMilliseconds = clock.nowMilliseconds ?? lastMilliseconds
            apply(record)
        }
        guard let last, lastMilliseconds > .min else { return }
        fireTimers(before: last + 1, notBefore: lastMilliseconds)
        lastMilliseconds = max(lastMilliseconds, last)
    }

    /// Why an activity was told what it was told, as of where the recording stands; nil where there is no such activity.
    public func explanation(of activity: String) -> LaneExplanation? {
        lane.explanation(of: activity, at: moment(lastMilliseconds))
    }

    private func apply(_ record: RecordingRecord) {
        let now = clock.nowMilliseconds ?? 0
        switch record.event {
        case .failure(let fault):
            lane.countDeadLetter(partition: 0)
            refuse(fault)
        case .success(let event):
            report.activityHours.saw(event, atMilliseconds: now)
            // One partition, whatever the recording says: ids are one name space, and timers fire in one order.
            let faults = lane.apply(event, partition: 0, offset: record.offset, at: moment(now))
            for fault in faults.faults { refuse(fault) }
            sendAll(at: now)
        }
    }

    private func refuse(_ fault: EventFault) {
        report.deadLetters[fault.reason.name, default: 0] += 1
    }

    /// Each timer fires at its own time, one that is overdue at `start`, and what they release leaves before a later one fires.
    private func fireTimers(before end: Int64, notBefore start: Int64) {
        var now = start
        while let due = lane.nextPacingDueMilliseconds, due < end {
            now = max(now, due)
            lane.fire(at: moment(now))
            sendAll(at: now)
        }
    }

    private func sendAll(at now: Int64) {
        while let dispatch = lane.next(at: moment(now), body: &body) {
            onSend(dispatch.update, body.count)
            report.add(dispatch.update)
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
