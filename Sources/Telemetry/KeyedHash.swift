/// SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", with one round a word and three at the end): 64 bits
/// that whoever chooses the input cannot steer without knowing the key.
public struct KeyedHash: Sendable {
    private let firstKey: UInt64
    private let secondKey: UInt64

    public init(_ firstKey: UInt64, _ secondKey: UInt64) {
        self.firstKey = firstKey
        self.secondKey = secondKey
    }

    /// For hashes that outlive the process: checkpoints keep those of event ids, so this key never changes.
    public static let stored = KeyedHash(0x7761_7970_756C_7365, 0x6576_656E_7449_6473)

    public func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var v0 = firstKey ^ 0x736F_6D65_7073_6575
        var v1 = secondKey ^ 0x646F_7261_6E64_6F6D
        var v2 = firstKey ^ 0x6C79_6765_6E65_7261
        var v3 = secondKey ^ 0x7465_6462_7974_6573
        let count = bytes.count
        var last = UInt64(truncatingIfNeeded: count) << 56
        if count > 0, let base = bytes.baseAddress {
            let whole = count & ~7
            var offset = 0
            while offset < whole {
                let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                v3 ^= word
                KeyedHash.round(&v0, &v1, &v2, &v3)
                v0 ^= word
                offset += 8
            }
            let rest = UInt64(truncatingIfNeeded: count - whole)
            if whole > 0, rest > 0 {
                // The last eight bytes, without those that are in already.
                let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
                last |= word &>> (64 &- 8 &* rest)
            } else {
                var shift: UInt64 = 0
                while offset < count {
                    last |= UInt64(base.load(fromByteOffset: offset, as: UInt8.self)) << shift
                    shift += 8
                    offset += 1
                }
            }
        }
        v3 ^= last
        KeyedHash.round(&v0, &v1, &v2, &v3)
        v0 ^= last
        v2 ^= 0xFF
        KeyedHash.round(&v0, &v1, &v2, &v3)
        KeyedHash.round(&v0, &v1, &v2, &v3)
        KeyedHash.round(&v0, &v1, &v2, &v3)
        return v0 ^ v1 ^ v2 ^ v3
    }

    /// The hash of the text's UTF-8.
    public func hash(_ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { hash(UnsafeRawBufferPointer($0)) }
    }

    @inline(__always)
    private static func round(_ v0: inout UInt64, _ v1: inout UInt64, _ v2: inout UInt64, _ v3: inout UInt64) {
        v0 &+= v1
        v1 = v1 << 13 | v1 >> 51
        v1 ^= v0
        v0 = v0 << 32 | v0 >> 32
        v2 &+= v3
        v3 = v3 << 16 | v3 >> 48
        v3 ^= v2
        v0 &+= v3
        v3 = v3 << 21 | v3 >> 43
        v3 ^= v0
        v2 &+= v1
        v1 = v1 << 17 | v1 >> 47
        v1 ^= v2
        v2 = v2 << 32 | v2 >> 32
    }
}

extension Event {
    /// 64 bits that stand for an `eventId`, the same in every process; never 0, which means that there is none.
    public static func identifierHash(ofEventIdentifier bytes: UnsafeRawBufferPointer) -> UInt64 {
        let hash = KeyedHash.stored.hash(bytes)
        return hash == 0 ? 1 : hash
    }

    /// 64 bits of an activity or subject id for a table; the table draws its key at start, since an attacker may choose ids.
    public static func identifierHash(of identifier: UnsafeRawBufferPointer, key: KeyedHash) -> UInt64 {
        key.hash(identifier)
    }
}
