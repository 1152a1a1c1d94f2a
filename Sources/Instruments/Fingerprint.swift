/// What a log may say about a device token: enough to find the same one again, too little to use it.
///
///     Fingerprint("8f3a…")  →  8f3a…c41d09b2
public struct Fingerprint: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    public init(_ token: some StringProtocol) { self.init(bytes: token.utf8) }

    /// The first four characters (of eight or more) and 32 bits of FNV-1a: the hash tells tokens apart, it hides
    /// nothing; what hides the token is that 64 or more hex digits are left out.
    public init(bytes: some Sequence<UInt8>) {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        var head: [UInt8] = []
        var count = 0
        for byte in bytes {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
            if count < 4 { head.append(byte) }
            count += 1
        }
        let digits = String(UInt32(truncatingIfNeeded: hash ^ (hash >> 32)), radix: 16)
        let padded = String(repeating: "0", count: 8 - digits.count) + digits
        description = (count >= 16 ? String(decoding: head, as: UTF8.self) : "") + "…" + padded
    }
}
