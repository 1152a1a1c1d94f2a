import Flow
import Telemetry

/// Several recordings as one, merged by record time, then by the order in which they were named.
public final class MergedRecordings {
    private struct Head {
        let recording: Recording
        /// Whether the recording's current record is still to be handed out.
        var hasRecord = false
        var isAtEnd = false
        /// The place of a record without a time is behind the one before it in its file.
        var placeMilliseconds = Int64.min
    }

    public enum Fetch {
        case record(RecordingRecord, recording: Recording)
        case notYet
        case end
    }

    public enum Step {
        /// `current` is the next record.
        case record
        case notYet
        case end
    }

    /// At a fixed address, since one in an array of a class is looked up under a check for each access.
    private let heads: UnsafeMutableBufferPointer<Head>
    /// The one whose record was handed out: it moves on with the next call, so that the record's bytes live until then.
    @exclusivity(unchecked) private var place: Int?

    public init(_ recordings: [Recording]) {
        heads = .allocate(capacity: recordings.count)
        _ = heads.initialize(from: recordings.map { Head(recording: $0) })
    }

    deinit {
        heads.deinitialize()
        heads.deallocate()
    }

    /// Moves on to the next record.
    public func advance(waits: Bool = true) throws(SourceFault) -> Step {
        if let place { heads[place].hasRecord = false }
        place = nil
        for index in heads.indices {
            guard try fill(index, waits: waits) else { return .notYet }
        }
        var best: Int?
        for index in heads.indices where heads[index].hasRecord {
            if let best, heads[best].placeMilliseconds <= heads[index].placeMilliseconds { continue }
            best = index
        }
        guard let best else { return .end }
        place = best
        return .record
    }

    /// The record that `advance` moved to, valid until it is called again.
    public var current: UnsafePointer<RecordingRecord> { recording.current }

    /// What was decoded together with the current record, if that is the first of them; else nothing.
    public var newBatch: UnsafeBufferPointer<RecordingRecord> { recording.newBatch }

    /// Whose the current record is.
    public var recording: Recording {
        guard let place else { preconditionFailure("no record has been read") }
        return heads[place].recording
    }

    public func next(waits: Bool = true) throws(SourceFault) -> Fetch {
        switch try advance(waits: waits) {
        case .record: .record(current.pointee, recording: recording)
        case .notYet: .notYet
        case .end: .end
        }
    }

    /// The time of the record that comes next among those that have one.
    public func followingTimeMilliseconds(waits: Bool = true) throws(SourceFault) -> Int64? {
        var earliest: Int64?
        for (index, head) in heads.enumerated() {
            var time: Int64?
            if index != place, head.hasRecord { time = head.recording.current.pointee.time.milliseconds }
            if time == nil, !head.isAtEnd { time = try head.recording.followingTimeMilliseconds(waits: waits) }
            if let time { earliest = min(earliest ?? time, time) }
        }
        return earliest
    }

    private func fill(_ index: Int, waits: Bool) throws(SourceFault) -> Bool {
        guard !heads[index].hasRecord, !heads[index].isAtEnd else { return true }
        let recording = heads[index].recording
        switch try recording.advance(waits: waits) {
        case .notYet:
            return false
        case .end:
            heads[index].isAtEnd = true
        case .record:
            heads[index].hasRecord = true
            if let time = recording.current.pointee.time.milliseconds { heads[index].placeMilliseconds = time }
        }
        return true
    }
}
