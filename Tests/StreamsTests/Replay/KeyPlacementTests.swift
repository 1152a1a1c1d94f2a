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

    @Test("Keys spread evenly")
    func spread() {
        let placement = KeyPlacement(partitions: 8)
        var counts = [Int](repeating: 0, count: 8)
        for number in 0..<8_000 { counts[Int(placement.partition(of: "order-\(number)"))] += 1 }
        #expect(counts.allSatisfy { 900...1_100 ~= $0 }, "\(counts)")
    }
}
