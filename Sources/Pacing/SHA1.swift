/// SHA-1 (FIPS 180-4), for name-based UUIDs (RFC 9562, section 5.5) and for nothing that has to be secure.
///
/// It allocates nothing: one is computed for each push.
struct SHA1 {
    private static let blockBytes = 64

    private var a: UInt32 = 0x6745_2301
    private var b: UInt32 = 0xEFCD_AB89
    private var c: UInt32 = 0x98BA_DCFE
    private var d: UInt32 = 0x1032_5476
    private var e: UInt32 = 0xC3D2_E1F0

    /// The digest's five words, most significant first.
    static func digest(_ message: UnsafeRawBufferPointer) -> (UInt32, UInt32, UInt32, UInt32, UInt32) {
        var hash = SHA1()
        let wholeBytes = message.count / blockBytes * blockBytes
        for start in stride(from: 0, to: wholeBytes, by: blockBytes) {
            hash.absorb(UnsafeRawBufferPointer(rebasing: message[start..<(start + blockBytes)]))
        }
        hash.absorbEnd(UnsafeRawBufferPointer(rebasing: message[wholeBytes...]), of: message.count)
        return (hash.a, hash.b, hash.c, hash.d, hash.e)
    }

    /// What is left of the message, a one bit, zeros, and its length in bits: one block or two.
    private mutating func absorbEnd(_ rest: UnsafeRawBufferPointer, of messageBytes: Int) {
        withUnsafeTemporaryAllocation(byteCount: 2 * SHA1.blockBytes, alignment: 8) { end in
            end.initializeMemory(as: UInt8.self, repeating: 0)
            end.copyMemory(from: rest)
            end[rest.count] = 0x80
            let endBytes = rest.count + 9 > SHA1.blockBytes ? 2 * SHA1.blockBytes : SHA1.blockBytes
            end.storeBytes(
                of: (UInt64(messageBytes) * 8).bigEndian, toByteOffset: endBytes - 8, as: UInt64.self)
            for start in stride(from: 0, to: endBytes, by: SHA1.blockBytes) {
                absorb(UnsafeRawBufferPointer(rebasing: end[start..<(start + SHA1.blockBytes)]))
            }
        }
    }

    private mutating func absorb(_ block: UnsafeRawBufferPointer) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 80) { words in
            for index in 0..<16 {
                let word = block.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self)
                words.initializeElement(at: index, to: UInt32(bigEndian: word))
            }
            for index in 16..<80 {
                let mixed = words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]
                words.initializeElement(at: index, to: SHA1.rotate(mixed, by: 1))
            }
            var working = self
            for index in 0..<20 {
                working.turn((working.b & working.c) | (~working.b & working.d), 0x5A82_7999, words[index])
            }
            for index in 20..<40 {
                working.turn(working.b ^ working.c ^ working.d, 0x6ED9_EBA1, words[index])
            }
            for index in 40..<60 {
                let majority = (working.b & working.c) | (working.b & working.d) | (working.c & working.d)
                working.turn(majority, 0x8F1B_BCDC, words[index])
            }
            for index in 60..<80 {
                working.turn(working.b ^ working.c ^ working.d, 0xCA62_C1D6, words[index])
            }
            a &+= working.a
            b &+= working.b
            c &+= working.c
            d &+= working.d
            e &+= working.e
        }
    }

    @inline(__always)
    private mutating func turn(_ mixed: UInt32, _ constant: UInt32, _ word: UInt32) {
        let next = SHA1.rotate(a, by: 5) &+ mixed &+ e &+ constant &+ word
        (e, d, c, b, a) = (d, c, SHA1.rotate(b, by: 30), a, next)
    }

    @inline(__always)
    private static func rotate(_ word: UInt32, by count: UInt32) -> UInt32 {
        word &<< count | word &>> (32 - count)
    }
}
