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
        let length = prefix.utf8CodeUnitCount + token.bytes.count * 2
        precondition(buffer.count >= length, "path of \(length) bytes into a buffer of \(buffer.count)")
        buffer.copyMemory(
            from: UnsafeRawBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount))
        var next = prefix.utf8CodeUnitCount
        for byte in token.bytes {
            buffer[next] = Hex.digit(byte >> 4)
            buffer[next + 1] = Hex.digit(byte & 15)
            next += 2
        }
        return next
    }

    /// Writes `apns-id` as 8-4-4-4-12 lower-case hex, 36 bytes.
    public func writeIdentifier(into buffer: UnsafeMutableRawBufferPointer) {
        precondition(buffer.count >= PushHeaders.identifierBytes, "apns-id into a buffer of \(buffer.count) bytes")
        var next = 0
        for nibble in 0..<32 {
            if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 {
                buffer[next] = UInt8(ascii: "-")
                next += 1
            }
            let half = nibble < 16 ? apnsIdentifier.0 : apnsIdentifier.1
            let shift = UInt64(60 - (nibble & 15) * 4)
            buffer[next] = Hex.digit(UInt8(truncatingIfNeeded: half >> shift) & 15)
            next += 1
        }
    }
}

enum Hex {
    @inline(__always)
    static func digit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + (nibble - 10)
    }
}
