/// The id of a stream's entry: milliseconds and a sequence number within them (redis.io, "Entry IDs").
public struct RedisStreamID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let milliseconds: UInt64
    public let sequence: UInt64

    public static let zero = RedisStreamID(milliseconds: 0, sequence: 0)

    public init(milliseconds: UInt64, sequence: UInt64) {
        self.milliseconds = milliseconds
        self.sequence = sequence
    }

    /// From `ms-seq`, as Redis writes it; nil for anything else.
    public init?(_ text: UnsafeRawBufferPointer) {
        guard let hyphen = text.firstIndex(of: UInt8(ascii: "-")),
            let milliseconds = Decimal.unsigned(text[..<hyphen]),
            let sequence = Decimal.unsigned(text[(hyphen + 1)...])
        else { return nil }
        self.init(milliseconds: milliseconds, sequence: sequence)
    }

    public init?(_ text: String) {
        var text = text
        guard let identifier = text.withUTF8({ RedisStreamID(UnsafeRawBufferPointer($0)) }) else { return nil }
        self = identifier
    }

    /// Of the entry at an offset as the core counts them; a negative one stands before all entries.
    public init(offset: Int64) {
        let offset = UInt64(max(0, offset))
        self.init(milliseconds: offset >> Self.sequenceBits, sequence: offset & (1 << Self.sequenceBits - 1))
    }

    private static let sequenceBits: UInt64 = 20
    private static let millisecondBits: UInt64 = 43

    /// One number that keeps the order of ids: 43 bits of milliseconds (until the year 2248) above 20 bits of sequence number. Nil for an
    /// id beyond either, which no clock gives: a producer has written ids of its own.
    public var offset: Int64? {
        guard milliseconds >> Self.millisecondBits == 0, sequence >> Self.sequenceBits == 0 else { return nil }
        return Int64(milliseconds << Self.sequenceBits | sequence)
    }

    public static func < (left: RedisStreamID, right: RedisStreamID) -> Bool {
        (left.milliseconds, left.sequence) < (right.milliseconds, right.sequence)
    }

    public var description: String { "\(milliseconds)-\(sequence)" }

    /// The text, lent until `body` returns.
    public func withText(_ body: (UnsafeRawBufferPointer) -> Void) {
        withUnsafeTemporaryAllocation(byteCount: 41, alignment: 1) { text in
            var start = text.count
            func prepend(_ number: UInt64) {
                var rest = number
                repeat {
                    start -= 1
                    text[start] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                } while rest > 0
            }
            prepend(sequence)
            start -= 1
            text[start] = UInt8(ascii: "-")
            prepend(milliseconds)
            body(UnsafeRawBufferPointer(rebasing: text[start...]))
        }
    }
}
