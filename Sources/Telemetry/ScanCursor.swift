/// A place in a message that ends with a closing brace, and what can be taken there. All reads lie inside the message.
struct ScanCursor {
    struct Text {
        let start: UnsafeRawPointer
        let count: Int
    }

    var position: UnsafeRawPointer
    /// Behind the message's last byte.
    private(set) var end: UnsafeRawPointer
    private let start: UnsafeRawPointer

    init(position: UnsafeRawPointer, end: UnsafeRawPointer) {
        self.position = position
        self.end = end
        start = position
    }

    /// Moves the end to behind the last byte that is not blank; false where that byte is no brace, or the message is
    /// shorter than a word.
    @inline(__always)
    mutating func trimToClosingBrace() -> Bool {
        while end > start, JSONText.isBlank((end - 1).load(as: UInt8.self)) { end -= 1 }
        return end - start >= 8 && (end - 1).load(as: UInt8.self) == UInt8(ascii: "}")
    }

    /// The byte here; 0, which no token begins with, at the end.
    @inline(__always)
    var byte: UInt8 { position < end ? position.load(as: UInt8.self) : 0 }

    /// Eight bytes from here on, the first in the lowest bits; zeros stand for what lies behind the end.
    @inline(__always)
    func word(at offset: Int) -> UInt64 {
        let beyond = position + offset + 8 - end
        if beyond <= 0 { return UInt64(littleEndian: (position + offset).loadUnaligned(as: UInt64.self)) }
        if beyond >= 8 { return 0 }
        return UInt64(littleEndian: (end - 8).loadUnaligned(as: UInt64.self)) >> UInt64(8 * beyond)
    }

    @inline(__always)
    mutating func skipBlanks() {
        while position < end {
            let byte = position.load(as: UInt8.self)
            // One comparison for the usual case that there is none.
            if byte > 0x20 || !JSONText.isBlank(byte) { return }
            position += 1
        }
    }

    @inline(__always)
    mutating func takeByte(_ wanted: UInt8) -> Bool {
        guard position < end, position.load(as: UInt8.self) == wanted else { return false }
        position += 1
        return true
    }

    @inline(__always)
    mutating func take(_ wanted: UInt8) -> Bool {
        skipBlanks()
        return takeByte(wanted)
    }

    @inline(__always)
    mutating func takeNull() -> Bool {
        guard word(at: 0) & 0xFFFF_FFFF == 0x6C6C_756E else { return false }
        position += 4
        return true
    }

    /// `"position"`.
    @inline(__always)
    mutating func takePosition() -> Bool {
        // The quote and the first seven letters, then the last letter and its quote.
        guard word(at: 0) == 0x6F69_7469_736F_7022, word(at: 8) & 0xFFFF == 0x226E else { return false }
        position += 10
        return true
    }

    /// `"status"`.
    @inline(__always)
    mutating func takeStatus() -> Bool {
        guard word(at: 0) == 0x2273_7574_6174_7322 else { return false }
        position += 8
        return true
    }

    mutating func takeLiteral(_ literal: StaticString) -> Bool {
        guard end - position >= literal.utf8CodeUnitCount else { return false }
        for offset in 0..<literal.utf8CodeUnitCount
        where position.load(fromByteOffset: offset, as: UInt8.self) != literal.utf8Start[offset] {
            return false
        }
        position += literal.utf8CodeUnitCount
        return true
    }

    /// The content of a string of plain ASCII without escapes; nil for any other.
    @inline(__always)
    mutating func takeString() -> Text? {
        guard takeByte(UInt8(ascii: "\"")) else { return nil }
        return takeRestOfString()
    }

    /// The same where the opening quote has been taken.
    @inline(__always)
    mutating func takeRestOfString() -> Text? {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops: UInt64 = 0x8080_8080_8080_8080
        let first = position
        var here = position
        while here + 8 <= end {
            let word = UInt64(littleEndian: here.loadUnaligned(as: UInt64.self))
            let quotes = word ^ (ones &* 0x22)
            let backslashes = word ^ (ones &* 0x5C)
            // Borrows can only mark bytes behind the first true mark, and that is the one that counts.
            let marks =
                ((quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes | (word &- ones &* 0x20) & ~word
                    | word)
                & tops
            if marks != 0 {
                here += marks.trailingZeroBitCount >> 3
                guard here.load(as: UInt8.self) == UInt8(ascii: "\"") else { return nil }
                position = here + 1
                return Text(start: first, count: here - first)
            }
            here += 8
        }
        while here < end {
            let byte = here.load(as: UInt8.self)
            if byte == UInt8(ascii: "\"") {
                position = here + 1
                return Text(start: first, count: here - first)
            }
            guard byte >= 0x20, byte < 0x80, byte != UInt8(ascii: "\\") else { return nil }
            here += 1
        }
        return nil
    }
}
