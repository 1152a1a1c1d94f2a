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
        var offset = 0
        while offset < bytes.count {
            let field = self.field(at: offset)
            if field.name.count == name.utf8CodeUnitCount,
                memcmp(field.name.baseAddress!, name.utf8Start, field.name.count) == 0
            {
                return field.value
            }
            offset += Self.size(name: field.name.count, value: field.value.count)
        }
        return nil
    }

    func field(at offset: Int) -> (name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        let nameLength = Int(bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
        let valueLength = Int(bytes.loadUnaligned(fromByteOffset: offset + 2, as: UInt16.self))
        let start = offset + 4
        return (
            UnsafeRawBufferPointer(rebasing: bytes[start..<start + nameLength]),
            UnsafeRawBufferPointer(rebasing: bytes[start + nameLength..<start + nameLength + valueLength])
        )
    }
}
