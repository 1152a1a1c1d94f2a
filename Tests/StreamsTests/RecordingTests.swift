import CZstd
import Flow
import Glibc
import Telemetry
import Testing

@testable import Streams

private func position(_ activity: String, at seconds: Int) -> String {
    #"{"type":"position","activityId":"\#(activity)","timestamp":\#(seconds),"latitude":1,"longitude":2}"#
}

private func recording(_ lines: String..., name: String = "test") -> Recording {
    Recording(name: name, bytes: Array(lines.joined(separator: "\n").utf8), apps: [])
}

/// A file that is gone when its scope ends.
private func withFile<Result>(_ bytes: [UInt8], suffix: String, _ body: (String) throws -> Result) throws -> Result {
    var path = Array("/tmp/waypulse-test-XXXXXX\(suffix)".utf8CString)
    let descriptor = mkstemps(&path, Int32(suffix.utf8.count))
    defer { unlink(path) }
    #expect(write(descriptor, bytes, bytes.count) == bytes.count)
    close(descriptor)
    return try body(String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
}

private func compressed(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    var output = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count))
    let count = ZSTD_compress(&output, output.count, bytes, bytes.count, 3)
    return Array(output.prefix(count))
}

private func numbersAndTimes(_ recording: Recording) throws -> [(Int, RecordClock.RecordTime)] {
    var found: [(Int, RecordClock.RecordTime)] = []
    while case .record(let record) = try recording.next() { found.append((record.number, record.time)) }
    return found
}

@Suite("Reading recordings")
struct RecordingTests {
    @Test("Bare lines have their own time, wrapped ones that of their arrival, useless ones none")
    func times() throws {
        let wrapped = #"{"partition":3,"offset":42,"key":"a","receivedAt":100.5,"value":\#(position("a", at: 7))}"#
        let uselessButTimed = #"{"receivedAt":101,"value":{"type":"nonsense"}}"#
        let recording = recording(position("a", at: 5), wrapped, uselessButTimed, "{", "")
        let found = try numbersAndTimes(recording)
        #expect(found.map(\.0) == [1, 2, 3, 4])
        #expect(
            found.map(\.1) == [
                .stamped(milliseconds: 5_000), .received(milliseconds: 100_500), .received(milliseconds: 101_000),
                .unknown,
            ])
    }

    @Test("A wrapper tells partition and offset")
    func wrapper() throws {
        let recording = recording(#"{"partition":3,"offset":42,"key":"a","value":\#(position("a", at: 7))}"#)
        guard case .record(let record) = try recording.next() else { return #expect(Bool(false)) }
        #expect(record.partition == 3)
        #expect(record.offset == 42)
        #expect(String(decoding: record.value, as: UTF8.self) == position("a", at: 7))
    }

    @Test("The following time passes over records that have none, and moves nothing")
    func following() throws {
        let recording = recording(position("a", at: 1), "nonsense", position("a", at: 9), position("a", at: 10))
        guard case .record(let first) = try recording.next() else { return #expect(Bool(false)) }
        #expect(try recording.followingTimeMilliseconds() == 9_000)
        #expect(first.time == .stamped(milliseconds: 1_000))
        #expect(try numbersAndTimes(recording).map(\.0) == [2, 3, 4])
    }

    @Test("However many lines are at hand, records come one by one, in order, with their own bytes")
    func manyAtHand() throws {
        let lines = (0..<1_000).map { index in
            // Some ids are written with an escape, and so lie elsewhere than in the line.
            position(index % 7 == 0 ? "ride-\u{5C}u0041\(index)" : "ride-A\(index)", at: index)
        }
        let recording = Recording(name: "test", bytes: Array(lines.joined(separator: "\n").utf8), apps: [])
        for index in 0..<1_000 {
            guard case .record = try recording.advance() else { return #expect(Bool(false), "\(index)") }
            let record = recording.current.pointee
            #expect(record.number == index + 1)
            if index == 1 {
                // The first id was written with an escape, and ended its batch. The eighth ends this one.
                #expect(recording.newBatch.map(\.number) == [2, 3, 4, 5, 6, 7, 8])
            }
            if index == 2 { #expect(recording.newBatch.isEmpty) }
            #expect(String(decoding: record.value, as: UTF8.self) == lines[index])
            guard case .success(let event) = record.event else { return #expect(Bool(false), "\(index)") }
            #expect(String(decoding: event.identifier, as: UTF8.self) == "ride-A\(index)")
            #expect(try recording.followingTimeMilliseconds() == (index < 999 ? Int64(index + 1) * 1_000 : nil))
        }
        guard case .end = try recording.advance() else { return #expect(Bool(false)) }
    }

    @Test("Nothing is waited for to make a record's batch larger")
    func noWaitForMore() throws {
        let source = PiecewiseSource(position("a", at: 1) + "\n" + position("a", at: 2) + "\n", pieceBytes: 100)
        let recording = Recording(name: "pipe", source: source, apps: [])
        guard case .record = try recording.advance(waits: false) else { return #expect(Bool(false)) }
        source.isReadable = false
        #expect(recording.current.pointee.number == 1)
        guard case .notYet = try recording.advance(waits: false) else { return #expect(Bool(false)) }
        source.isReadable = true
        guard case .record = try recording.advance(waits: false) else { return #expect(Bool(false)) }
        #expect(recording.current.pointee.number == 2)
    }

    @Test("Compressed recordings read like others, also of several frames")
    func zstd() throws {
        let bytes = compressed(position("a", at: 1) + "\n") + compressed(position("a", at: 2) + "\n")
        try withFile(bytes, suffix: ".zst") { path in
            let found = try numbersAndTimes(Recording(path: path, apps: []))
            #expect(found.map(\.1) == [.stamped(milliseconds: 1_000), .stamped(milliseconds: 2_000)])
        }
    }

    @Test("A compressed recording that was cut off, or is none, is a fault that names the file")
    func badZstd() throws {
        let whole = compressed((0..<1_000).map { position("a", at: $0) }.joined(separator: "\n"))
        for bytes in [Array(whole.dropLast(whole.count / 2)), Array("no zstd at all".utf8)] {
            try withFile(bytes, suffix: ".zst") { path in
                let recording = try Recording(path: path, apps: [])
                let fault = #expect(throws: SourceFault.self) { while case .record = try recording.next() {} }
                #expect(fault?.source == path)
            }
        }
    }

    @Test("What cannot be opened or read is a fault that says what to do")
    func unreadable() throws {
        let missing = #expect(throws: SourceFault.self) { try Recording(path: "/nowhere/at/all.jsonl", apps: []) }
        #expect(missing?.problem.contains("cannot be opened") == true)
        let folder = #expect(throws: SourceFault.self) { try Recording(path: "/tmp", apps: []).next() }
        #expect(folder?.problem.contains("cannot be read") == true)
    }
}

@Suite("Merging recordings")
struct MergedRecordingsTests {
    private func order(_ recordings: Recording...) throws -> [String] {
        let merged = MergedRecordings(recordings)
        var order: [String] = []
        while case .record(let record, let recording) = try merged.next() {
            order.append("\(recording.name)\(record.number)")
        }
        return order
    }

    @Test("By record time, then by the order of arguments")
    func byTime() throws {
        #expect(
            try order(
                recording(position("a", at: 1), position("a", at: 5), name: "a"),
                recording(position("b", at: 1), position("b", at: 3), position("b", at: 9), name: "b"))
                == ["a1", "b1", "b2", "a2", "b3"])
    }

    @Test("A recording keeps its own order, and what has no time stays behind what it followed")
    func ownOrder() throws {
        #expect(
            try order(
                recording(position("a", at: 4), position("a", at: 2), "nonsense", position("a", at: 8), name: "a"),
                recording(position("b", at: 3), position("b", at: 6), name: "b"))
                == ["b1", "a1", "a2", "a3", "b2", "a4"])
    }

    @Test("The following time is the earliest of those that come next")
    func following() throws {
        let merged = MergedRecordings([
            recording(position("a", at: 1), position("a", at: 50), name: "a"),
            recording("nonsense", position("b", at: 30), name: "b"),
        ])
        guard case .record(_, let first) = try merged.next() else { return #expect(Bool(false)) }
        #expect(first.name == "b")
        guard case .record(let record, let second) = try merged.next() else { return #expect(Bool(false)) }
        #expect(second.name == "a")
        #expect(record.number == 1)
        #expect(try merged.followingTimeMilliseconds() == 30_000)
    }
}
