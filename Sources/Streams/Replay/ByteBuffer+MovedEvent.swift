import Instruments
import Telemetry

extension ByteBuffer {
    /// RFC 3339 has years of four digits.
    private static let rfc3339Milliseconds: Range<Int64> = -62_167_219_200_000..<253_402_300_800_000

    /// The event with its `timestamp` moved, written as before as number or RFC 3339 (then in UTC); every other byte as it was.
    ///
    /// - Parameters:
    ///   - text: what was decoded.
    ///   - milliseconds: the event's own time.
    mutating func append(event text: UnsafeRawBufferPointer, stamped milliseconds: Int64, movedBy delta: Int64) {
        let moved = milliseconds.addingReportingOverflow(delta)
        guard let place = Event.timestampPlace(in: text), !moved.overflow else { return append(bytes: text) }
        let isText = text[place.lowerBound] == UInt8(ascii: "\"")
        // What cannot be written stays what it was, and the reader names it.
        guard !isText || Self.rfc3339Milliseconds.contains(moved.partialValue) else { return append(bytes: text) }
        append(bytes: UnsafeRawBufferPointer(rebasing: text[..<place.lowerBound]))
        if isText {
            append(byte: UInt8(ascii: "\""))
            append(raw: UTCTime(moved.partialValue).description)
            append(byte: UInt8(ascii: "\""))
        } else {
            append(secondsOfMilliseconds: moved.partialValue)
        }
        append(bytes: UnsafeRawBufferPointer(rebasing: text[place.upperBound...]))
    }
}
