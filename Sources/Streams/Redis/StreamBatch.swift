import RedisClient
import Telemetry

/// One record of a stream, decoded. Its bytes are valid as long as its batch.
public struct StreamRecord {
    /// Place of its topic among the topics that are read.
    public let source: Int
    public let offset: Int64
    /// Nothing of use where there is a `fault`.
    public let event: Event
    /// The event as published; empty where the entry has none.
    public let value: UnsafeRawBufferPointer
    private let refusal: Refusal?

    /// In a box of its own: a record without a fault is copied for next to nothing.
    private final class Refusal {
        let fault: EventFault
        init(_ fault: EventFault) { self.fault = fault }
    }

    init(source: Int, offset: Int64, event: Event, value: UnsafeRawBufferPointer) {
        (self.source, self.offset, self.event, self.value, refusal) = (source, offset, event, value, nil)
    }

    init(source: Int, offset: Int64, fault: EventFault, value: UnsafeRawBufferPointer) {
        (self.source, self.offset, self.value) = (source, offset, value)
        event = .nothing
        refusal = Refusal(fault)
    }

    public var fault: EventFault? { refusal?.fault }
}

/// The entries of one read of a partition, their bytes in one stretch. It serves again and again.
public final class StreamBatch {
    private struct Entry {
        let source: Int
        let offset: Int64
        /// Empty where the entry lacks the field.
        let value: Range<Int>
        let isMissing: Bool
    }

    private static let usualBytes = 16_384
    /// Beyond it memory is not kept for the next read: large entries come in bursts, and each partition has some batches.
    private static let mostKeptBytes = 1 << 20

    // Fields that each entry touches, and one owner alone.
    @exclusivity(unchecked) private var bytes = UnsafeMutableRawBufferPointer.allocate(
        byteCount: StreamBatch.usualBytes, alignment: 16)
    @exclusivity(unchecked) private var used = 0
    @exclusivity(unchecked) private var entries: [Entry] = []
    @exclusivity(unchecked) public private(set) var records: [StreamRecord] = []
    /// How many of them have been applied.
    @exclusivity(unchecked) public var applied = 0
    /// To be heard before its records.
    public internal(set) var notices: [StreamNotice] = []
    /// Of the member, for the checkpoints that its activities need.
    public var ticket: UInt64?

    deinit { bytes.deallocate() }

    public var count: Int { entries.count }

    /// Whose record that is, lent as long as the batch: without the rest of it.
    public func key(at place: Int) -> (identifier: UnsafeRawBufferPointer, isSubject: Bool) {
        records.withUnsafeBufferPointer { ($0[place].event.identifier, $0[place].event.isForSubject) }
    }

    func clear() {
        records.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
        (used, applied, ticket) = (0, 0, nil)
        escaped = KeptBytes()
        notices = []
        guard bytes.count > StreamBatch.mostKeptBytes else { return }
        bytes.deallocate()
        bytes = .allocate(byteCount: StreamBatch.usualBytes, alignment: 16)
    }

    func add(source: Int, offset: Int64, value: UnsafeRawBufferPointer?) {
        let count = value?.count ?? 0
        reserve(count)
        if let value, count > 0 {
            UnsafeMutableRawBufferPointer(rebasing: bytes[used..<(used + count)]).copyMemory(from: value)
        }
        entries.append(
            Entry(source: source, offset: offset, value: used..<(used + count), isMissing: value == nil))
        used += count
    }

    /// Once all are in: bytes lie still from now on.
    ///
    /// - Parameters:
    ///   - mark: is told which record is in work.
    ///   - poison: by source, offsets that are not to be looked at.
    func decode(
        with decoder: inout EventDecoder, bodyField: String, partition: Int32 = 0, mark: WorkMark? = nil,
        poison: [Set<Int64>] = []
    ) {
        records.reserveCapacity(entries.count)
        defer { mark?.clear() }
        for entry in entries {
            if !poison.isEmpty, poison[entry.source].contains(entry.offset) {
                addPoison(entry)
                continue
            }
            mark?.note(partition: partition, source: entry.source, offset: entry.offset)
            let value = UnsafeRawBufferPointer(rebasing: bytes[entry.value])
            guard !entry.isMissing else {
                records.append(
                    StreamRecord(
                        source: entry.source, offset: entry.offset,
                        fault: EventFault(
                            .missingField(bodyField),
                            "the entry has no field \(bodyField): publish the event as JSON in that field, or set source.redis.bodyField"
                        ), value: value))
                continue
            }
            do throws(EventFault) {
                let event = try decoder.decode(value)
                records.append(
                    StreamRecord(
                        source: entry.source, offset: entry.offset, event: kept(event, in: value), value: value))
            } catch {
                records.append(
                    StreamRecord(source: entry.source, offset: entry.offset, fault: error, value: value))
            }
        }
    }

    private func addPoison(_ entry: Entry) {
        records.append(
            StreamRecord(
                source: entry.source, offset: entry.offset,
                fault: EventFault(
                    .crashed,
                    "processes ended again and again while this record was in work, so it was not looked at; please report it with its bytes"
                ), value: UnsafeRawBufferPointer(rebasing: bytes[entry.value])))
    }

    /// An id that was written with escapes lies in the decoder, which the next event overwrites.
    private func kept(_ event: Event, in value: UnsafeRawBufferPointer) -> Event {
        guard let identifier = event.identifier.baseAddress, let begin = value.baseAddress,
            identifier < begin || identifier >= begin + value.count
        else { return event }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: event.identifier.count, alignment: 1)
        copy.copyMemory(from: event.identifier)
        escaped.append(copy)
        return Event(
            kind: event.kind, isForSubject: event.isForSubject, identifier: UnsafeRawBufferPointer(copy),
            timestampMilliseconds: event.timestampMilliseconds, eventIdentifierHash: event.eventIdentifierHash,
            position: event.position, detail: event.detail)
    }

    private var escaped = KeptBytes()

    private func reserve(_ count: Int) {
        guard used + count > bytes.count else { return }
        let grown = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(bytes.count * 2, used + count), alignment: 16)
        UnsafeMutableRawBufferPointer(rebasing: grown[..<used]).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: bytes[..<used]))
        bytes.deallocate()
        bytes = grown
    }
}

/// Memory by hand, given back together.
private struct KeptBytes: ~Copyable {
    private var kept: [UnsafeMutableRawBufferPointer] = []

    mutating func append(_ bytes: UnsafeMutableRawBufferPointer) { kept.append(bytes) }

    deinit { for bytes in kept { bytes.deallocate() } }
}
