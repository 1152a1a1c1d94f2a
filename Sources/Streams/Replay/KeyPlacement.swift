import CZlib

/// Which partition a key belongs to: a hash of its bytes, modulo their number.
///
/// All producers of a topic have to place keys alike, or one activity has two owners.
public struct KeyPlacement: Sendable {
    public enum Hash: String, Sendable, CaseIterable {
        /// zlib's CRC32. It is librdkafka's default and at hand in every language: `zlib.crc32(key) % partitions` in Python.
        case crc32
        /// murmur2 without its sign, as the producers of Java place keys.
        case murmur2
    }

    public let partitions: Int32
    public let hash: Hash

    /// - Precondition: there is at least one partition.
    public init(partitions: Int32, hash: Hash = .crc32) {
        precondition(partitions > 0, "a topic has \(partitions) partitions")
        self.partitions = partitions
        self.hash = hash
    }

    /// - Parameter key: less than 4 GiB.
    public func partition(of key: UnsafeRawBufferPointer) -> Int32 {
        let number =
            switch hash {
            // An empty key has no address, which zlib takes as a question for the initial value: 0 as well.
            case .crc32: UInt64(CZlib.crc32(0, key.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt32(key.count)))
            case .murmur2: UInt64(murmur2(key) & 0x7FFF_FFFF)
            }
        return Int32(number % UInt64(partitions))
    }

    public func partition(of key: String) -> Int32 {
        var key = key
        return key.withUTF8 { partition(of: UnsafeRawBufferPointer($0)) }
    }
}

/// Austin Appleby's MurmurHash2 with the seed of Kafka's clients, words of little-endian order.
func murmur2(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    let multiplier: UInt32 = 0x5BD1_E995
    var hash = 0x9747_B28C ^ UInt32(truncatingIfNeeded: bytes.count)
    let whole = bytes.count & ~3
    for place in stride(from: 0, to: whole, by: 4) {
        var word = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
        word = word &* multiplier
        word ^= word >> 24
        hash = hash &* multiplier ^ (word &* multiplier)
    }
    if whole < bytes.count {
        for place in whole..<bytes.count { hash ^= UInt32(bytes[place]) << UInt32(8 * (place - whole)) }
        hash = hash &* multiplier
    }
    hash ^= hash >> 13
    hash = hash &* multiplier
    return hash ^ hash >> 15
}
