import Telemetry

/// The header fields of a device push that change from one to the next. They are written as bytes into a buffer that the caller
/// keeps, so that a push makes no string.
///
/// Source: Apple, "Sending notification requests to APNs".
public struct PushHeaders: Sendable {
    /// Decides how long APNs keeps a push for a phone that is offline.
    public enum Storage: UInt8, Sendable {
        /// Tried once: what is routine is stale by the time a phone returns.
        case routine
        case urgent
        case end
    }

    public static let pushType: StaticString = "liveactivity"
    /// `/3/device/` and the longest token, 200 bytes as hex.
    public static let longestPathBytes = 410
    /// Of the canonical form of a UUID.
    public static let identifierBytes = 36
    /// An end is worth telling for as long as an ended activity can stay on the Lock Screen.
    public static let endStorageSeconds: Int64 = 4 * 3_600

    public var token: PushToken
    /// Upper and lower half of the UUID.
    public var apnsIdentifier: (UInt64, UInt64)
    /// 5 (with regard to the phone's power; outside the update budget) or 10 (at once).
    public var priority: UInt8
    /// `apns-expiration`: Unix seconds, 0 for "try once".
    public var expirationSeconds: Int64

    public init(token: PushToken, apnsIdentifier: (UInt64, UInt64), priority: UInt8, expirationSeconds: Int64) {
        precondition(priority == 5 || priority == 10, "priority \(priority): APNs takes 5 or 10 for Live Activities")
        self.token = token
        self.apnsIdentifier = apnsIdentifier
        self.priority = priority
        self.expirationSeconds = expirationSeconds
    }

    /// `apns-topic` of device pushes. Made once per app.
    public static func topic(bundleIdentifier: String) -> String {
        bundleIdentifier + ".push-type.liveactivity"
    }

    public static func expirationSeconds(
        _ storage: Storage, sentAtSeconds: Int64, staleAfterSeconds: Int64
    ) -> Int64 {
        switch storage {
        case .routine: 0
        case .urgent: sentAtSeconds + staleAfterSeconds
        case .end: sentAtSeconds + endStorageSeconds
        }
    }

    /// Writes `/3/device/` and the token as lower-case hex.
    ///
    /// - Returns: how many bytes were written; `buffer` must have `longestPathBytes`.
    public func writePath(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let prefix: StaticString = "/3/device/"
        let length = prefix.utf8CodeUnitCount + token.byteCount * 2
        precondition(buffer.count >= length, "path of \(length) bytes into a buffer of \(buffer.count)")
        buffer.copyMemory(
            from: UnsafeRawBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount))
        var next = prefix.utf8CodeUnitCount
        token.withBytes { bytes in
            var index = 0
            while index + 4 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)
                buffer.storeBytes(of: Hex.digits(UInt32(littleEndian: word)), toByteOffset: next, as: UInt64.self)
                index += 4
                next += 8
            }
            for byte in bytes[index...] {
                buffer[next] = Hex.digit(byte >> 4)
                buffer[next + 1] = Hex.digit(byte & 15)
                next += 2
            }
        }
        return next
    }

    /// Writes `apns-id` as 8-4-4-4-12 lower-case hex, 36 bytes.
    public func writeIdentifier(into buffer: UnsafeMutableRawBufferPointer) {
        precondition(buffer.count >= PushHeaders.identifierBytes, "apns-id into a buffer of \(buffer.count) bytes")
        let (upper, lower) = (apnsIdentifier.0.byteSwapped, apnsIdentifier.1.byteSwapped)
        let second = Hex.digits(UInt32(truncatingIfNeeded: upper >> 32))
        let third = Hex.digits(UInt32(truncatingIfNeeded: lower))
        buffer.storeBytes(of: Hex.digits(UInt32(truncatingIfNeeded: upper)), toByteOffset: 0, as: UInt64.self)
        buffer.storeBytes(of: UInt32(truncatingIfNeeded: second), toByteOffset: 9, as: UInt32.self)
        buffer.storeBytes(of: UInt32(truncatingIfNeeded: second >> 32), toByteOffset: 14, as: UInt32.self)
        buffer.storeBytes(of: UInt32(truncatingIfNeeded: third), toByteOffset: 19, as: UInt32.self)
        buffer.storeBytes(of: UInt32(truncatingIfNeeded: third >> 32), toByteOffset: 24, as: UInt32.self)
        buffer.storeBytes(of: Hex.digits(UInt32(truncatingIfNeeded: lower >> 32)), toByteOffset: 28, as: UInt64.self)
        for place in stride(from: 8, through: 23, by: 5) { buffer[place] = UInt8(ascii: "-") }
    }
}

enum Hex {
    @inline(__always)
    static func digit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + (nibble - 10)
    }

    /// The eight digits of four bytes, the first byte in the lowest bits; the first digit there as well.
    @inline(__always)
    static func digits(_ word: UInt32) -> UInt64 {
        var spread = UInt64(word)
        spread = (spread | spread << 16) & 0x0000_ffff_0000_ffff
        spread = (spread | spread << 8) & 0x00ff_00ff_00ff_00ff
        let nibbles = (spread >> 4 | spread << 8) & 0x0f0f_0f0f_0f0f_0f0f
        // Of the nibbles above 9, six more carry into the next bit; the letters come 39 after the digits.
        let letters = (nibbles &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return nibbles &+ 0x3030_3030_3030_3030 &+ letters &* 39
    }
}
