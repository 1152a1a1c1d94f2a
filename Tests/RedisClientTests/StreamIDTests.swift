import Testing

@testable import RedisClient

@Suite struct StreamIDTests {
    @Test func textAndIdAgree() {
        for text in ["0-0", "1-2", "1700000000000-0", "18446744073709551615-18446744073709551615"] {
            #expect(RedisStreamID(text)?.description == text)
            var written = ""
            RedisStreamID(text)?.withText { written = String(decoding: $0, as: UTF8.self) }
            #expect(written == text)
        }
    }

    @Test func whatIsNoIdIsNone() {
        for text in ["", "-", "1", "1-", "-1", "1-2-3", "a-1", "1-+2", " 1-2", "18446744073709551616-0", "$", "+"] {
            #expect(RedisStreamID(text) == nil)
        }
    }

    @Test func offsetsKeepTheOrderOfIds() {
        let identifiers = [
            RedisStreamID(milliseconds: 0, sequence: 0), RedisStreamID(milliseconds: 0, sequence: 1),
            RedisStreamID(milliseconds: 0, sequence: 1_048_575), RedisStreamID(milliseconds: 1, sequence: 0),
            RedisStreamID(milliseconds: 1_700_000_000_000, sequence: 7),
            RedisStreamID(milliseconds: (1 << 43) - 1, sequence: (1 << 20) - 1),
        ]
        #expect(identifiers == identifiers.sorted())
        let offsets = identifiers.map { $0.offset! }
        #expect(offsets == offsets.sorted())
        #expect(offsets.map { RedisStreamID(offset: $0) } == identifiers)
        #expect(offsets.last == .max)
        #expect(RedisStreamID(offset: -1) == .zero)
    }

    @Test func anIdBeyondWhatAnOffsetHoldsHasNone() {
        #expect(RedisStreamID(milliseconds: 1 << 43, sequence: 0).offset == nil)
        #expect(RedisStreamID(milliseconds: 0, sequence: 1 << 20).offset == nil)
    }
}
