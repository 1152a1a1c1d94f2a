/// Walks the tokens of one JSON text and builds its value. UTF-8, closed strings and control characters were checked by
/// the indexer.
struct JSONReader {
    private let bytes: UnsafeRawBufferPointer
    private let positions: UnsafeBufferPointer<UInt32>
    private let maximumDepth: Int
    private var next = 0

    /// Whether a number was met that is infinite as a double.
    private(set) var foundOverflow = false
    /// Where the values of the outermost object's members stand, in the order of the members.
    private(set) var memberRanges: [Range<Int>] = []

    init(_ bytes: UnsafeRawBufferPointer, positions: UnsafeBufferPointer<UInt32>, maximumDepth: Int) {
        self.bytes = bytes
        self.positions = positions
        self.maximumDepth = maximumDepth
    }

    mutating func document() throws(EventFault) -> JSONValue {
        let value = try self.value(depth: 0).value
        if next < positions.count {
            throw fault("more text follows after the JSON value", at: Int(positions[next]))
        }
        return value
    }

    /// The value that begins at the next token, and where it ends.
    private mutating func value(depth: Int) throws(EventFault) -> (value: JSONValue, end: Int) {
        let start = try takeToken()
        switch bytes[start] {
        case UInt8(ascii: "{"): return try object(start, depth: depth + 1)
        case UInt8(ascii: "["): return try array(start, depth: depth + 1)
        case UInt8(ascii: "\""):
            let (string, end) = try string(start)
            return (.string(string), end)
        case UInt8(ascii: "t"): return (.bool(true), try literal("true", start))
        case UInt8(ascii: "f"): return (.bool(false), try literal("false", start))
        case UInt8(ascii: "n"): return (.null, try literal("null", start))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number(start)
        default: throw unexpected(at: start, wanted: "a value")
        }
    }

    private mutating func object(_ start: Int, depth: Int) throws(EventFault) -> (value: JSONValue, end: Int) {
        try check(depth: depth, at: start)
        var members: [JSONObject.Member] = []
        var token = try takeToken()
        if bytes[token] == UInt8(ascii: "}") { return (.object(JSONObject()), token + 1) }
        while true {
            guard bytes[token] == UInt8(ascii: "\"") else { throw unexpected(at: token, wanted: "a key in quotes") }
            let (name, _) = try string(token)
            let colon = try takeToken()
            guard bytes[colon] == UInt8(ascii: ":") else { throw unexpected(at: colon, wanted: "a colon") }
            let first = next < positions.count ? Int(positions[next]) : bytes.count
            let (value, end) = try self.value(depth: depth)
            members.append(JSONObject.Member(name: name, value: value))
            if depth == 1 { memberRanges.append(first..<end) }
            let separator = try takeToken()
            if bytes[separator] == UInt8(ascii: "}") {
                try checkUnique(members)
                return (.object(JSONObject(uniqueMembers: members)), separator + 1)
            }
            guard bytes[separator] == UInt8(ascii: ",") else {
                throw unexpected(at: separator, wanted: "a comma or the end of the object")
            }
            token = try takeToken()
        }
    }

    private mutating func array(_ start: Int, depth: Int) throws(EventFault) -> (value: JSONValue, end: Int) {
        try check(depth: depth, at: start)
        var elements: [JSONValue] = []
        if next < positions.count, bytes[Int(positions[next])] == UInt8(ascii: "]") {
            return (.array([]), try takeToken() + 1)
        }
        while true {
            elements.append(try value(depth: depth).value)
            let separator = try takeToken()
            if bytes[separator] == UInt8(ascii: "]") { return (.array(elements), separator + 1) }
            guard bytes[separator] == UInt8(ascii: ",") else {
                throw unexpected(at: separator, wanted: "a comma or the end of the array")
            }
        }
    }

    private func string(_ start: Int) throws(EventFault) -> (String, end: Int) {
        guard let quote = JSONText.closingQuote(in: bytes, from: start + 1) else {
            throw fault("a string has no closing quote", at: start)
        }
        try checkDelimiter(after: quote + 1)
        let content = UnsafeRawBufferPointer(rebasing: bytes[(start + 1)..<quote])
        guard JSONText.hasEscape(content) else { return (String(decoding: content, as: UTF8.self), quote + 1) }
        guard let unescaped = JSONText.unescape(content) else {
            throw fault("a string holds an unknown escape or a lone surrogate", at: start)
        }
        return (String(decoding: unescaped, as: UTF8.self), quote + 1)
    }

    private mutating func number(_ start: Int) throws(EventFault) -> (value: JSONValue, end: Int) {
        guard let end = JSONText.endOfNumber(in: bytes, from: start) else {
            throw fault("a number is not written as JSON wants it", at: start)
        }
        try checkDelimiter(after: end)
        let text = String(decoding: bytes[start..<end], as: UTF8.self)
        guard let double = Double(text) else { throw fault("a number cannot be read", at: start) }
        if !double.isFinite { foundOverflow = true }
        return (.number(JSONNumber(double: double, text: text)), end)
    }

    private func literal(_ name: StaticString, _ start: Int) throws(EventFault) -> Int {
        let end = start + name.utf8CodeUnitCount
        guard end <= bytes.count else { throw unexpected(at: start, wanted: "a value") }
        for index in 0..<name.utf8CodeUnitCount where bytes[start + index] != name.utf8Start[index] {
            throw unexpected(at: start, wanted: "a value")
        }
        try checkDelimiter(after: end)
        return end
    }

    private mutating func takeToken() throws(EventFault) -> Int {
        guard next < positions.count else { throw fault("the text ends too early", at: bytes.count) }
        defer { next += 1 }
        return Int(positions[next])
    }

    // Checks

    private func check(depth: Int, at position: Int) throws(EventFault) {
        guard depth <= maximumDepth else {
            throw fault("objects and arrays are nested deeper than \(maximumDepth)", at: position)
        }
    }

    /// Nothing may touch the end of a string or scalar but a blank or a structural character: the indexer does not make a token
    /// of what touches it.
    private func checkDelimiter(after end: Int) throws(EventFault) {
        guard end < bytes.count, !JSONText.isDelimiter(bytes[end]) else { return }
        throw unexpected(at: end, wanted: "the end of the value")
    }

    private func checkUnique(_ members: [JSONObject.Member]) throws(EventFault) {
        guard let name = JSONReader.repeatedName(in: members) else { return }
        throw EventFault(
            .notJSON,
            "The key \(EventFault.quoted(name)) stands twice in one object; which of the two counts is undefined, so publish it once."
        )
    }

    private static func repeatedName(in members: [JSONObject.Member]) -> String? {
        guard members.count > 1 else { return nil }
        if members.count <= 12 {
            for index in 1..<members.count {
                for earlier in 0..<index where members[earlier].name.hasSameBytes(as: members[index].name) {
                    return members[index].name
                }
            }
            return nil
        }
        // Pairwise comparison of a message full of keys would take seconds.
        let hashes = members.indices.map { (hash: KeyedHash.stored.hash(members[$0].name), index: $0) }
            .sorted { ($0.hash, $0.index) < ($1.hash, $1.index) }
        for position in 1..<hashes.count {
            var earlier = position - 1
            while earlier >= 0, hashes[earlier].hash == hashes[position].hash {
                let name = members[hashes[position].index].name
                if members[hashes[earlier].index].name.hasSameBytes(as: name) { return name }
                earlier -= 1
            }
        }
        return nil
    }

    // Faults

    private func unexpected(at position: Int, wanted: String) -> EventFault {
        if position == 0, bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF {
            return fault("the text begins with a byte order mark, which JSON does not have", at: 0)
        }
        return fault("\(wanted) was expected", at: position)
    }

    private func fault(_ problem: String, at position: Int) -> EventFault {
        EventFault(.notJSON, "The message is no valid JSON: at byte \(position) \(problem).")
    }
}
