import Flow
import Streams
import Telemetry

/// How long activities were followed, so that pushes can be told per activity and hour.
public struct ActivityHours: Sendable {
    private var spans: [UInt64: ClosedRange<Int64>] = [:]
    private let key = KeyedHash.stored

    public init() {}

    /// Of a whole recording.
    public init(_ recording: Recording) throws(SourceFault) {
        var clock = RecordClock()
        while case .record(let record) = try recording.next() {
            try clock.advance(to: record.time) { () throws(SourceFault) in try recording.followingTimeMilliseconds() }
            if case .success(let event) = record.event { saw(event, atMilliseconds: clock.nowMilliseconds ?? 0) }
        }
    }

    /// Subjects do not count: their followers do.
    public mutating func saw(_ event: borrowing Event, atMilliseconds now: Int64) {
        guard !event.isForSubject else { return }
        let hash = key.hash(event.identifier)
        spans[hash] = spans[hash].map { $0.lowerBound...max($0.upperBound, now) } ?? now...now
    }

    public var activities: Int { spans.count }

    public var hours: Double {
        Double(spans.values.reduce(0) { $0 + $1.upperBound - $1.lowerBound }) / 3_600_000
    }
}
