import Flow
import Telemetry

public struct ReplayOptions: Sendable {
    public var partitions: Int32
    /// How keys are placed.
    public var hash = KeyPlacement.Hash.crc32
    /// A factor of the recording's clock; nil is as fast as records are taken.
    public var speed: Double? = 1
    /// Leaves each event's `timestamp` as it was recorded.
    public var keepsTimes = false
    /// The most records in a second; nil is no limit.
    public var recordsPerSecond: Double?
    /// How often the recording is played, one time after the other.
    public var passes = 1

    public init(partitions: Int32) {
        self.partitions = partitions
    }
}

/// A record that is to be published. Its bytes are valid until the replayer moves on.
public struct ReplayedRecord {
    public let partition: Int32
    public let key: UnsafeRawBufferPointer
    /// The event as text, its time moved.
    public let value: UnsafeRawBufferPointer
    /// When it is to leave, in milliseconds since the replay began.
    public let dueMilliseconds: Double
}

/// Plays recordings: which record is next, when it is due, where it goes, and what time it bears. It neither waits nor sends.
///
/// Records come in the order of their times; between two of them passes as much time as was recorded, divided by the speed. The
/// `timestamp` of an event is moved by as much as its record.
public final class Replayer {
    public enum Step {
        /// `current` is the next record.
        case record
        /// A pipe has no whole line at the moment.
        case notYet
        case end
    }

    private let options: ReplayOptions
    private let placement: KeyPlacement
    private let beginMilliseconds: Int64
    private let open: () throws(SourceFault) -> MergedRecordings
    private var recordings: MergedRecordings
    private var clock = RecordClock()
    private var schedule: ReplaySchedule
    private var keys = RecordKeys()
    private var passesLeft: Int
    private var key = ByteBuffer(capacity: 256)
    private var value = ByteBuffer(capacity: 4096)
    private var partition: Int32 = 0
    /// Records of this pass: an empty recording is not played again and again.
    private var recordsOfPass = 0
    public private(set) var records = 0
    /// Those that no event could be made of; they are published unchanged.
    public private(set) var undecodable = 0

    /// - Parameters:
    ///   - beginMilliseconds: Unix time at which the replay begins.
    ///   - open: opens the recordings from their beginning, once a pass.
    public init(
        options: ReplayOptions, beginMilliseconds: Int64, open: @escaping () throws(SourceFault) -> MergedRecordings
    ) throws(SourceFault) {
        self.options = options
        self.beginMilliseconds = beginMilliseconds
        self.open = open
        placement = KeyPlacement(partitions: options.partitions, hash: options.hash)
        schedule = ReplaySchedule(speed: options.speed, recordsPerSecond: options.recordsPerSecond)
        passesLeft = options.passes - 1
        recordings = try open()
    }

    /// Moves on to the next record.
    ///
    /// - Parameter elapsedMilliseconds: since the replay began; at `max` an event bears the time at which it was asked for.
    public func advance(elapsedMilliseconds: Double, waits: Bool = true) throws(SourceFault) -> Step {
        while true {
            switch try recordings.advance(waits: waits) {
            case .notYet: return .notYet
            case .record:
                try take(recordings.current.pointee, elapsedMilliseconds)
                return .record
            case .end:
                guard passesLeft > 0, recordsOfPass > 0 else { return .end }
                passesLeft -= 1
                recordsOfPass = 0
                recordings = try open()
                clock = RecordClock()
                schedule.beginPass()
            }
        }
    }

    /// Lends the record that `advance` moved to.
    public func withCurrent<Result>(_ body: (ReplayedRecord) throws -> Result) rethrows -> Result {
        precondition(records > 0, "no record has been read")
        return try key.withUnsafeBytes { key in
            try value.withUnsafeBytes { value in
                try body(
                    ReplayedRecord(
                        partition: partition, key: key, value: value, dueMilliseconds: schedule.dueMilliseconds))
            }
        }
    }

    /// Whether records are due at a time: at `max` without a rate each is due at once.
    public var isPaced: Bool { options.speed != nil || options.recordsPerSecond != nil }

    /// When the current record is to leave, in milliseconds since the replay began.
    public var dueMilliseconds: Double { schedule.dueMilliseconds }

    private func take(_ record: RecordingRecord, _ elapsedMilliseconds: Double) throws(SourceFault) {
        records += 1
        recordsOfPass += 1
        if record.fault != nil { undecodable += 1 }
        let recordings = recordings
        try clock.advance(to: record.time) { () throws(SourceFault) in
            // A pipe that is silent now may confirm a leap later than the record can wait.
            try recordings.followingTimeMilliseconds(waits: false)
        }
        schedule.take(recordTime: clock.nowMilliseconds, elapsedMilliseconds: elapsedMilliseconds)
        key.removeAll()
        keys.withKey(of: record) { key.append(bytes: $0) }
        partition = key.withUnsafeBytes { placement.partition(of: $0) }
        value.removeAll()
        guard record.fault == nil, !options.keepsTimes, let now = clock.nowMilliseconds else {
            return value.append(bytes: record.value)
        }
        let movedTo = beginMilliseconds + Int64(schedule.timeMilliseconds.rounded(.down))
        value.append(event: record.value, stamped: record.decoded.timestampMilliseconds, movedBy: movedTo - now)
    }
}
