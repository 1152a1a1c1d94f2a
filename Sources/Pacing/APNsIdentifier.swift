/// A UUID as APNs wants it in `apns-id`.
public struct APNsIdentifier: Hashable, Sendable {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

extension APNsIdentifier {
    /// The name space of Waypulse's ids: an arbitrary UUID, fixed for ever.
    static let nameSpace = APNsIdentifier(high: 0x6F1D_6C3E_59A2_4B07, low: 0x9B6A_0C54_E7D8_2F91)

    /// UUID version 5 (RFC 9562, section 5.5) of `activity` and `sequence`: a retry, and a replay of the same history, gives the same.
    init(activity: UnsafeRawBufferPointer, sequence: UInt64) {
        // The separator is no valid UTF-8, so no id followed by a number can look like another id.
        self.init(nameSpace: APNsIdentifier.nameSpace, name: Array(activity) + [0xFF] + Array(String(sequence).utf8))
    }

    init(nameSpace: APNsIdentifier, name: [UInt8]) {
        let digest = SHA1.digest(nameSpace.bytes + name)
        let high = digest[0..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let low = digest[8..<16].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        self.init(
            high: high & 0xFFFF_FFFF_FFFF_0FFF | 0x5000,
            low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }

    var bytes: [UInt8] {
        [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) } }
    }
}

extension APNsIdentifier: CustomStringConvertible {
    /// Lower-case, 8-4-4-4-12.
    public var description: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
