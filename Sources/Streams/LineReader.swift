import Glibc

/// Cuts a source into lines without copying them: a line stays valid until the next call of `next`, also across a look ahead and across
/// `nextAtHand`.
final class LineReader {
    /// Longer lines are cut off here and so refused as too large: an event has 64 KiB at most, its wrapper a few more.
    static let maxLineBytes = 1 << 20

    private let source: any ByteSource
    private var buffer: UnsafeMutableRawBufferPointer
    /// Buffers that a look ahead outgrew while a line in them was still lent out.
    private var outgrown: [UnsafeMutableRawBufferPointer] = []
    private var start = 0
    private var end = 0
    private var isAtEnd = false

    init(_ source: any ByteSource, capacity: Int = 1 << 18) {
        self.source = source
        buffer = .allocate(byteCount: capacity, alignment: 64)
    }

    deinit {
        buffer.deallocate()
        for buffer in outgrown { buffer.deallocate() }
    }

    enum Fetch {
        /// Without its line feed.
        case line(UnsafeRawBufferPointer)
        /// The source has no whole line at the moment.
        case notYet
        case end
    }

    /// The next line, blank ones left out.
    ///
    /// - Parameter waits: whether to block until the source has one; if not, there may be none yet.
    func next(waits: Bool = true) throws(SourceFault) -> Fetch {
        for buffer in outgrown { buffer.deallocate() }
        outgrown.removeAll()
        // A copy, so that `start` itself is never lent out, which `nextAtHand` would pay for with a check a line.
        var position = start
        defer { start = position }
        while true {
            let fetch = try line(from: &position, mayMove: true, waits: waits)
            if case .line(let line) = fetch, LineReader.isBlank(line) { continue }
            return fetch
        }
    }

    /// The line after the current one, if all of it has been read already; blank ones are left out.
    func nextAtHand() -> UnsafeRawBufferPointer? {
        while let feed = LineReader.lineFeed(in: buffer, start..<end) {
            let line = UnsafeRawBufferPointer(rebasing: buffer[start..<feed])
            // The general way cuts it off.
            if line.count > LineReader.maxLineBytes { return nil }
            start = feed + 1
            if !LineReader.isBlank(line) { return line }
        }
        return nil
    }

    /// Shows the lines after the current one until `body` returns false; nothing is consumed.
    ///
    /// - Returns: false where it came to the end of what the source has at the moment, and was not to wait.
    @discardableResult
    func lookAhead(waits: Bool = true, _ body: (UnsafeRawBufferPointer) -> Bool) throws(SourceFault) -> Bool {
        var position = start
        while true {
            switch try line(from: &position, mayMove: false, waits: waits) {
            case .line(let line): if !LineReader.isBlank(line) && !body(line) { return true }
            case .notYet: return false
            case .end: return true
            }
        }
    }

    /// - Parameter mayMove: whether the bytes before `position` may be given up to make room.
    private func line(from position: inout Int, mayMove: Bool, waits: Bool) throws(SourceFault) -> Fetch {
        var scanned = position
        while true {
            if let length = LineReader.lineFeed(in: buffer, scanned..<end) {
                let line = UnsafeRawBufferPointer(rebasing: buffer[position..<length])
                position = length + 1
                return .line(line)
            }
            scanned = end
            if isAtEnd {
                guard position < end else { return .end }
                let line = UnsafeRawBufferPointer(rebasing: buffer[position..<end])
                position = end
                return .line(line)
            }
            if end - position > LineReader.maxLineBytes {
                return .line(try cutOff(at: &position))
            }
            if end == buffer.count {
                if mayMove && position > 0 {
                    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[position..<end]))
                    end -= position
                    scanned -= position
                    position = 0
                } else {
                    grow(keepingOld: !mayMove)
                }
            }
            guard waits || source.isReadable else { return .notYet }
            try fill()
        }
    }

    private func fill() throws(SourceFault) {
        let count = try source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[end...]))
        end += count
        isAtEnd = count == 0
    }

    private func grow(keepingOld: Bool) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: buffer.count * 2, alignment: 64)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[..<end]))
        if keepingOld { outgrown.append(buffer) } else { buffer.deallocate() }
        buffer = larger
    }

    /// The head of a line that is too long; the rest is read and forgotten, so that memory stays bounded.
    private func cutOff(at position: inout Int) throws(SourceFault) -> UnsafeRawBufferPointer {
        let head = UnsafeRawBufferPointer(rebasing: buffer[position..<(position + LineReader.maxLineBytes)])
        let restStart = position + LineReader.maxLineBytes
        if end == buffer.count { grow(keepingOld: true) }
        while true {
            if let feed = LineReader.lineFeed(in: buffer, restStart..<end) {
                let remaining = UnsafeRawBufferPointer(rebasing: buffer[feed..<end])
                UnsafeMutableRawBufferPointer(rebasing: buffer[restStart...]).copyMemory(from: remaining)
                end = restStart + remaining.count
                position = restStart + 1
                return head
            }
            end = restStart
            try fill()
            if isAtEnd {
                position = end
                return head
            }
        }
    }

    private static func lineFeed(in buffer: UnsafeMutableRawBufferPointer, _ range: Range<Int>) -> Int? {
        guard !range.isEmpty, let base = buffer.baseAddress,
            let found = memchr(base + range.lowerBound, 0x0A, range.count)
        else { return nil }
        return found - base
    }

    private static func isBlank(_ line: UnsafeRawBufferPointer) -> Bool {
        line.allSatisfy { $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }
    }
}
