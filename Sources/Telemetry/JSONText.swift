/// What the grammar of JSON says about single tokens (RFC 8259, sections 2, 6 and 7), over bytes.
enum JSONText {
    @inline(__always)
    static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
            || byte == UInt8(ascii: "\t")
    }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ":"): true
        default: isBlank(byte)
        }
    }

    /// Position of the quote that ends the string whose content begins at `start`.
    static func closingQuote(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var position = start
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""): return position
            case UInt8(ascii: "\\"): position += 2
            default: position += 1
            }
        }
        return nil
    }

    static func hasEscape(_ content: UnsafeRawBufferPointer) -> Bool {
        content.contains(UInt8(ascii: "\\"))
    }

    /// Where the number that begins at `start` ends, nil where no number is written there.
    static func endOfNumber(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var position = start
        func digits() -> Int {
            let first = position
            while position < bytes.count, isDigit(bytes[position]) { position += 1 }
            return position - first
        }
        if position < bytes.count, bytes[position] == UInt8(ascii: "-") { position += 1 }
        let leading = position
        let integerDigits = digits()
        guard integerDigits > 0, integerDigits == 1 || bytes[leading] != UInt8(ascii: "0") else { return nil }
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            guard digits() > 0 else { return nil }
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < bytes.count, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") {
                position += 1
            }
            guard digits() > 0 else { return nil }
        }
        return position
    }

    /// The UTF-8 of a string's content with its escapes resolved; nil for an unknown escape or a surrogate without its partner.
    static func unescape(_ content: UnsafeRawBufferPointer) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(content.count)
        var position = 0
        while position < content.count {
            let byte = content[position]
            guard byte == UInt8(ascii: "\\") else {
                result.append(byte)
                position += 1
                continue
            }
            guard position + 1 < content.count else { return nil }
            let letter = content[position + 1]
            position += 2
            switch letter {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): result.append(letter)
            case UInt8(ascii: "b"): result.append(0x08)
            case UInt8(ascii: "f"): result.append(0x0C)
            case UInt8(ascii: "n"): result.append(0x0A)
            case UInt8(ascii: "r"): result.append(0x0D)
            case UInt8(ascii: "t"): result.append(0x09)
            case UInt8(ascii: "u"):
                guard let scalar = scalar(in: content, at: &position) else { return nil }
                result.append(contentsOf: UTF8.encode(scalar).unsafelyUnwrapped)
            default: return nil
            }
        }
        return result
    }

    /// The scalar of the escape whose hex digits begin at `position`, a surrogate pair taken together.
    private static func scalar(in content: UnsafeRawBufferPointer, at position: inout Int) -> Unicode.Scalar? {
        guard let first = hexUnit(in: content, at: position) else { return nil }
        position += 4
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, position + 1 < content.count, content[position] == UInt8(ascii: "\\"),
            content[position + 1] == UInt8(ascii: "u"),
            let second = hexUnit(in: content, at: position + 2), 0xDC00...0xDFFF ~= second
        else { return nil }
        position += 6
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    }

    private static func hexUnit(in content: UnsafeRawBufferPointer, at position: Int) -> UInt32? {
        guard position + 4 <= content.count else { return nil }
        var unit: UInt32 = 0
        for index in position..<(position + 4) {
            guard let digit = hexDigit(content[index]) else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// 0…15, letters of either case.
    static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
