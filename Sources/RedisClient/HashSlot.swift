/// The part of a cluster's keys that a key belongs to (Redis cluster specification, "Key distribution model").
public struct HashSlot: Hashable, Sendable {
    public let number: UInt16

    public static let count = 16_384

    init(number: UInt16) { self.number = number }

    /// Of a key: CRC16 of its hash tag, or of all of it where there is none.
    public init(of key: UnsafeRawBufferPointer) {
        var hashed = key[...]
        // The tag reaches from the first { to the first } behind it; an empty one is none.
        if let opening = key.firstIndex(of: UInt8(ascii: "{")),
            let closing = key[(opening + 1)...].firstIndex(of: UInt8(ascii: "}")), closing > opening + 1
        {
            hashed = key[(opening + 1)..<closing]
        }
        number = crc16(UnsafeRawBufferPointer(rebasing: hashed)) % UInt16(Self.count)
    }

    public init(of key: String) {
        var key = key
        self = key.withUTF8 { HashSlot(of: UnsafeRawBufferPointer($0)) }
    }
}

/// CRC16-CCITT in its XMODEM form: polynomial 0x1021, beginning with 0.
func crc16(_ bytes: UnsafeRawBufferPointer) -> UInt16 {
    var sum: UInt16 = 0
    for byte in bytes {
        sum ^= UInt16(byte) << 8
        for _ in 0..<8 { sum = sum & 0x8000 != 0 ? sum << 1 ^ 0x1021 : sum << 1 }
    }
    return sum
}
