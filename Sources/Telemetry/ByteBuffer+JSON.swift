import CSimdjson

/// JSON as short as it can be written: no blanks, no `\/`, text beyond ASCII as UTF-8, numbers as their producer wrote them.
extension ByteBuffer {
    public mutating func append(_ value: JSONValue) {
        switch value {
        case .null: append(raw: "null")
        case .bool(let bool): append(bool: bool)
        case .number(let number): append(number)
        case .string(let string): append(string: string)
        case .array(let elements):
            append(byte: UInt8(ascii: "["))
            var isFirst = true
            for element in elements {
                if !isFirst { append(byte: UInt8(ascii: ",")) }
                isFirst = false
                append(element)
            }
            append(byte: UInt8(ascii: "]"))
        case .object(let object): append(object)
        }
    }

    public mutating func append(_ object: JSONObject) {
        append(byte: UInt8(ascii: "{"))
        var isFirst = true
        for member in object.members {
            if !isFirst { append(byte: UInt8(ascii: ",")) }
            isFirst = false
            append(string: member.name)
            append(byte: UInt8(ascii: ":"))
            append(member.value)
        }
        append(byte: UInt8(ascii: "}"))
    }

    public mutating func append(_ object: PackedObject) {
        object.withUnsafeBytes { append(bytes: $0) }
    }

    public mutating func append(_ state: ContentState) {
        append(state.packed)
    }

    public mutating func append(_ number: JSONNumber) {
        append(raw: number.text)
    }

    public mutating func append(bool: Bool) {
        append(raw: bool ? "true" : "false")
    }

    /// In quotes, with the escapes that JSON demands and no others.
    public mutating func append(string: String) {
        append(byte: UInt8(ascii: "\""))
        var string = string
        string.withUTF8 { utf8 in
            guard var plain = utf8.baseAddress else { return }
            let end = plain + utf8.count
            var position = plain
            while position < end {
                position = csimdjson_end_of_plain(position, end)
                guard position < end else { break }
                // Beyond ASCII nothing is escaped.
                if JSONText.mustBeEscaped(position.pointee) {
                    append(bytes: UnsafeRawBufferPointer(start: plain, count: position - plain))
                    append(escaped: position.pointee)
                    plain = position + 1
                }
                position += 1
            }
            append(bytes: UnsafeRawBufferPointer(start: plain, count: end - plain))
        }
        append(byte: UInt8(ascii: "\""))
    }

    private mutating func append(escaped byte: UInt8) {
        append(byte: UInt8(ascii: "\\"))
        if let letter = JSONText.shortEscape(of: byte) {
            append(byte: letter)
        } else {
            append(raw: "u00")
            append(byte: JSONText.hexCharacter(byte >> 4))
            append(byte: JSONText.hexCharacter(byte & 15))
        }
    }

    public mutating func append(integer: Int64) {
        if integer < 0 { append(byte: UInt8(ascii: "-")) }
        append(integer: integer.magnitude)
    }

    public mutating func append(integer: Int) {
        append(integer: Int64(integer))
    }

    public mutating func append(integer: UInt64) {
        append(digits: integer, atLeast: 1)
    }

    /// The shortest text that reads back as the same double; see `DecimalText`.
    /// - Precondition: `double` is finite, as JSON has no other numbers.
    public mutating func append(double: Double) {
        guard let millionths = DecimalText.wholeMillionths(double.magnitude) else {
            append(raw: DecimalText.shortest(double))
            return
        }
        if double < 0 { append(byte: UInt8(ascii: "-")) }
        append(digits: millionths / 1_000_000, atLeast: 1)
        append(fraction: millionths % 1_000_000, places: 6)
    }

    /// Milliseconds as seconds with at most three decimals: 1773000600500 is `1773000600.5`.
    public mutating func append(secondsOfMilliseconds milliseconds: Int64) {
        if milliseconds < 0 { append(byte: UInt8(ascii: "-")) }
        append(digits: milliseconds.magnitude / 1000, atLeast: 1)
        append(fraction: milliseconds.magnitude % 1000, places: 3)
    }

    /// Degrees with at most five decimals, nearest to the double's own value, ties to even.
    public mutating func append(fiveDecimals degrees: Double) {
        guard let hundredThousandths = DecimalText.hundredThousandths(degrees) else {
            append(double: degrees)
            return
        }
        if hundredThousandths < 0 { append(byte: UInt8(ascii: "-")) }
        append(digits: hundredThousandths.magnitude / 100_000, atLeast: 1)
        append(fraction: hundredThousandths.magnitude % 100_000, places: 5)
    }

    /// `.` and the decimals without the zeros that end them; nothing for 0.
    private mutating func append(fraction: UInt64, places: Int) {
        guard fraction != 0 else { return }
        append(byte: UInt8(ascii: "."))
        var (fraction, places) = (fraction, places)
        while fraction % 10 == 0 {
            fraction /= 10
            places -= 1
        }
        append(digits: fraction, atLeast: places)
    }

    /// - Parameter places: at most 20, which is what 64 bits can need.
    private mutating func append(digits: UInt64, atLeast places: Int) {
        let most = 20
        withUnsafeTemporaryAllocation(byteCount: most, alignment: 1) { text in
            var first = most
            var rest = digits
            repeat {
                first -= 1
                text[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0 || most - first < places
            append(bytes: UnsafeRawBufferPointer(rebasing: text[first...]))
        }
    }
}

extension JSONText {
    @inline(__always)
    static func mustBeEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// The letter behind the backslash where there is a form of two characters.
    static func shortEscape(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
        case 0x08: UInt8(ascii: "b")
        case 0x09: UInt8(ascii: "t")
        case 0x0A: UInt8(ascii: "n")
        case 0x0C: UInt8(ascii: "f")
        case 0x0D: UInt8(ascii: "r")
        default: nil
        }
    }

    static func hexCharacter(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
}
