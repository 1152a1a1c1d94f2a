import Testing

@testable import Streams

@Suite("How many entries one read asks for")
struct ReadSizeTests {
    private static func grown(_ entryBytes: Int = 200) -> ReadSize {
        var size = ReadSize(most: 500, streams: 1)
        for _ in 0..<6 { size.answer(entryBytes) }
        return size
    }

    @Test("few until it is known how large they are, then as many as are to be")
    func first() {
        var size = ReadSize(most: 500, streams: 1)
        var counts: [Int] = []
        for _ in 0..<7 {
            counts.append(size.count)
            size.answer(200)
        }
        #expect(counts == [16, 32, 64, 128, 256, 500, 500])
    }

    @Test("as many large ones as are four megabytes over all streams, and one at least")
    func large() {
        var size = ReadSizeTests.grown()
        size.answer(1 << 20)
        #expect(size.count == 4)
        size.answer(20 << 20)
        #expect(size.count == 1)
        var two = ReadSize(most: 500, streams: 2)
        two.answered(entries: 32, bytes: 32 << 20, isWhole: true)
        #expect(two.count == 2)
    }

    @Test("after lost ones fewer and fewer, down to one; much later as many as before")
    func lost() {
        var size = ReadSizeTests.grown()
        var counts: [Int] = []
        for _ in 0..<5 {
            size.lost()
            counts.append(size.count)
        }
        #expect(counts == [250, 62, 7, 1, 1])
        #expect(size.lostInARow == 5)
        for _ in 0..<(ReadSize.readsBeforeGrowth - 1) { size.answer(200) }
        #expect(size.lostInARow == 0)
        #expect(size.count == 1)
        for _ in 0..<(9 * ReadSize.readsBeforeGrowth) { size.answer(200) }
        #expect(size.count == 500)
    }

    @Test("an answer that is not whole, and one without anything, do not make it larger")
    func few() {
        var size = ReadSize(most: 500, streams: 1)
        size.answered(entries: 3, bytes: 600, isWhole: false)
        size.answered(entries: 0, bytes: 0, isWhole: false)
        #expect(size.count == 16)
    }
}

extension ReadSize {
    fileprivate mutating func answer(_ entryBytes: Int) {
        answered(entries: count, bytes: count * entryBytes, isWhole: true)
    }
}
