import CZlib

/// Which partition a key belongs to: zlib's CRC32 of its bytes, modulo their number.
///
/// It is librdkafka's default and at hand in every language: `zlib.crc32(key) % partitions` in Python. All producers of a topic have
/// to place keys alike, or one activity has two owners.
public struct KeyPlacement: Sendable {
    public let partitions: Int32

    /// - Precondition: there is at least one partition.
    public init(partitions: Int32) {
        precondition(partitions > 0, "a topic has \(partitions) partitions")
        self.partitions = partitions
    }

    /// - Parameter key: less than 4 GiB.
    public func partition(of key: UnsafeRawBufferPointer) -> Int32 {
        let sum = crc32(0, key.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt32(key.count))
        // An empty key has no address, which zlib takes as a question for the initial value: 0 as well.
        return Int32(UInt64(sum) % UInt64(partitions))
    }

    public func partition(of key: String) -> Int32 {
        var key = key
        return key.withUTF8 { partition(of: UnsafeRawBufferPointer($0)) }
    }
}
