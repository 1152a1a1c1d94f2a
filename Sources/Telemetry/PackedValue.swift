/// A value inside the bytes of a `PackedObject`, borrowed from them. They are well-formed, so walking them checks nothing but that it stays
/// inside.
struct PackedValue {
    let start: UnsafeRawPointer
    let count: Int

    @inline(__always)
    init(start: UnsafeRawPointer, count: Int) {
        self.start = start
        self.count = count
    }

    /// - Precondition: it is not empty.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(start: bytes.baseAddress.unsafelyUnwrapped, count: bytes.count)
    }

    @inline(__always)
    var end: UnsafeRawPointer { start + count }

    @inline(__always)
    var firstByte: UInt8 { start.load(as: UInt8.self) }

    @inline(__always)
    var isObject: Bool { firstByte == UInt8(ascii: "{") }

    /// An object that has members.
    @inline(__always)
    var hasMembers: Bool { isObject && count > 2 }

    var isNumber: Bool { firstByte == UInt8(ascii: "-") || JSONText.isDigit(firstByte) }

    /// `null`: no other value begins with this letter.
    var isNull: Bool { firstByte == UInt8(ascii: "n") }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    /// Of an object.
    @inline(__always)
    var members: PackedMembers { PackedMembers(of: self) }

    @inline(__always)
    func hasSameBytes(as other: PackedValue) -> Bool {
        guard count == other.count else { return false }
        var offset = 0
        while offset + 8 <= count {
            if start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                != other.start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            {
                return false
            }
            offset += 8
        }
        while offset < count {
            if start.load(fromByteOffset: offset, as: UInt8.self)
                != other.start.load(fromByteOffset: offset, as: UInt8.self)
            {
                return false
            }
            offset += 1
        }
        return true
    }

    /// Where the value ends that begins at `position`.
    static func end(from position: UnsafeRawPointer, before limit: UnsafeRawPointer) -> UnsafeRawPointer {
        switch position.load(as: UInt8.self) {
        case UInt8(ascii: "\""): return endOfString(from: position, before: limit)
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            var position = position
            var depth = 0
            while position < limit {
                switch position.load(as: UInt8.self) {
                case UInt8(ascii: "\""):
                    position = endOfString(from: position, before: limit)
                    continue
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
                default: break
                }
                position += 1
                if depth == 0 { break }
            }
            return position
        default: return endOfScalar(from: position, before: limit)
        }
    }

    /// Where the comma or closing bracket stands behind a number or literal.
    @inline(__always)
    private static func endOfScalar(from start: UnsafeRawPointer, before limit: UnsafeRawPointer) -> UnsafeRawPointer {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops: UInt64 = 0x8080_8080_8080_8080
        var position = start
        while position + 8 <= limit {
            let word = UInt64(littleEndian: position.loadUnaligned(as: UInt64.self))
            let commas = word ^ (ones &* 0x2C)
            // With the bit that tells them apart, `]` is `}`; no number or literal holds either.
            let brackets = (word | (ones &* 0x20)) ^ (ones &* 0x7D)
            let marks = ((commas &- ones) & ~commas | (brackets &- ones) & ~brackets) & tops
            if marks != 0 { return position + (marks.trailingZeroBitCount >> 3) }
            position += 8
        }
        while position < limit {
            switch position.load(as: UInt8.self) {
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"): return position
            default: position += 1
            }
        }
        return position
    }

    /// Behind the closing quote of the string that opens at `position`.
    @inline(__always)
    static func endOfString(from position: UnsafeRawPointer, before limit: UnsafeRawPointer) -> UnsafeRawPointer {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops: UInt64 = 0x8080_8080_8080_8080
        var position = position + 1
        while position < limit {
            if position + 8 <= limit {
                let word = UInt64(littleEndian: position.loadUnaligned(as: UInt64.self))
                let quotes = word ^ (ones &* 0x22)
                let backslashes = word ^ (ones &* 0x5C)
                let marks = ((quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes) & tops
                guard marks != 0 else {
                    position += 8
                    continue
                }
                position += marks.trailingZeroBitCount >> 3
            }
            switch position.load(as: UInt8.self) {
            case UInt8(ascii: "\""): return position + 1
            case UInt8(ascii: "\\"): position += 2
            default: position += 1
            }
        }
        return limit
    }
}

/// One member of a packed object.
struct PackedMember {
    /// Where its name opens.
    let start: UnsafeRawPointer
    private let nameBytes: Int32
    private let valueBytes: Int32

    @inline(__always)
    init(start: UnsafeRawPointer, nameEnd: UnsafeRawPointer, end: UnsafeRawPointer) {
        self.start = start
        nameBytes = Int32(truncatingIfNeeded: nameEnd - start)
        valueBytes = Int32(truncatingIfNeeded: end - nameEnd - 1)
    }

    /// A string in its quotes. Two names are the same exactly where their bytes are: each has one way to be written.
    @inline(__always)
    var name: PackedValue { PackedValue(start: start, count: Int(nameBytes)) }

    @inline(__always)
    var value: PackedValue { PackedValue(start: start + Int(nameBytes) + 1, count: Int(valueBytes)) }

    /// Name, colon and value.
    @inline(__always)
    var text: PackedValue { PackedValue(start: start, count: Int(nameBytes) + 1 + Int(valueBytes)) }
}

/// The members of a packed object, one after the other.
struct PackedMembers: Sequence, IteratorProtocol {
    private var position: UnsafeRawPointer
    private let limit: UnsafeRawPointer

    @inline(__always)
    init(of object: PackedValue) {
        position = object.start + 1
        limit = object.end - 1
    }

    /// Those behind `member`, which is one of the object's.
    init(after member: PackedMember, of object: PackedValue) {
        position = member.text.end + 1
        limit = object.end - 1
    }

    @inline(__always)
    mutating func next() -> PackedMember? {
        guard position < limit else { return nil }
        let nameEnd = PackedValue.endOfString(from: position, before: limit)
        let end = PackedValue.end(from: nameEnd + 1, before: limit)
        let member = PackedMember(start: position, nameEnd: nameEnd, end: end)
        // Behind it stands a comma, or the object's brace.
        position = end + 1
        return member
    }

    func first(named name: PackedValue) -> PackedMember? {
        var members = self
        while let member = members.next() {
            if member.name.hasSameBytes(as: name) { return member }
        }
        return nil
    }

    func first(named name: String) -> PackedMember? {
        var name = name
        return name.withUTF8 { wanted in
            let wanted = UnsafeRawBufferPointer(wanted)
            var members = self
            while let member = members.next() {
                if member.name.isString(wanted) { return member }
            }
            return nil
        }
    }
}
