import CSimdjson

/// A place in a message that ends with a closing brace, and what can be taken there. All reads lie inside the message.
struct ScanCursor {
    struct Text {
        let start: UnsafeRawPointer
        let count: Int
    }

    var position: UnsafeRawPointer
    /// Behind the message's last byte.
    private(set) var end: UnsafeRawPointer

    init(position: UnsafeRawPointer, end: UnsafeRawPointer) {
        self.position = position
        self.end = end
    }

    /// Moves the end to behind the last byte that is not blank; false where that byte is no brace, or the message is
    /// shorter than a word.
    @inline(__always)
    mutating func trimToClosingBrace() -> Bool {
        while end > position, JSONText.isBlank((end - 1).load(as: UInt8.self)) { end -= 1 }
        return end - position >= 8 && (end - 1).load(as: UInt8.self) == UInt8(ascii: "}")
    }

    /// The byte here; 0, which no token begins with, at the end.
    @inline(__always)
    var byte: UInt8 { position < end ? position.load(as: UInt8.self) : 0 }

    /// Whether so many bytes may be read from here on.
    @inline(__always)
    func holds(_ count: Int) -> Bool { end - position >= count }

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
        let first = position
        let last = UnsafeRawPointer(
            csimdjson_end_of_plain(
                first.assumingMemoryBound(to: UInt8.self), end.assumingMemoryBound(to: UInt8.self)))
        guard let last, last < end, last.load(as: UInt8.self) == UInt8(ascii: "\"") else { return nil }
        position = last + 1
        return Text(start: first, count: last - first)
    }
}
