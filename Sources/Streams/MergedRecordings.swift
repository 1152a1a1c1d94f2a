import Flow
import Telemetry

/// Several recordings as one, merged by record time, then by the order in which they were named.
public final class MergedRecordings {
    private struct Head {
        let recording: Recording
        var record: RecordingRecord?
        var isAtEnd = false
        /// The place of a record without a time is behind the one before it in its file.
        var placeMilliseconds = Int64.min
    }

    public enum Fetch {
        case record(RecordingRecord, recording: Recording)
        case notYet
        case end
    }

    private var heads: [Head]
    /// The one whose record was handed out: it moves on with the next call, so that the record's bytes live until then.
    private var current: Int?

    public init(_ recordings: [Recording]) {
        heads = recordings.map { Head(recording: $0) }
    }

    public func next(waits: Bool = true) throws(SourceFault) -> Fetch {
        if let current { heads[current].record = nil }
        current = nil
        for index in heads.indices {
            guard try fill(index, waits: waits) else { return .notYet }
        }
        var best: Int?
        for index in heads.indices where heads[index].record != nil {
            if let best, heads[best].placeMilliseconds <= heads[index].placeMilliseconds { continue }
            best = index
        }
        guard let best, let record = heads[best].record else { return .end }
        current = best
        return .record(record, recording: heads[best].recording)
    }

    /// The time of the record that comes next among those that have one.
    public func followingTimeMilliseconds(waits: Bool = true) throws(SourceFault) -> Int64? {
        var earliest: Int64?
        for (index, head) in heads.enumerated() {
            var time: Int64?
            if index != current { time = head.record?.time.milliseconds }
            if time == nil, !head.isAtEnd { time = try head.recording.followingTimeMilliseconds(waits: waits) }
            if let time { earliest = min(earliest ?? time, time) }
        }
        return earliest
    }

    private func fill(_ index: Int, waits: Bool) throws(SourceFault) -> Bool {
        guard heads[index].record == nil, !heads[index].isAtEnd else { return true }
        switch try heads[index].recording.next(waits: waits) {
        case .notYet:
            return false
        case .end:
            heads[index].isAtEnd = true
        case .record(let record):
            heads[index].record = record
            if let time = record.time.milliseconds { heads[index].placeMilliseconds = time }
        }
        return true
    }
}
