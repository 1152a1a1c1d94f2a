import Flow
import Telemetry

/// One record of a recording, decoded. Its bytes are valid until the recording moves on.
public struct RecordingRecord {
    public let partition: Int32
    /// −1 where the recording does not tell.
    public let offset: Int64
    /// Counted from 1, blank lines left out.
    public let number: Int
    public let time: RecordClock.RecordTime
    /// Nothing of use where there is a `fault`.
    public let decoded: Event
    /// The record as published: without its wrapper.
    public let value: UnsafeRawBufferPointer
    /// The message's key as the wrapper writes it, escapes not resolved; nil where it has none.
    public let key: UnsafeRawBufferPointer?
    private let refusal: Refusal?

    /// A fault in a box of its own: a record that has none is copied and destroyed for next to nothing.
    private final class Refusal: Sendable {
        let fault: EventFault

        init(_ fault: EventFault) {
            self.fault = fault
        }
    }

    init(
        partition: Int32 = 0, offset: Int64 = -1, number: Int, time: RecordClock.RecordTime = .unknown, event: Event,
        value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer? = nil
    ) {
        (self.partition, self.offset, self.number, self.time) = (partition, offset, number, time)
        (decoded, self.value, self.key, refusal) = (event, value, key, nil)
    }

    init(
        partition: Int32 = 0, offset: Int64 = -1, number: Int, time: RecordClock.RecordTime = .unknown,
        fault: EventFault, value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer? = nil
    ) {
        (self.partition, self.offset, self.number, self.time) = (partition, offset, number, time)
        (decoded, self.value, self.key, refusal) = (.nothing, value, key, Refusal(fault))
    }

    /// Why the record cannot be used; nil where it can.
    public var fault: EventFault? { refusal?.fault }

    public var event: Result<Event, EventFault> {
        if let fault { .failure(fault) } else { .success(decoded) }
    }
}

/// A file of events, one a line, read from front to back.
///
/// Lines are decoded as many at a time as are at hand, up to a limit, and never waited for together.
public final class Recording {
    public enum Fetch {
        case record(RecordingRecord)
        /// Standard input has no whole line at the moment.
        case notYet
        case end
    }

    /// What `advance` came to.
    public enum Step {
        /// `current` is the next record.
        case record
        /// Standard input has no whole line at the moment.
        case notYet
        case end
    }

    static let batchRecords = 64

    public let name: String
    private let reader: LineReader
    @exclusivity(unchecked) private var decoder: EventDecoder
    private var lookingAhead: EventDecoder
    // Nothing calls back into a recording, so no two accesses can meet.
    @exclusivity(unchecked) private var number = 0
    /// The first `decoded` of them are initialised.
    private let batch = UnsafeMutablePointer<RecordingRecord>.allocate(capacity: batchRecords)
    @exclusivity(unchecked) private var decoded = 0
    /// The place of the one after the current one.
    @exclusivity(unchecked) private var place = 0

    /// - Parameters:
    ///   - path: a file of JSON lines, compressed where it ends in `.zst`; `-` is standard input.
    ///   - apps: the configured applications; nil takes any.
    public convenience init(path: String, apps: [String]?) throws(SourceFault) {
        let name = path == "-" ? "standard input" : path
        let file = try FileSource(path: path)
        self.init(name: name, source: path.hasSuffix(".zst") ? ZstdSource(file, name: path) : file, apps: apps)
    }

    /// A recording that lies in memory.
    public convenience init(name: String, bytes: [UInt8], apps: [String]?) {
        self.init(name: name, source: MemorySource(bytes), apps: apps)
    }

    init(name: String, source: any ByteSource, apps: [String]?) {
        self.name = name
        reader = LineReader(source)
        decoder = EventDecoder(apps: apps)
        lookingAhead = EventDecoder(apps: apps)
    }

    deinit {
        batch.deinitialize(count: decoded)
        batch.deallocate()
    }

    /// Moves on to the next record.
    public func advance(waits: Bool = true) throws(SourceFault) -> Step {
        if place == decoded {
            batch.deinitialize(count: decoded)
            (decoded, place) = (0, 0)
            switch try reader.next(waits: waits) {
            case .end: return .end
            case .notYet: return .notYet
            case .line(let line): decode(from: line)
            }
        }
        place += 1
        return .record
    }

    /// The record that `advance` moved to, valid until it is called again.
    public var current: UnsafePointer<RecordingRecord> {
        precondition(place > 0, "\(name): no record has been read")
        return UnsafePointer(batch + (place - 1))
    }

    /// What was decoded together with the current record, if that is the first of them; else nothing.
    public var newBatch: UnsafeBufferPointer<RecordingRecord> {
        UnsafeBufferPointer(start: batch, count: place == 1 ? decoded : 0)
    }

    public func next(waits: Bool = true) throws(SourceFault) -> Fetch {
        switch try advance(waits: waits) {
        case .record: .record(current.pointee)
        case .notYet: .notYet
        case .end: .end
        }
    }

    /// The time of the next record that has one, without moving on; nil where none follows.
    ///
    /// - Parameter waits: if not, and the source does not tell yet, the answer is `Int64.min`: a time that confirms nothing.
    public func followingTimeMilliseconds(waits: Bool = true) throws(SourceFault) -> Int64? {
        for index in place..<decoded {
            if let time = batch[index].time.milliseconds { return time }
        }
        var found: Int64?
        let isKnown = try reader.lookAhead(waits: waits) { line in
            found = Recording.decode(line, number: 0, with: &lookingAhead).time.milliseconds
            return found == nil
        }
        return found ?? (isKnown ? nil : .min)
    }

    /// Decodes a line, and those behind it that are at hand.
    private func decode(from first: UnsafeRawBufferPointer) {
        decoded = Recording.decode(from: first, of: reader, after: number, with: &decoder, into: batch)
        number += decoded
    }

    /// - Returns: how many.
    private static func decode(
        from first: UnsafeRawBufferPointer, of reader: LineReader, after number: Int, with decoder: inout EventDecoder,
        into batch: UnsafeMutablePointer<RecordingRecord>
    ) -> Int {
        var line = first
        var count = 0
        while true {
            let record = batch + count
            count += 1
            record.initialize(to: decode(line, number: number + count, with: &decoder))
            // An id that was written with escapes lies in the decoder, which the next event would overwrite.
            guard count < batchRecords, record.pointee.identifierLies(in: line), let next = reader.nextAtHand() else {
                return count
            }
            line = next
        }
    }

    private static func decode(
        _ line: UnsafeRawBufferPointer, number: Int, with decoder: inout EventDecoder
    ) -> RecordingRecord {
        let wrapped: RecordingLine
        do throws(EventFault) {
            wrapped = try RecordingLine.parse(line)
        } catch {
            return RecordingRecord(number: number, fault: error, value: line)
        }
        let received = wrapped.receivedAtMilliseconds.map(RecordClock.RecordTime.received)
        do throws(EventFault) {
            let event = try decoder.decode(wrapped.value)
            return RecordingRecord(
                partition: wrapped.partition ?? 0, offset: wrapped.offset ?? -1, number: number,
                time: received ?? .stamped(milliseconds: event.timestampMilliseconds), event: event,
                value: wrapped.value, key: wrapped.key)
        } catch {
            return RecordingRecord(
                partition: wrapped.partition ?? 0, offset: wrapped.offset ?? -1, number: number,
                time: received ?? .unknown, fault: error, value: wrapped.value, key: wrapped.key)
        }
    }
}

extension Event {
    /// In place of what could not be decoded.
    static var nothing: Event {
        Event(
            kind: .status, isForSubject: false, identifier: UnsafeRawBufferPointer(start: nil, count: 0),
            timestampMilliseconds: 0, eventIdentifierHash: 0, position: .none, detail: nil)
    }
}

extension RecordingRecord {
    /// Whether its event borrows nothing but the bytes of its line.
    fileprivate func identifierLies(in line: UnsafeRawBufferPointer) -> Bool {
        guard let identifier = decoded.identifier.baseAddress, let begin = line.baseAddress else { return true }
        return identifier >= begin && identifier < begin + line.count
    }
}
