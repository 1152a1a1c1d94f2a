/// Content-states: any JSON, as far as it is written plainly. What has escapes, exponents, many members or many levels is left to the general
/// way, as is all that is faulty.
extension ScanCursor {
    private static let mostMembers = 16
    /// The event's own braces being the first; the general way takes more.
    private static let mostLevels = 12

    /// Takes the object that begins here; nil where it is unusual.
    mutating func takeContent() -> ScannedContent? {
        guard byte == UInt8(ascii: "{") else { return nil }
        let start = position
        var blanks = 0
        guard takeObject(level: 2, &blanks) else { return nil }
        return ScannedContent(text: Text(start: start, count: position - start), hasBlanks: blanks > 0)
    }

    /// The cursor stands on the brace that opens it.
    private mutating func takeObject(level: Int, _ blanks: inout Int) -> Bool {
        guard level <= ScanCursor.mostLevels else { return false }
        position += 1
        skipBlanks(counting: &blanks)
        if takeByte(UInt8(ascii: "}")) { return true }
        return withUnsafeTemporaryAllocation(of: PackedValue.self, capacity: ScanCursor.mostMembers) { names in
            var count = 0
            while true {
                guard count < ScanCursor.mostMembers, let text = takeText() else { return false }
                let name = PackedValue(start: text.start, count: text.count)
                for earlier in 0..<count where names[earlier].hasSameBytes(as: name) { return false }
                names.initializeElement(at: count, to: name)
                count += 1
                skipBlanks(counting: &blanks)
                guard takeByte(UInt8(ascii: ":")) else { return false }
                guard takeValue(level: level, &blanks) else { return false }
                if takeByte(UInt8(ascii: "}")) { return true }
                guard takeByte(UInt8(ascii: ",")) else { return false }
                skipBlanks(counting: &blanks)
            }
        }
    }

    /// The cursor stands on the bracket that opens it.
    private mutating func takeArray(level: Int, _ blanks: inout Int) -> Bool {
        guard level <= ScanCursor.mostLevels else { return false }
        position += 1
        skipBlanks(counting: &blanks)
        if takeByte(UInt8(ascii: "]")) { return true }
        while true {
            guard takeValue(level: level, &blanks) else { return false }
            if takeByte(UInt8(ascii: "]")) { return true }
            guard takeByte(UInt8(ascii: ",")) else { return false }
        }
    }

    /// With the blanks around it.
    private mutating func takeValue(level: Int, _ blanks: inout Int) -> Bool {
        skipBlanks(counting: &blanks)
        let isTaken: Bool
        switch byte {
        case UInt8(ascii: "\""): isTaken = takeText() != nil
        case UInt8(ascii: "{"): isTaken = takeObject(level: level + 1, &blanks)
        case UInt8(ascii: "["): isTaken = takeArray(level: level + 1, &blanks)
        case UInt8(ascii: "t"): isTaken = takeLiteral("true")
        case UInt8(ascii: "f"): isTaken = takeLiteral("false")
        case UInt8(ascii: "n"): isTaken = takeNull()
        default: isTaken = takePlainNumber()
        }
        skipBlanks(counting: &blanks)
        return isTaken
    }

    @inline(__always)
    private mutating func skipBlanks(counting blanks: inout Int) {
        let first = position
        skipBlanks()
        blanks += position - first
    }

    /// A number without exponent, and far from the largest double. What follows it is not looked at.
    private mutating func takePlainNumber() -> Bool {
        let mostBytes = 300
        var here = position
        // The brace at the message's end stops each run of digits.
        func takeDigits() -> Int {
            let first = here
            while here < end, JSONText.isDigit(here.load(as: UInt8.self)) { here += 1 }
            return here - first
        }
        if here < end, here.load(as: UInt8.self) == UInt8(ascii: "-") { here += 1 }
        let first = here
        let digits = takeDigits()
        guard digits > 0, digits == 1 || first.load(as: UInt8.self) != UInt8(ascii: "0"), here < end else {
            return false
        }
        if here.load(as: UInt8.self) == UInt8(ascii: ".") {
            here += 1
            guard takeDigits() > 0, here < end else { return false }
        }
        guard here.load(as: UInt8.self) | 0x20 != UInt8(ascii: "e"), here - position <= mostBytes else { return false }
        position = here
        return true
    }

    /// The content of a string in UTF-8 without escapes.
    private mutating func takeText() -> Text? {
        let opening = position
        if let text = takeString() { return text }
        guard opening < end, opening.load(as: UInt8.self) == UInt8(ascii: "\"") else { return nil }
        let first = opening + 1
        var here = first
        while here < end {
            let byte = here.load(as: UInt8.self)
            switch byte {
            case UInt8(ascii: "\""):
                position = here + 1
                return Text(start: first, count: here - first)
            case UInt8(ascii: "\\"), 0..<0x20: return nil
            case 0x20..<0x80: here += 1
            default:
                let length = ScanCursor.lengthOfSequence(at: here, before: end)
                guard length > 0 else { return nil }
                here += length
            }
        }
        return nil
    }

    /// Bytes of the well-formed UTF-8 sequence beyond ASCII that begins here (Unicode 15, table 3-7); 0 where none does.
    private static func lengthOfSequence(at start: UnsafeRawPointer, before end: UnsafeRawPointer) -> Int {
        let lead = start.load(as: UInt8.self)
        let length: Int
        switch lead {
        case 0xC2...0xDF: length = 2
        case 0xE0...0xEF: length = 3
        case 0xF0...0xF4: length = 4
        default: return 0
        }
        guard end - start >= length else { return 0 }
        let second = start.load(fromByteOffset: 1, as: UInt8.self)
        let range: ClosedRange<UInt8> =
            switch lead {
            case 0xE0: 0xA0...0xBF
            case 0xED: 0x80...0x9F
            case 0xF0: 0x90...0xBF
            case 0xF4: 0x80...0x8F
            default: 0x80...0xBF
            }
        guard range ~= second else { return 0 }
        for offset in 2..<max(2, length) where start.load(fromByteOffset: offset, as: UInt8.self) & 0xC0 != 0x80 {
            return 0
        }
        return length
    }
}
