import Testing

@testable import Streams

@Suite("Placing keys")
struct KeyPlacementTests {
    /// As Python has it: `zlib.crc32(b"…")`. The first is the check value of the algorithm's definition.
    @Test(
        "The sum is zlib's CRC32",
        arguments: [
            ("123456789", 3_421_780_262 as Int64), ("order-1", 3_769_860_079), ("", 0), ("kurier-é", 1_731_187_179),
        ])
    func sum(_ key: String, _ sum: Int64) {
        for partitions in [1, 3, 8, 1024] as [Int32] {
            #expect(KeyPlacement(partitions: partitions).partition(of: key) == Int32(sum % Int64(partitions)))
        }
    }

    /// Hashes and keys of Kafka's own UtilsTest; partitions are (hash & 0x7fffffff) % N, as its BuiltInPartitioner has them.
    @Test(
        "murmur2 is that of Kafka's clients in Java",
        arguments: [
            ("21", -973_932_308 as Int32), ("foobar", -790_332_482), ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971), ("abc", 479_470_107),
        ])
    func java(_ key: String, _ hash: Int32) {
        let bytes = Array(key.utf8)
        #expect(bytes.withUnsafeBytes { Int32(bitPattern: murmur2($0)) } == hash)
        // The same from an odd address.
        #expect(([0] + bytes).withUnsafeBytes { Int32(bitPattern: murmur2(.init(rebasing: $0[1...]))) } == hash)
        for partitions in [1, 3, 8, 1024] as [Int32] {
            #expect(
                KeyPlacement(partitions: partitions, hash: .murmur2).partition(of: key) == (hash & .max) % partitions)
        }
    }

    @Test("Keys spread evenly", arguments: KeyPlacement.Hash.allCases)
    func spread(_ hash: KeyPlacement.Hash) {
        let placement = KeyPlacement(partitions: 8, hash: hash)
        var counts = [Int](repeating: 0, count: 8)
        for number in 0..<8_000 { counts[Int(placement.partition(of: "order-\(number)"))] += 1 }
        #expect(counts.allSatisfy { 900...1_100 ~= $0 }, "\(counts)")
    }
}
