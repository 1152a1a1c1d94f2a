import Glibc

/// An answer, lent for the time of `ClientHandler.completed`.
public struct Response {
    private let fields: PackedFields
    public let status: Int
    public let body: UnsafeRawBufferPointer
    /// The body was longer than `maximumResponseBodyBytes`; the rest was dropped.
    public let isBodyTruncated: Bool

    init(status: Int, fields: PackedFields, body: UnsafeRawBufferPointer, isBodyTruncated: Bool) {
        self.status = status
        self.fields = fields
        self.body = body
        self.isBodyTruncated = isBodyTruncated
    }

    /// The first field of this (lower-case) name.
    public func field(_ name: StaticString) -> UnsafeRawBufferPointer? { fields.first(name) }
}

/// Fields one after the other: two bytes of name length, two of value length, name, value.
struct PackedFields {
    let bytes: UnsafeRawBufferPointer

    static func size(name: Int, value: Int) -> Int { 4 + name + value }

    static func pack(
        name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, into target: UnsafeMutableRawPointer
    ) {
        target.storeBytes(of: UInt16(name.count), as: UInt16.self)
        target.storeBytes(of: UInt16(value.count), toByteOffset: 2, as: UInt16.self)
        if let source = name.baseAddress { (target + 4).copyMemory(from: source, byteCount: name.count) }
        if let source = value.baseAddress {
            (target + 4 + name.count).copyMemory(from: source, byteCount: value.count)
        }
    }

    func first(_ name: StaticString) -> UnsafeRawBufferPointer? {
        guard let start = bytes.baseAddress else { return nil }
        let wanted = name.utf8CodeUnitCount
        var offset = 0
        while offset < bytes.count {
            let (nameLength, valueLength) = lengths(at: offset)
            if nameLength == wanted, memcmp(start + offset + 4, name.utf8Start, wanted) == 0 {
                return UnsafeRawBufferPointer(start: start + offset + 4 + nameLength, count: valueLength)
            }
            offset += Self.size(name: nameLength, value: valueLength)
        }
        return nil
    }

    func field(at offset: Int) -> (name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        let (nameLength, valueLength) = lengths(at: offset)
        let start = offset + 4
        return (
            UnsafeRawBufferPointer(rebasing: bytes[start..<start + nameLength]),
            UnsafeRawBufferPointer(rebasing: bytes[start + nameLength..<start + nameLength + valueLength])
        )
    }

    private func lengths(at offset: Int) -> (name: Int, value: Int) {
        (
            Int(bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)),
            Int(bytes.loadUnaligned(fromByteOffset: offset + 2, as: UInt16.self))
        )
    }
}
