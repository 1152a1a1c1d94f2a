import Instruments
import Streams
import Testing

@testable import Pipeline

/// Keeps what it is given, when the test says so.
private final class ScriptedSink: DeadLetterSink {
    struct Call {
        let place: String
        let letters: [DeadLetter]
        let done: (DeadLetterOutcome) -> Void
    }

    var calls: [Call] = []
    private(set) var kept: [String: [Int64]] = [:]

    func place(of letter: DeadLetter) -> String { letter.source }

    func write(_ letters: [DeadLetter], to place: String, done: @escaping (DeadLetterOutcome) -> Void) {
        calls.append(Call(place: place, letters: letters, done: done))
    }

    var checks: [(RedisDeadLetterWriter.Check) -> Void] = []

    func check(done: @escaping (RedisDeadLetterWriter.Check) -> Void) { checks.append(done) }

    func keep(_ place: String, trimmed: Int = 0) {
        for call in take(place) {
            kept[place, default: []] += call.letters.map(\.offset)
            call.done(.written(trimmed: trimmed))
        }
    }

    func refuse(_ place: String) {
        for call in take(place) {
            call.done(.failed(SourceFault(source: place, problem: "is full", remedy: "make room")))
        }
    }

    private func take(_ place: String) -> [Call] {
        defer { calls.removeAll { $0.place == place } }
        return calls.filter { $0.place == place }
    }
}

private final class Bench {
    let sink = ScriptedSink()
    let registry = Registry()
    let desk: DeadLetterDesk
    private(set) var released: [Int64] = []

    init(_ change: (inout DeadLetterSettings) -> Void = { _ in }) {
        var settings = DeadLetterSettings()
        settings.maxPending = 100
        change(&settings)
        desk = DeadLetterDesk(
            settings: settings, sink: sink, registry: registry, alarms: LaneInstruments(registry: registry).alarms,
            log: Log(component: "test", to: LogSink(level: .error, format: .json, registry: registry, output: { _ in }))
        )
        desk.onWritten = { [unowned self] in released.append($0.offset) }
    }

    func take(_ offsets: ClosedRange<Int64>, of source: String = "rides:{1}") {
        for offset in offsets {
            var letter = DeadLetter(reason: "not_json", detail: "x", stage: .decode, source: source, value: [1])
            letter.offset = offset
            desk.take(letter, hold: DeadLetterDesk.Hold(partition: 1, source: 0, offset: offset, epoch: 1))
        }
    }

    func number(_ name: String, _ labels: String...) -> Int64? {
        labels.isEmpty ? registry.snapshot().number(name) : registry.snapshot().number(name, labels[0])
    }
}

@Suite("The desk where dead letters wait")
struct DeadLetterDeskTests {
    @Test("writes letters of a place in order, one call at a time, and releases each when it is kept")
    func inOrder() {
        let bench = Bench()
        bench.take(1...70)
        bench.desk.advance(nowMilliseconds: 0)
        #expect(bench.sink.calls.count == 1)
        bench.desk.advance(nowMilliseconds: 1)
        #expect(bench.sink.calls.count == 1)
        #expect(bench.released.isEmpty)
        bench.sink.keep("rides:{1}")
        bench.desk.advance(nowMilliseconds: 2)
        bench.sink.keep("rides:{1}")
        #expect(bench.sink.kept["rides:{1}"] == Array(1...70))
        #expect(bench.released == Array(1...70))
        #expect(bench.desk.pending == 0)
        #expect(bench.number("waypulse_dead_letters_written_total", "decode") == 70)
    }

    @Test("tries again what was refused, later, and says meanwhile what is wrong")
    func refused() {
        let bench = Bench()
        bench.take(1...2)
        bench.desk.advance(nowMilliseconds: 0)
        bench.sink.refuse("rides:{1}")
        #expect(bench.desk.hindrance == "rides:{1}: is full; make room")
        bench.desk.advance(nowMilliseconds: 499)
        #expect(bench.sink.calls.isEmpty)
        bench.desk.advance(nowMilliseconds: 500)
        bench.sink.keep("rides:{1}")
        #expect(bench.desk.hindrance == nil)
        #expect(bench.released == [1, 2])
        #expect(bench.number("waypulse_dead_letter_failures_total") == 1)
    }

    @Test("looks before the first letter, and says what is in the way until it is not")
    func checked() {
        let bench = Bench()
        bench.desk.advance(nowMilliseconds: 10)
        bench.sink.checks.removeFirst()(
            .refused(SourceFault(source: "dlq", problem: "is a string", remedy: "remove it")))
        #expect(bench.desk.hindrance == "dlq: is a string; remove it")
        #expect(bench.desk.takesMore)
        bench.desk.advance(nowMilliseconds: 5_009)
        #expect(bench.sink.checks.isEmpty)
        bench.desk.advance(nowMilliseconds: 5_010)
        bench.sink.checks.removeFirst()(.passed)
        #expect(bench.desk.hindrance == nil)
        bench.desk.advance(nowMilliseconds: 1_000_000)
        #expect(bench.sink.checks.isEmpty)
    }

    @Test("lets one place wait without the others")
    func places() {
        let bench = Bench()
        bench.take(1...1)
        bench.take(2...2, of: "rides:{2}")
        bench.desk.advance(nowMilliseconds: 0)
        bench.sink.refuse("rides:{1}")
        bench.sink.keep("rides:{2}")
        #expect(bench.released == [2])
        #expect(bench.desk.hindrance != nil)
    }

    @Test("stops reading while too many wait, until half of them are written")
    func bounded() {
        let bench = Bench()
        bench.take(1...99)
        #expect(bench.desk.takesMore)
        bench.take(100...100)
        #expect(!bench.desk.takesMore)
        #expect(bench.number("waypulse_reading_stopped", "pending") == 1)
        bench.desk.advance(nowMilliseconds: 0)
        bench.sink.keep("rides:{1}")
        // 64 of them: 36 are left.
        #expect(bench.desk.takesMore)
        #expect(bench.number("waypulse_reading_stopped", "pending") == 0)
    }

    @Test("stops reading for many large ones before memory is full")
    func boundedBytes() {
        let bench = Bench { $0.maxPending = 1_000_000 }
        let value = [UInt8](repeating: 0, count: 1 << 20)
        for _ in 0..<64 {
            #expect(bench.desk.takesMore)
            bench.desk.take(DeadLetter(reason: "too_large", detail: "", stage: .decode, source: "s", value: value))
        }
        #expect(!bench.desk.takesMore)
    }

    @Test("stops reading for good in a flood, and raises an alarm once")
    func flood() {
        let bench = Bench { ($0.maxPending, $0.flood.minCount) = (10_000, 50) }
        bench.take(1...60)
        bench.desk.noteRead(80)
        bench.desk.noteRead(80)
        #expect(!bench.desk.takesMore)
        #expect(bench.desk.isFlooded)
        #expect(bench.desk.hindrance?.hasPrefix("60 of 80 records could not be used within 60 s") == true)
        #expect(bench.number("waypulse_alarms_total", "dead_letters") == 1)
        bench.desk.advance(nowMilliseconds: 0)
        bench.sink.keep("rides:{1}")
        #expect(!bench.desk.takesMore)
        #expect(bench.released.count == 60)
    }

    @Test("counts updates that were not told into no flood")
    func updates() {
        let bench = Bench { $0.flood.minCount = 1 }
        for _ in 0..<50 {
            bench.desk.take(DeadLetter(reason: "BadDeviceToken", detail: "", stage: .push, source: "g", value: []))
        }
        bench.desk.noteRead(50)
        #expect(bench.desk.takesMore)
    }
}
