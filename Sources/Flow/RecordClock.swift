/// The clock of a recording: it stands at the largest record time seen, and one absurd timestamp does not carry it off.
public struct RecordClock: Sendable {
    /// When a record was published, as far as it tells.
    public enum RecordTime: Sendable, Equatable {
        /// The consumer's own note, which is believed.
        case received(milliseconds: Int64)
        /// The producer's timestamp, which may be wrong.
        case stamped(milliseconds: Int64)
        /// A dead letter without `receivedAt`.
        case unknown
    }

    /// A producer's timestamp further ahead than this has to be confirmed by the record after it.
    public static let maxLeapMilliseconds: Int64 = 24 * 3_600_000

    /// nil before the first record that has a time.
    public private(set) var nowMilliseconds: Int64?

    public init() {}

    /// - Parameter following: the time of the next record that has one; asked only where a leap needs to be confirmed.
    public mutating func advance<Failure: Error>(
        to time: RecordTime, following: () throws(Failure) -> Int64?
    ) throws(Failure) {
        switch time {
        case .unknown:
            return
        case .received(let milliseconds):
            nowMilliseconds = max(nowMilliseconds ?? milliseconds, milliseconds)
        case .stamped(let milliseconds):
            guard let now = nowMilliseconds else {
                nowMilliseconds = milliseconds
                return
            }
            guard milliseconds > now else { return }
            if milliseconds - now > RecordClock.maxLeapMilliseconds,
                let next = try following(), next < milliseconds - RecordClock.maxLeapMilliseconds
            {
                return
            }
            nowMilliseconds = milliseconds
        }
    }
}

extension RecordClock.RecordTime {
    public var milliseconds: Int64? {
        switch self {
        case .received(let milliseconds), .stamped(let milliseconds): milliseconds
        case .unknown: nil
        }
    }
}
