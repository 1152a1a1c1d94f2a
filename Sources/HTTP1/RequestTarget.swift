/// The target of a request line (RFC 9112, section 3.2), taken apart and decoded once.
struct RequestTarget {
    let path: String
    let segments: [String]
    let query: String

    /// Why a target cannot be used.
    struct Fault: Error, Equatable {
        let problem: String
    }

    init(_ target: some Collection<UInt8>) throws(Fault) {
        guard target.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw Fault(problem: "the request line holds a control character; write it as % and two hex digits")
        }
        let origin = try RequestTarget.originForm(Array(target))
        let mark = origin.firstIndex(of: UInt8(ascii: "?")) ?? origin.endIndex
        let written = origin[..<mark]
        query = String(decoding: origin[mark...].dropFirst(), as: UTF8.self)
        if written.elementsEqual([UInt8(ascii: "*")]) {
            (path, segments) = ("*", [])
            return
        }
        var segments: [String] = []
        for segment in written.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            segments.append(try RequestTarget.decode(segment))
        }
        self.segments = segments
        path = "/" + segments.joined(separator: "/")
    }

    /// A client that takes us for a proxy writes scheme and authority before the path; a server has to take that.
    private static func originForm(_ target: [UInt8]) throws(Fault) -> ArraySlice<UInt8> {
        if target.first == UInt8(ascii: "/") || target == [UInt8(ascii: "*")] { return target[...] }
        for scheme in ["http://", "https://"] where target.starts(with: scheme.utf8) {
            let rest = target.dropFirst(scheme.utf8.count)
            let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
            return rest[end...].first == UInt8(ascii: "/") ? rest[end...] : [UInt8(ascii: "/")] + rest[end...]
        }
        throw Fault(problem: "the request line names no path; it has to begin with /")
    }

    private static func decode(_ text: ArraySlice<UInt8>) throws(Fault) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var position = text.startIndex
        while position < text.endIndex {
            guard text[position] == UInt8(ascii: "%") else {
                bytes.append(text[position])
                position += 1
                continue
            }
            guard position + 2 < text.endIndex, let high = hexDigit(text[position + 1]),
                let low = hexDigit(text[position + 2])
            else { throw Fault(problem: "a % in the path is not followed by two hex digits; write %25 for a % itself") }
            bytes.append(high << 4 | low)
            position += 3
        }
        guard !bytes.contains(0) else { throw Fault(problem: "the path holds a NUL (%00), which no id has") }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw Fault(
                problem: "the path is no UTF-8 once it is decoded; encode ids as UTF-8, then as % and hex digits")
        }
        return decoded
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
