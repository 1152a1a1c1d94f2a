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
        let nameBytes = activity.count + 1 + APNsIdentifier.longestSequenceBytes
        self = withUnsafeTemporaryAllocation(byteCount: nameBytes, alignment: 8) { name in
            name.copyMemory(from: activity)
            name[activity.count] = 0xFF
            let digits = UnsafeMutableRawBufferPointer(rebasing: name[(activity.count + 1)...])
            let digitCount = APNsIdentifier.write(sequence, into: digits)
            return APNsIdentifier(
                nameSpace: APNsIdentifier.nameSpace,
                name: UnsafeRawBufferPointer(rebasing: name[..<(activity.count + 1 + digitCount)]))
        }
    }

    init(nameSpace: APNsIdentifier, name: UnsafeRawBufferPointer) {
        let digest = withUnsafeTemporaryAllocation(byteCount: 16 + name.count, alignment: 8) { message in
            message.storeBytes(of: nameSpace.high.bigEndian, as: UInt64.self)
            message.storeBytes(of: nameSpace.low.bigEndian, toByteOffset: 8, as: UInt64.self)
            UnsafeMutableRawBufferPointer(rebasing: message[16...]).copyMemory(from: name)
            return SHA1.digest(UnsafeRawBufferPointer(message))
        }
        let high = UInt64(digest.0) << 32 | UInt64(digest.1)
        let low = UInt64(digest.2) << 32 | UInt64(digest.3)
        self.init(
            high: high & 0xFFFF_FFFF_FFFF_0FFF | 0x5000,
            low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }

    /// Of the largest 64-bit number.
    private static let longestSequenceBytes = 20

    /// Writes the number's decimal digits and returns how many they are.
    private static func write(_ number: UInt64, into digits: UnsafeMutableRawBufferPointer) -> Int {
        var count = 1
        var rest = number / 10
        while rest > 0 {
            count += 1
            rest /= 10
        }
        rest = number
        for place in (0..<count).reversed() {
            digits[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        return count
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
