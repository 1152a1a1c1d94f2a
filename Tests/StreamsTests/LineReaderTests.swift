import Testing

@testable import Streams

/// Gives its bytes in pieces of a chosen size, as pipes do.
final class PiecewiseSource: ByteSource {
    private let bytes: [UInt8]
    private let pieceBytes: Int
    private var position = 0
    var isReadable = true

    init(_ text: String, pieceBytes: Int) {
        bytes = Array(text.utf8)
        self.pieceBytes = pieceBytes
    }

    func read(into space: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(space.count, pieceBytes, bytes.count - position)
        space.copyBytes(from: bytes[position..<(position + count)])
        position += count
        return count
    }
}

private func text(_ line: UnsafeRawBufferPointer) -> String { String(decoding: line, as: UTF8.self) }

private func lines(of reader: LineReader) throws -> [String] {
    var lines: [String] = []
    while case .line(let line) = try reader.next() { lines.append(text(line)) }
    return lines
}

@Suite("Cutting a source into lines")
struct LineReaderTests {
    @Test("However the bytes arrive, the lines are the same", arguments: [1, 2, 3, 7, 64, 4_096])
    func pieces(pieceBytes: Int) throws {
        let reader = LineReader(
            PiecewiseSource("first\nsecond line\r\n\n  \t\nthird\nlast without a line feed", pieceBytes: pieceBytes),
            capacity: 8)
        #expect(try lines(of: reader) == ["first", "second line\r", "third", "last without a line feed"])
    }

    @Test("Nothing is nothing, and blank lines are nothing")
    func blank() throws {
        #expect(try lines(of: LineReader(PiecewiseSource("", pieceBytes: 4))) == [])
        #expect(try lines(of: LineReader(PiecewiseSource("\n\n \r\n", pieceBytes: 4))) == [])
    }

    @Test("What is at hand are whole lines that were read already; they stay valid together")
    func atHand() throws {
        let source = PiecewiseSource("a\n\nbb\n \nccc\nddd", pieceBytes: 13)
        let reader = LineReader(source)
        #expect(reader.nextAtHand() == nil)
        guard case .line(let first) = try reader.next() else { return #expect(Bool(false)) }
        let second = try #require(reader.nextAtHand())
        let third = try #require(reader.nextAtHand())
        // The last one has no line feed yet.
        #expect(reader.nextAtHand() == nil)
        #expect([first, second, third].map(text) == ["a", "bb", "ccc"])
        #expect(try lines(of: reader) == ["ddd"])
    }

    @Test("A look ahead shows what follows, consumes nothing and leaves the current line valid")
    func lookAhead() throws {
        let reader = LineReader(PiecewiseSource("a\nbb\nccc\ndddd\n", pieceBytes: 3), capacity: 4)
        guard case .line(let first) = try reader.next() else { return #expect(Bool(false)) }
        var seen: [String] = []
        try reader.lookAhead { line in
            seen.append(text(line))
            return seen.count < 2
        }
        #expect(seen == ["bb", "ccc"])
        #expect(text(first) == "a")
        #expect(try lines(of: reader) == ["bb", "ccc", "dddd"])
    }

    @Test("A line beyond the limit is cut off, and the next one is whole", arguments: [1 << 12, 1 << 16])
    func tooLong(pieceBytes: Int) throws {
        let long = String(repeating: "x", count: LineReader.maxLineBytes + 100_000)
        let reader = LineReader(
            PiecewiseSource("before\n\(long)\nafter\n\(long)", pieceBytes: pieceBytes), capacity: 64)
        let read = try lines(of: reader)
        #expect(read.map(\.count) == [6, LineReader.maxLineBytes, 5, LineReader.maxLineBytes])
        #expect(read[2] == "after")
    }

    @Test("Asked not to wait, it says that there is no whole line yet")
    func notYet() throws {
        let source = PiecewiseSource("whole\nhalf", pieceBytes: 8)
        let reader = LineReader(source)
        guard case .line(let line) = try reader.next(waits: false) else { return #expect(Bool(false)) }
        #expect(text(line) == "whole")
        source.isReadable = false
        guard case .notYet = try reader.next(waits: false) else { return #expect(Bool(false)) }
        source.isReadable = true
        guard case .line(let rest) = try reader.next(waits: false) else { return #expect(Bool(false)) }
        #expect(text(rest) == "half")
        guard case .end = try reader.next(waits: false) else { return #expect(Bool(false)) }
    }

    @Test("A look ahead that is not to wait says that it does not know, and loses nothing")
    func lookAheadWithoutWaiting() throws {
        let source = PiecewiseSource("first\nsecond\n", pieceBytes: 6)
        let reader = LineReader(source)
        guard case .line = try reader.next() else { return #expect(Bool(false)) }
        source.isReadable = false
        #expect(try reader.lookAhead(waits: false) { _ in false } == false)
        source.isReadable = true
        #expect(try lines(of: reader) == ["second"])
    }
}
