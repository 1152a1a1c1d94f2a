/// Finds the parts of a recording's line without parsing the event inside, which the decoder does anyhow. It answers
/// for lines as they usually look; anything else is left to the general way.
struct WrapperScanner {
    enum Answer {
        case bareEvent
        case wrapper(RecordingLine)
        case unusual
    }

    private let line: UnsafeRawBufferPointer
    private var position = 0

    init(_ line: UnsafeRawBufferPointer) {
        self.line = line
    }

    mutating func scan() -> Answer {
        guard take(UInt8(ascii: "{")) else { return .bareEvent }
        var result = RecordingLine(bareEvent: line)
        var seen: UInt8 = 0
        var hasOtherFields = false
        repeat {
            guard let name = takeString(), take(UInt8(ascii: ":")) else { return .unusual }
            guard let field = WrapperField(name) else {
                // Most likely an event whose `type` comes later.
                hasOtherFields = true
                guard skipValue() else { return .unusual }
                continue
            }
            // An event's own `type` makes the line an event, whatever else is in it.
            if field == .type { return .bareEvent }
            guard seen & field.rawValue == 0 else { return .unusual }
            seen |= field.rawValue
            skipBlanks()
            guard takeValue(of: field, into: &result) else { return .unusual }
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")), seen & WrapperField.value.rawValue != 0, !hasOtherFields else { return .unusual }
        skipBlanks()
        return position == line.count ? .wrapper(result) : .unusual
    }

    private mutating func takeValue(of field: WrapperField, into result: inout RecordingLine) -> Bool {
        switch field {
        case .partition:
            guard let digits = takeDigits(), digits <= Int64(Int32.max) else { return false }
            result.partition = Int32(digits)
        case .offset:
            guard let digits = takeDigits() else { return false }
            result.offset = digits
        case .key:
            guard let key = takeString() else { return false }
            result.key = key
        case .receivedAt:
            guard let milliseconds = takeSeconds() else { return false }
            result.receivedAtMilliseconds = milliseconds
        case .value:
            guard let value = takeObject() else { return false }
            result.value = value
        case .type: return false
        }
        return true
    }

    private mutating func skipBlanks() {
        while position < line.count, JSONText.isBlank(line[position]) { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipBlanks()
        guard position < line.count, line[position] == byte else { return false }
        position += 1
        return true
    }

    /// The content of a string of printable ASCII without escapes.
    private mutating func takeString() -> UnsafeRawBufferPointer? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = position
        while position < line.count {
            let byte = line[position]
            if byte == UInt8(ascii: "\"") {
                position += 1
                return UnsafeRawBufferPointer(rebasing: line[start..<(position - 1)])
            }
            guard byte >= 0x20, byte < 0x80, byte != UInt8(ascii: "\\") else { return nil }
            position += 1
        }
        return nil
    }

    private mutating func skipValue() -> Bool {
        skipBlanks()
        guard position < line.count else { return false }
        switch line[position] {
        case UInt8(ascii: "\""):
            guard let quote = JSONText.closingQuote(in: line, from: position + 1) else { return false }
            position = quote + 1
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard let end = JSONText.endOfContainer(in: line, from: position) else { return false }
            position = end
        default:
            while position < line.count, !JSONText.isDelimiter(line[position]) { position += 1 }
        }
        return true
    }

    /// A whole number of at most 18 digits.
    private mutating func takeDigits() -> Int64? {
        let start = position
        var number: Int64 = 0
        while position < line.count, JSONText.isDigit(line[position]) {
            guard position - start < 18 else { return nil }
            number = number * 10 + Int64(line[position] - UInt8(ascii: "0"))
            position += 1
        }
        let count = position - start
        guard count > 0, count == 1 || line[start] != UInt8(ascii: "0") else { return nil }
        return position < line.count && JSONText.isDelimiter(line[position]) ? number : nil
    }

    /// Seconds with a fraction, as `{"receivedAt":1773000600.5` has them: few enough digits to be exact as a double.
    private mutating func takeSeconds() -> Int64? {
        let start = position
        var mantissa: UInt64 = 0
        var fractionDigits: Int?
        while position < line.count, JSONText.isDigit(line[position]) || line[position] == UInt8(ascii: ".") {
            if line[position] == UInt8(ascii: ".") {
                guard fractionDigits == nil, position > start else { return nil }
                fractionDigits = 0
            } else {
                guard position - start < 16 else { return nil }
                mantissa = mantissa * 10 + UInt64(line[position] - UInt8(ascii: "0"))
                fractionDigits = fractionDigits.map { $0 + 1 }
            }
            position += 1
        }
        // A leading zero, or a point without digits behind it, is for the general way to judge.
        guard position > start, line[start] != UInt8(ascii: "0"), fractionDigits != 0,
            position < line.count, JSONText.isDelimiter(line[position])
        else { return nil }
        var power = 1.0
        for _ in 0..<(fractionDigits ?? 0) { power *= 10 }
        return Timestamp.milliseconds(seconds: Double(mantissa) / power)
    }

    /// An object by its braces alone; quotes are minded.
    private mutating func takeObject() -> UnsafeRawBufferPointer? {
        guard position < line.count, line[position] == UInt8(ascii: "{"),
            let end = JSONText.endOfContainer(in: line, from: position)
        else { return nil }
        let start = position
        position = end
        return UnsafeRawBufferPointer(rebasing: line[start..<end])
    }
}

private enum WrapperField: UInt8 {
    case type = 1
    case partition = 2
    case offset = 4
    case key = 8
    case receivedAt = 16
    case value = 32

    init?(_ name: UnsafeRawBufferPointer) {
        if name.elementsEqual("type".utf8) {
            self = .type
        } else if name.elementsEqual("partition".utf8) {
            self = .partition
        } else if name.elementsEqual("offset".utf8) {
            self = .offset
        } else if name.elementsEqual("key".utf8) {
            self = .key
        } else if name.elementsEqual("receivedAt".utf8) {
            self = .receivedAt
        } else if name.elementsEqual("value".utf8) {
            self = .value
        } else {
            return nil
        }
    }
}

extension JSONText {
    /// Where the object or array that begins at `start` ends, by brackets alone; nil where they do not close.
    static func endOfContainer(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var depth = 0
        var position = start
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 { return position + 1 }
            case UInt8(ascii: "\""):
                guard let quote = closingQuote(in: bytes, from: position + 1) else { return nil }
                position = quote
            default: break
            }
            position += 1
        }
        return nil
    }
}
