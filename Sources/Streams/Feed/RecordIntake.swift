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
    ///   - headers: that came with it. They are asked for only where they may say something: librdkafka parses them anew for each record,
    ///     which costs a fifth of what it costs to fetch one.
    ///   - missing: why it cannot be used if it has no value.
    mutating func take(
        _ value: UnsafeRawBufferPointer?, headers: () -> EventHeaders = { .none }, source: Int, offset: Int64,
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
            let event = try decode(value, headers)
            let isInside = value.contains(event.identifier)
            batch.append(
                FeedRecord(
                    source: source, offset: offset, event: isInside ? event : batch.kept(event), value: value))
        } catch {
            batch.append(FeedRecord(source: source, offset: offset, fault: error, value: value))
        }
    }

    /// An event that says its time and its id needs no headers. Positions do without an id: two of one time are one.
    private mutating func decode(
        _ value: UnsafeRawBufferPointer, _ headers: () -> EventHeaders
    ) throws(EventFault) -> Event {
        do throws(EventFault) {
            let event = try decoder.decode(value, headers: .none)
            if event.kind == .position || event.eventIdentifierHash != 0 { return event }
            let headers = headers()
            return headers.arePlain ? event : try decoder.decode(value, headers: headers)
        } catch {
            return try decoder.decode(value, headers: headers())
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

extension UnsafeRawBufferPointer {
    /// Whether those bytes lie among these.
    fileprivate func contains(_ other: UnsafeRawBufferPointer) -> Bool {
        guard let begin = baseAddress, let start = other.baseAddress else { return true }
        return start >= begin && start < begin + count
    }
}
