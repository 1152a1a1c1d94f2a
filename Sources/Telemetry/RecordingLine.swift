/// One line of a recording: an event, bare or wrapped as
/// `{"partition":3,"offset":1042,"key":"…","receivedAt":1773000600.5,"value":{…}}`.
///
/// The line is a wrapper where its object has no `type`, and has one of the wrapper's fields. The wrapper counts
/// neither in the event's depth nor in its 64 KiB. What `value` holds is judged by the decoder; the wrapper's own
/// fields are judged here, and unknown ones are ignored.
public struct RecordingLine {
    /// Most bytes that a wrapper may have beside its value.
    public static let maximumWrapperBytes = 65_536

    public var partition: Int32?
    public var offset: Int64?
    /// The bytes between the quotes, as they are written: escapes are not resolved.
    public var key: UnsafeRawBufferPointer?
    /// Unix milliseconds.
    public var receivedAtMilliseconds: Int64?
    /// The event: a part of the line, or all of it.
    public var value: UnsafeRawBufferPointer

    init(bareEvent line: UnsafeRawBufferPointer) {
        value = line
    }

    /// - Parameter line: without its line break. It must outlive the result, which points into it.
    /// - Throws: the fault of the wrapper. A line that is no JSON at all may come back as a bare event, for the decoder to refuse.
    public static func parse(_ line: UnsafeRawBufferPointer) throws(EventFault) -> RecordingLine {
        var scanner = WrapperScanner(line)
        switch scanner.scan() {
        case .bareEvent: return RecordingLine(bareEvent: line)
        case .wrapper(let recordingLine): return recordingLine
        case .unusual: return try parseInFull(line)
        }
    }

    /// What a `key` stands for: its escapes resolved.
    public static func resolved(key: UnsafeRawBufferPointer) -> [UInt8] {
        // The line was read as JSON already, so there is no escape that cannot be resolved.
        JSONText.hasEscape(key) ? JSONText.unescape(key) ?? Array(key) : Array(key)
    }

    /// The general way: what the scanner takes, it takes with the same result.
    static func parseInFull(_ line: UnsafeRawBufferPointer) throws(EventFault) -> RecordingLine {
        let limit = JSONParser.maximumBytes + maximumWrapperBytes
        guard line.count <= limit else { throw JSONParser.tooLarge(line.count, limit: limit) }
        let indexer = JSONIndexer()
        var reader = JSONReader(
            line, positions: try indexer.index(line), maximumDepth: JSONParser.maximumDepth + 1)
        let document = try reader.document()
        withExtendedLifetime(indexer) {}
        guard case .object(let object) = document, object["type"] == nil,
            ["value", "partition", "offset", "receivedAt"].contains(where: { object[$0] != nil })
        else { return RecordingLine(bareEvent: line) }
        let fields = EventFields(object: object)
        guard let index = object.members.firstIndex(where: { $0.name.hasSameBytes(as: "value") }) else {
            throw fields.missing("value", "a recording's wrapper holds the event there")
        }
        var result = RecordingLine(
            bareEvent: UnsafeRawBufferPointer(rebasing: line[reader.memberRanges[index]]))
        if let partition = try fields.whole("partition", limit: Int64(Int32.max)) {
            result.partition = Int32(partition)
        }
        result.offset = try fields.whole("offset", limit: .max)
        if try fields.string("key") != nil,
            let key = object.members.firstIndex(where: { $0.name.hasSameBytes(as: "key") })
        {
            let range = reader.memberRanges[key]
            result.key = UnsafeRawBufferPointer(rebasing: line[(range.lowerBound + 1)..<(range.upperBound - 1)])
        }
        result.receivedAtMilliseconds = try fields.time("receivedAt")
        return result
    }
}

extension EventFields {
    /// A whole number from 0, written without fraction or exponent, so that no offset loses digits on the way through a double.
    fileprivate func whole(_ name: String, limit: Int64) throws(EventFault) -> Int64? {
        guard let number = try number(name) else { return nil }
        guard let whole = Int64(number.text), 0...limit ~= whole else {
            throw outOfRange(
                name, "is \(EventFault.quoted(number.text)); publish a whole number from 0 to \(limit)")
        }
        return whole
    }
}
