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
    public let event: Result<Event, EventFault>
    /// The record as published: without its wrapper.
    public let value: UnsafeRawBufferPointer
}

/// A file of events, one a line, read from front to back.
public final class Recording {
    public enum Fetch {
        case record(RecordingRecord)
        /// Standard input has no whole line at the moment.
        case notYet
        case end
    }

    public let name: String
    private let reader: LineReader
    private var decoder: EventDecoder
    private var lookingAhead: EventDecoder
    private var number = 0

    /// - Parameters:
    ///   - path: a file of JSON lines, compressed where it ends in `.zst`; `-` is standard input.
    ///   - apps: the configured applications.
    public init(path: String, apps: [String]) throws(SourceFault) {
        name = path == "-" ? "standard input" : path
        let file = try FileSource(path: path)
        reader = LineReader(path.hasSuffix(".zst") ? ZstdSource(file, name: path) : file)
        decoder = EventDecoder(apps: apps)
        lookingAhead = EventDecoder(apps: apps)
    }

    /// A recording that lies in memory.
    public init(name: String, bytes: [UInt8], apps: [String]) {
        self.name = name
        reader = LineReader(MemorySource(bytes))
        decoder = EventDecoder(apps: apps)
        lookingAhead = EventDecoder(apps: apps)
    }

    public func next(waits: Bool = true) throws(SourceFault) -> Fetch {
        switch try reader.next(waits: waits) {
        case .end: return .end
        case .notYet: return .notYet
        case .line(let line):
            number += 1
            return .record(Recording.decode(line, number: number, with: &decoder))
        }
    }

    /// The time of the next record that has one, without moving on; nil where none follows.
    ///
    /// - Parameter waits: if not, and the source does not tell yet, the answer is `Int64.min`: a time that confirms nothing.
    public func followingTimeMilliseconds(waits: Bool = true) throws(SourceFault) -> Int64? {
        var found: Int64?
        let isKnown = try reader.lookAhead(waits: waits) { line in
            found = Recording.decode(line, number: 0, with: &lookingAhead).time.milliseconds
            return found == nil
        }
        return found ?? (isKnown ? nil : .min)
    }

    private static func decode(
        _ line: UnsafeRawBufferPointer, number: Int, with decoder: inout EventDecoder
    ) -> RecordingRecord {
        let wrapped: RecordingLine
        do throws(EventFault) {
            wrapped = try RecordingLine.parse(line)
        } catch {
            return RecordingRecord(
                partition: 0, offset: -1, number: number, time: .unknown, event: .failure(error), value: line)
        }
        let received = wrapped.receivedAtMilliseconds.map(RecordClock.RecordTime.received)
        let event: Result<Event, EventFault>
        do throws(EventFault) {
            event = .success(try decoder.decode(wrapped.value))
        } catch {
            event = .failure(error)
        }
        var time = received ?? .unknown
        if received == nil, case .success(let event) = event {
            time = .stamped(milliseconds: event.timestampMilliseconds)
        }
        return RecordingRecord(
            partition: wrapped.partition ?? 0, offset: wrapped.offset ?? -1, number: number, time: time, event: event,
            value: wrapped.value)
    }
}
