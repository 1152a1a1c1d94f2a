/// 64 bits of a keyed hash of bytes, eight at a time: multiply and fold, as wyhash does. The key is drawn at start, for an attacker may
/// choose ids; whoever relies on more than speed compares the bytes as well.
struct SeededHash {
    let seed: UInt64

    func callAsFunction(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let count = bytes.count
        var hash = seed ^ 0x9E37_79B9_7F4A_7C15
        var last: UInt64 = 0
        if count >= 8 {
            var offset = 0
            while offset < count &- 8 {
                hash = SeededHash.fold(hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                offset &+= 8
            }
            // The last eight, whether or not some of them were read before.
            last = bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
        } else {
            for byte in bytes { last = last << 8 | UInt64(byte) }
        }
        return SeededHash.fold(SeededHash.fold(hash ^ last) ^ UInt64(count) ^ seed)
    }

    private static func fold(_ word: UInt64) -> UInt64 {
        let product = word.multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }
}
