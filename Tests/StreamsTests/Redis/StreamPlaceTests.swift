import Pacing
import Testing

@testable import Streams

/// A stream as Redis counts it, and what of it has been read.
private struct Model {
    var entries: [Int64] = []
    var added: Int64 = 0
    var newest: Int64 = 0
    var newestDeleted: Int64 = 0
    var place = StreamPlace(SettledPosition(offset: 0, records: 0))
    var notices: [FeedNotice] = []
    var reads: Int64 = 0

    mutating func add(_ count: Int) {
        for _ in 0..<count {
            newest += 2
            added += 1
            entries.append(newest)
        }
    }

    mutating func trim(to length: Int) { entries.removeFirst(max(0, entries.count - length)) }

    mutating func delete(_ offset: Int64) {
        entries.removeAll { $0 == offset }
        newestDeleted = max(newestDeleted, offset)
    }

    mutating func read(_ count: Int) {
        let from = place.offset
        for offset in entries.filter({ $0 > from }).prefix(count) {
            place.read(offset)
            reads += 1
        }
    }

    mutating func compare(isNew: Bool = false) {
        var seen = StreamLook.Seen()
        (seen.newestOffset, seen.length, seen.entriesAdded) = (newest, Int64(entries.count), added)
        (seen.firstOffset, seen.newestEntryOffset) = (entries.first, entries.last ?? -1)
        (seen.newestDeletedOffset, seen.isNew) = (newestDeleted, isNew)
        if let notice = place.compare(with: seen, source: 0) { notices.append(notice) }
    }

    /// How many entries at or below the place were ever added.
    var truth: Int64 { place.offset / 2 }
    var lost: Int64 { notices.reduce(0) { if case .trimmed(_, let entries, _) = $1 { $0 + entries } else { $0 } } }
}

@Suite("How far a stream is read")
struct StreamPlaceTests {
    @Test("what a read jumped over is found at the end of the stream")
    func atTheEnd() {
        var model = Model()
        model.add(20)
        model.read(20)
        model.compare()
        model.add(1_000)
        model.trim(to: 400)
        model.read(500)
        model.compare()
        #expect(model.notices == [.trimmed(source: 0, records: 600, SettledPosition(offset: 2_040, records: 1_020))])
        model.compare()
        #expect(model.notices.count == 1)
    }

    @Test("and far from its end, by how much of what was read is left")
    func inTheMiddle() {
        var model = Model()
        model.add(20)
        model.read(20)
        model.compare()
        model.add(1_000)
        model.trim(to: 400)
        model.read(100)
        model.trim(to: 350)
        model.compare()
        #expect(model.notices == [.trimmed(source: 0, records: 600, SettledPosition(offset: 1_440, records: 720))])
        // All that was read is gone, and some more.
        model.trim(to: 200)
        model.compare()
        #expect(model.lost == 700)
        #expect(model.place.records == model.truth)
    }

    @Test("trimming of what was read is no loss")
    func ofReadEntries() {
        var model = Model()
        model.add(1_000)
        model.read(700)
        model.trim(to: 300)
        model.compare()
        model.read(100)
        model.trim(to: 250)
        model.compare()
        #expect(model.notices.isEmpty)
        #expect(model.place.records == 800)
    }

    @Test("what XDEL took before it was read sets the count right, once the end is reached, and is no trimming")
    func deleted() {
        var model = Model()
        model.add(100)
        model.read(50)
        model.compare()
        for offset in stride(from: Int64(122), to: 142, by: 2) { model.delete(offset) }
        model.read(20)
        model.compare()
        #expect(model.notices.isEmpty)
        model.read(100)
        model.compare()
        #expect(model.notices == [.recounted(source: 0, records: 10, SettledPosition(offset: 200, records: 100))])
        // Of what was read, it is nothing at all; and trimming counts again.
        model.delete(198)
        model.add(10)
        model.trim(to: 4)
        model.read(10)
        model.compare()
        #expect(model.lost == 6)
    }

    @Test("a stream made anew is not one that has lost its newest entries")
    func anew() {
        var model = Model()
        model.add(10)
        model.read(10)
        model.compare()
        (model.entries, model.added, model.newest) = ([], 0, 0)
        model.compare(isNew: true)
        model.add(1)
        model.read(1)
        model.compare()
        (model.entries, model.newest) = ([], 0)
        model.compare()
        #expect(
            model.notices == [
                .replaced(source: 0, fromOffset: 20, SettledPosition(offset: 0, records: 0)),
                .rewound(source: 0, fromOffset: 2, SettledPosition(offset: 0, records: 1)),
            ])
    }

    @Test("after a fail-over that cost the newest entries, what is left of the others is not counted as lost")
    func failedOver() {
        var model = Model()
        model.add(1_000)
        model.read(1_000)
        model.compare()
        model.entries.removeLast(3)
        model.added -= 3
        model.add(20)
        model.read(10)
        model.compare()
        #expect(model.notices.isEmpty)
        model.read(10)
        model.compare()
        let end = SettledPosition(offset: 2_040, records: 1_017)
        #expect(model.notices == [.rewound(source: 0, fromOffset: 2_040, end)])
    }

    @Test("however adding, trimming and reading mix, what was not read is what is reported", arguments: 1...40)
    func mixed(seed: UInt64) {
        var random = Dice(seed)
        var model = Model()
        for _ in 0..<400 {
            switch random.next(5) {
            case 0, 1: model.add(Int(random.next(200)))
            case 2: model.trim(to: Int(random.next(400)))
            case 3: model.read(1 + Int(random.next(150)))
            default: model.compare()
            }
        }
        model.trim(to: 300)
        model.read(.max)
        model.compare()
        #expect(model.place.records == model.truth, "seed \(seed)")
        #expect(model.place.offset == model.newest, "seed \(seed)")
        #expect(model.lost + model.reads == model.added, "seed \(seed)")
    }
}

private struct Dice {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    /// xorshift64*
    mutating func next(_ below: UInt64) -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return (state &* 0x2545_F491_4F6C_DD1D) >> 33 % below
    }
}
