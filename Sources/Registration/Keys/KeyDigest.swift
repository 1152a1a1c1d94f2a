import COpenSSL

/// SHA-256 of a key. Keys are long and random, so that no slower hash is needed to keep them from being guessed.
struct KeyDigest: Sendable, Equatable {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    init(_ key: some Collection<UInt8>) {
        var bytes = [UInt8](repeating: 0, count: 32)
        _ = Array(key).withUnsafeBufferPointer { SHA256($0.baseAddress, $0.count, &bytes) }
        words = bytes.withUnsafeBytes {
            (
                $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
                $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
                $0.loadUnaligned(fromByteOffset: 16, as: UInt64.self),
                $0.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
            )
        }
    }

    /// 0 where they are the same; no step depends on where they differ.
    func difference(_ other: KeyDigest) -> UInt64 {
        (words.0 ^ other.words.0) | (words.1 ^ other.words.1) | (words.2 ^ other.words.2) | (words.3 ^ other.words.3)
    }

    static func == (left: KeyDigest, right: KeyDigest) -> Bool { left.difference(right) == 0 }
}
