/// Strict JSON (RFC 8259) as events and recordings carry it: UTF-8 without byte order mark, no key twice in one object, no lone
/// surrogate, a limited depth.
public enum JSONParser {
    /// Largest event in bytes.
    public static let maximumBytes = 65_536
    /// Deepest nesting of objects and arrays, the outermost being 1.
    public static let maximumDepth = 64

    /// - Throws: `too_large`, `not_json`, or `out_of_range:<dotted path>` for a number beyond double (valid JSON otherwise).
    public static func parse(
        _ bytes: UnsafeRawBufferPointer, maximumBytes: Int = maximumBytes, maximumDepth: Int = maximumDepth
    ) throws(EventFault) -> JSONValue {
        guard bytes.count <= maximumBytes else { throw tooLarge(bytes.count, limit: maximumBytes) }
        let indexer = JSONIndexer()
        var reader = JSONReader(bytes, positions: try indexer.index(bytes), maximumDepth: maximumDepth)
        let value = try reader.document()
        withExtendedLifetime(indexer) {}
        if reader.foundOverflow { throw numberBeyondDouble(in: value) }
        return value
    }

    /// - Throws: as the parser of bytes does.
    public static func parse(
        _ text: String, maximumBytes: Int = maximumBytes, maximumDepth: Int = maximumDepth
    ) throws(EventFault) -> JSONValue {
        let bytes = Array(text.utf8)
        let parsed = bytes.withUnsafeBytes { bytes -> Result<JSONValue, EventFault> in
            do throws(EventFault) {
                return .success(try parse(bytes, maximumBytes: maximumBytes, maximumDepth: maximumDepth))
            } catch {
                return .failure(error)
            }
        }
        return try parsed.get()
    }

    static func tooLarge(_ count: Int, limit: Int) -> EventFault {
        EventFault(.tooLarge, "The message has \(count) bytes; at most \(limit) are taken.")
    }

    /// The fault of the first number that is infinite as a double. Such a number is parsed all the same, so that a broken text
    /// behind it is still called broken.
    static func numberBeyondDouble(in value: JSONValue) -> EventFault {
        let path = pathOfInfinity(in: value)?.joined(separator: ".") ?? ""
        return EventFault(
            .outOfRange(path),
            "The number at \(EventFault.quoted(path)) is beyond what a double can hold (about 1.8e308); publish a smaller one."
        )
    }

    private static func pathOfInfinity(in value: JSONValue) -> [String]? {
        switch value {
        case .number(let number): return number.double.isFinite ? nil : []
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                if let rest = pathOfInfinity(in: element) { return [String(index)] + rest }
            }
        case .object(let object):
            for member in object.members {
                if let rest = pathOfInfinity(in: member.value) { return [member.name] + rest }
            }
        default: break
        }
        return nil
    }
}
