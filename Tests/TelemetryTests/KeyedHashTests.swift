import Telemetry
import Testing

@Suite struct KeyedHashTests {
    /// The 64 vectors of SipHash-1-3 that Rust's library tests with (`coretests/tests/hash/sip.rs`): key bytes 00…0f,
    /// input the bytes 0, 1, … of each length.
    @Test func thePublishedVectorsHold() {
        let key = KeyedHash(0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908)
        for (count, vector) in Self.vectors.split(whereSeparator: \.isWhitespace).enumerated() {
            let input = (0..<count).map { UInt8($0) }
            let expected = UInt64(vector, radix: 16)?.byteSwapped
            #expect(input.withUnsafeBytes { key.hash($0) } == expected, "length \(count)")
        }
    }

    @Test func anIdHashesTheSameWhereverItLies() {
        let key = KeyedHash(1, 2)
        let text = Array("order-4711-and-some-more".utf8)
        let expected = text.withUnsafeBytes { key.hash($0) }
        for shift in 1..<9 {
            let shifted = Array(repeating: UInt8(0xFF), count: shift) + text + [0xFF]
            let found = shifted.withUnsafeBytes {
                key.hash(UnsafeRawBufferPointer(rebasing: $0[shift..<(shift + text.count)]))
            }
            #expect(found == expected)
        }
        #expect(key.hash("order-4711-and-some-more") == expected)
        #expect(KeyedHash(1, 3).hash("order-4711-and-some-more") != expected)
    }

    /// Checkpoints keep these: a change of key or algorithm would make every replayed event look new.
    @Test func theHashOfAnEventIdNeverChanges() {
        #expect(KeyedHash.stored.hash("e-1") == 0xD6D6_BA14_A063_046B)
    }

    private static let vectors = """
        dcc40f055801acab 93ca577df39bf4c9 4dd4c74d029bcb82 fbf7dde7b80af88b 2883d388605775cf 673b53492fd5f9de a7229fc5502b0dc5 4011b19b987d92d3
        8e9a298d11959036 e43d066cb38ea425 7f09ff92ee85de79 52c34df9c118c170 a2d9b457b184a378 a7ff29120c766f30 345df9c011a15a60 5699512a6dd820d3
        668b907d1add4fcc 0cd8db639068f29c 3ee673b49c38fc8f 1c7d298de59d1ff2 40e0cca6462fdcc0 44f8452bfeab92b9 2e8720a39b7bfe7f 23c1e6da7f0e5a52
        8c9c3467b2ae64f4 79095b702859cd45 a51399cae3353e3a 353bde4a4ec71da9 0dd06cef02ed0bfb f4e1b14ab43cd988 63e6c543d6110f54 bcd1218c1fdd7023
        0db6a7166c7b1581 bff98f7ae5b9544d 3e752a1f78129f75 916b18bfbea3a1ce 0662a2add308f52c 5730c3a32d1c10b6 a1363aae9674f4b3 9283107b54576b62
        3115e4993236d2c1 44d91a3f92c17c66 258813c8fe4f7065 a64989c2d180f224 6b87f8faed1ccac2 9621049ffc4b16c2 23d6b168939c6ea1 fd14518b9c16fb49
        464c07dff843319f b386cc1224affdc6 8f09520ad149af7e 9a2f299d5513f31c 121ff4a2dd304ac4 d01ea74389e9fa36 e6bcf0734cb38f31 80e9a77036bf7aa2
        756d3c24dbc0bcb4 1315b7fd52d8f823 088a7da64d5f038f 48f1e8b7e5d09cd8 ee44a6f7bce6f4f6 f237180fd89ac5ae e094664b15f6b2c3 a8b3bbb76290199d
        """
}
