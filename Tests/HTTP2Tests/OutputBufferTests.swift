import Testing

@testable import HTTP2

@Suite struct OutputBufferTests {
    private func put(_ bytes: [UInt8], into output: OutputBuffer) {
        output.reserve(bytes.count).copyMemory(from: bytes, byteCount: bytes.count)
        output.commit(bytes.count)
    }

    private func take(_ count: Int, from output: OutputBuffer) -> [UInt8] {
        defer { output.remove(count) }
        return Array(UnsafeBufferPointer(start: output.contents, count: count))
    }

    @Test func whatGoesInComesOutInOrderWhereverItLies() {
        let output = OutputBuffer()
        var random = SeededGenerator(seed: 1)
        var written: [UInt8] = []
        var read: [UInt8] = []
        for _ in 0..<400 {
            // Larger pieces than it was made for, too: a header block of many frames.
            let count =
                Int.random(in: 0...100, using: &random) == 0 ? 50_000 : Int.random(in: 1...9_000, using: &random)
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: written.count + $0 &* 7) }
            put(bytes, into: output)
            written += bytes
            while output.count > OutputBuffer.recordBytes {
                read += take(Int.random(in: 1...OutputBuffer.recordBytes, using: &random), from: output)
            }
        }
        read += take(output.count, from: output)
        #expect(read == written)
        #expect(output.producedBytes == UInt64(written.count))
    }

    @Test func afterACutNothingEnters() {
        let output = OutputBuffer()
        put([1, 2, 3], into: output)
        output.cutAfterBytes = 2
        put([4, 5, 6], into: output)
        put([7], into: output)
        #expect(take(output.count, from: output) == [1, 2, 3, 4, 5])
        #expect(output.cutAfterBytes == 0)
    }
}
