import KafkaClient
import Pacing
import Telemetry

/// Records of one read of a partition. It serves again and again.
public final class EventBatch {
    private static let usualBytes = 16_384
    /// Beyond it memory is not kept for the next read: large records come in bursts, and each partition has some batches.
    private static let mostKeptBytes = 1 << 20

    // Fields that each record touches, and one owner alone.
    @exclusivity(unchecked) private var bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    @exclusivity(unchecked) private var used = 0
    // Not an array: in place each record is written once, and nothing is counted or looked at again where it is plain, as nearly all are.
    @exclusivity(unchecked) private var storage = UnsafeMutableBufferPointer<FeedRecord>(start: nil, count: 0)
    @exclusivity(unchecked) private var count = 0
    @exclusivity(unchecked) private var arePlain = true
    /// How many of them have been applied.
    @exclusivity(unchecked) public var applied = 0
    /// To be heard before its records.
    public internal(set) var notices: [FeedNotice] = []
    /// Of the member, for the checkpoints that its activities need.
    public var ticket: UInt64?
    /// The messages of Kafka that its records were made of, in the same order; nil for other records.
    public internal(set) var messages: KafkaBatch?
    /// Ids that do not lie in their record's bytes.
    private var escaped = KeptBytes()

    deinit {
        forgetRecords()
        storage.deallocate()
        bytes.deallocate()
    }

    /// Good until the batch is read into again.
    public var records: UnsafeBufferPointer<FeedRecord> { UnsafeBufferPointer(rebasing: storage[..<count]) }

    /// Whose record that is, lent as long as the batch: without the rest of it.
    public func key(at place: Int) -> (identifier: UnsafeRawBufferPointer, isSubject: Bool) {
        (records[place].event.identifier, records[place].event.isForSubject)
    }

    /// Where that record's activity was found.
    public func note(_ found: Shard.Place, at place: Int) { storage[place].place = found }

    func clear() {
        forgetRecords()
        (used, applied, ticket) = (0, 0, nil)
        escaped = KeptBytes()
        notices = []
        messages?.giveBack()
        if bytes.count > EventBatch.mostKeptBytes { replaceBytes(0) }
    }

    @inline(__always)
    func append(_ record: consuming FeedRecord) {
        if count == storage.count { grow() }
        if !record.isPlain { arePlain = false }
        storage.initializeElement(at: count, to: record)
        count += 1
    }

    private func grow() {
        let grown = UnsafeMutableBufferPointer<FeedRecord>.allocate(capacity: max(64, 2 * count))
        if let from = storage.baseAddress, let to = grown.baseAddress { to.moveInitialize(from: from, count: count) }
        storage.deallocate()
        storage = grown
    }

    private func forgetRecords() {
        if !arePlain { storage[..<count].deinitialize() }
        (count, arePlain) = (0, true)
    }

    // MARK: Bytes

    /// Before any of them is kept: for so many there is room, and they lie still.
    func reserve(byteCount: Int) {
        precondition(used == 0, "a batch that holds bytes is moved")
        if byteCount > bytes.count { replaceBytes(max(byteCount, EventBatch.usualBytes)) }
    }

    /// A copy that lies still as long as the batch. There has to be room for it.
    func keep(_ value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let place = UnsafeMutableRawBufferPointer(rebasing: bytes[used..<(used + value.count)])
        place.copyMemory(from: value)
        used += value.count
        return UnsafeRawBufferPointer(place)
    }

    /// An id that was written with escapes lies in the decoder, which the next event overwrites.
    func kept(_ event: Event) -> Event {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: event.identifier.count, alignment: 1)
        copy.copyMemory(from: event.identifier)
        escaped.append(copy)
        return Event(
            kind: event.kind, isForSubject: event.isForSubject, identifier: UnsafeRawBufferPointer(copy),
            timestampMilliseconds: event.timestampMilliseconds, eventIdentifierHash: event.eventIdentifierHash,
            position: event.position, detail: event.detail)
    }

    private func replaceBytes(_ count: Int) {
        bytes.deallocate()
        bytes =
            count > 0 ? .allocate(byteCount: count, alignment: 16) : UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }
}

/// Memory by hand, given back together.
private struct KeptBytes: ~Copyable {
    private var kept: [UnsafeMutableRawBufferPointer] = []

    mutating func append(_ bytes: UnsafeMutableRawBufferPointer) { kept.append(bytes) }

    deinit { for bytes in kept { bytes.deallocate() } }
}
