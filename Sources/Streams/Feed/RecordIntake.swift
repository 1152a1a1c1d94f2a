import Telemetry

/// Makes records of a batch out of bytes, and says meanwhile which one is in work.
struct RecordIntake {
    private var decoder: EventDecoder
    private let partition: Int32
    /// Is told which record is in work.
    private let mark: WorkMark?
    /// By source, offsets that are not to be looked at; empty for none.
    var poison: [Set<Int64>] = []

    init(apps: [String], partition: Int32, mark: WorkMark?) {
        decoder = EventDecoder(apps: apps)
        (self.partition, self.mark) = (partition, mark)
    }

    /// - Parameters:
    ///   - value: has to lie still as long as the batch; nil where the record has none.
    ///   - headers: that came with it.
    ///   - missing: why it cannot be used if it has no value.
    mutating func take(
        _ value: UnsafeRawBufferPointer?, headers: EventHeaders = .none, source: Int, offset: Int64,
        into batch: EventBatch, missing: @autoclosure () -> EventFault
    ) {
        if !poison.isEmpty, poison[source].contains(offset) {
            return batch.append(
                FeedRecord(
                    source: source, offset: offset, fault: Self.poisonous,
                    value: value ?? UnsafeRawBufferPointer(start: nil, count: 0)))
        }
        mark?.note(partition: partition, source: source, offset: offset)
        guard let value else {
            return batch.append(
                FeedRecord(
                    source: source, offset: offset, fault: missing(),
                    value: UnsafeRawBufferPointer(start: nil, count: 0)))
        }
        do throws(EventFault) {
            let event = try decoder.decode(value, headers: headers)
            batch.append(
                FeedRecord(source: source, offset: offset, event: batch.kept(event, in: value), value: value))
        } catch {
            batch.append(FeedRecord(source: source, offset: offset, fault: error, value: value))
        }
    }

    /// All of a batch were taken.
    func finish() { mark?.clear() }

    private static var poisonous: EventFault {
        EventFault(
            .crashed,
            "processes ended again and again while this record was in work, so it was not looked at; please report it with its bytes"
        )
    }
}
