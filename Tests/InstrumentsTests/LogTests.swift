import Foundation
import Synchronization
import Testing

@testable import Instruments

/// Collects lines, under a clock that the test moves.
private final class Lines: Sendable {
    private let state = Mutex<(lines: [String], milliseconds: Int64)>(([], 1_796_041_805_123))

    var all: [String] { state.withLock { $0.lines } }
    func wait(milliseconds: Int64) { state.withLock { $0.milliseconds += milliseconds } }

    func sink(level: LogLevel = .info, format: LogFormat = .text, registry: Registry? = nil) -> LogSink {
        LogSink(
            level: level, format: format, registry: registry, now: { self.state.withLock { $0.milliseconds } },
            output: { line in self.state.withLock { $0.lines.append(String(decoding: line, as: UTF8.self)) } })
    }
}

@Suite struct LogTests {
    private let lines = Lines()

    @Test func aPersonReadsTimeLevelComponentMessageAndFields() {
        let log = Log(component: "delivery", to: lines.sink())
        log.warning(
            "connection lost", .field("host", "push.example.com"), .field("openRequests", 3), .error("reset by peer"),
            .hint("reconnecting"))
        #expect(
            lines.all == [
                "12:30:05.123 warning delivery: connection lost host=push.example.com openRequests=3 "
                    + "error=\"reset by peer\" hint=reconnecting\n"
            ])
    }

    @Test func aMachineReadsOneObjectWithStableKeys() throws {
        let log = Log(component: "streams", to: lines.sink(format: .json))
        log.error(
            "record refused", .topic("rides"), .partition(3), .offset(1042), .activity("ride \"7\"\n"),
            .field("share", 0.5),
            .field("endless", Double.infinity), .field("final", true), .hint("see\u{1}dead letters"))
        let line = try #require(lines.all.first)
        #expect(
            line.hasPrefix(
                "{\"time\":\"2026-11-30T12:30:05.123Z\",\"level\":\"error\",\"message\":\"record refused\",\"component\":\"streams\","
            ))
        #expect(line.hasSuffix("}\n") && line.dropLast().allSatisfy { $0 != "\n" })
        let object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["topic"] as? String == "rides")
        #expect(object["partition"] as? Int == 3)
        #expect(object["offset"] as? Int == 1042)
        #expect(object["activity"] as? String == "ride \"7\"\n")
        #expect(object["share"] as? Double == 0.5)
        #expect(object["endless"] is NSNull)
        #expect(object["final"] as? Bool == true)
        #expect(object["hint"] as? String == "see\u{1}dead letters")
    }

    @Test func noFieldCanForgeAnotherLineOrField() {
        let log = Log(component: "registry", to: lines.sink())
        log.info("token registered", .activity("a\n00:00:00 error x"), .field("note", "b c=d"), .field("empty", ""))
        #expect(
            lines.all == [
                "12:30:05.123 info registry: token registered activity=\"a\\n00:00:00 error x\" note=\"b c=d\" empty=\"\"\n"
            ])
    }

    @Test func whatIsBelowTheLevelIsNeitherWrittenNorCounted() {
        let registry = Registry()
        let log = Log(component: "pacing", to: lines.sink(level: .warning, registry: registry))
        log.info("quiet")
        log.warning("loud")
        #expect(lines.all.count == 1)
        #expect(!log.isOn(.info) && log.isOn(.error))
        let snapshot = registry.snapshot()
        #expect(snapshot.number("waypulse_log_messages_total", "info") == 0)
        #expect(snapshot.number("waypulse_log_messages_total", "warning") == 1)
    }

    @Test func repetitionsAreCountedAndToldWithTheNextLineOfTheirKind() {
        let registry = Registry()
        let log = Log(component: "delivery", to: lines.sink(registry: registry))
        for _ in 0..<12 { log.warning("connection lost") }
        #expect(lines.all.count == 5)
        log.warning("token renewed")
        #expect(lines.all.count == 6)
        lines.wait(milliseconds: 10_000)
        log.warning("connection lost", .field("host", "a"))
        #expect(lines.all.last == "12:30:15.123 warning delivery: connection lost host=a suppressed=7\n")
        #expect(registry.snapshot().number("waypulse_log_messages_total", "warning") == 14)
    }

    @Test func aFlushTellsWhatWasLeftUnsaid() {
        let sink = lines.sink()
        let log = Log(component: "delivery", to: sink)
        for _ in 0..<8 { log.warning("connection lost") }
        sink.flush()
        sink.flush()
        #expect(lines.all.count == 6)
        #expect(lines.all.last == "12:30:05.123 warning delivery: connection lost suppressed=3\n")
    }

    @Test func aClockThatStepsBackDoesNotSilenceTheLog() {
        let log = Log(component: "delivery", to: lines.sink())
        for _ in 0..<6 { log.warning("connection lost") }
        lines.wait(milliseconds: -3_600_000)
        log.warning("connection lost")
        #expect(lines.all.last == "11:30:05.123 warning delivery: connection lost suppressed=1\n")
    }

    @Test func theTableOfRepetitionsIsBounded() {
        var repetitions = Repetitions()
        for number in 0..<5_000 {
            let kind = Repetitions.Kind(level: .info, component: "c", message: "m\(number)")
            #expect(repetitions.admit(kind, nowMilliseconds: 0) == .write(suppressed: 0))
        }
        #expect(repetitions.kinds == repetitions.maxKinds)
        let late = Repetitions.Kind(level: .info, component: "c", message: "late")
        #expect(repetitions.admit(late, nowMilliseconds: 10_000) == .write(suppressed: 0))
        #expect(repetitions.kinds == 1)
    }
}

@Suite struct FingerprintTests {
    private let token = String(repeating: "8f3a0c11", count: 8)

    @Test func aTokenIsKnownAgainAndNotGivenAway() {
        let fingerprint = Fingerprint(token)
        #expect(fingerprint == Fingerprint(token))
        #expect(fingerprint != Fingerprint(token.dropLast() + "2"))
        #expect(fingerprint.description.hasPrefix("8f3a…"))
        #expect(fingerprint.description.count == 13)
    }

    @Test func ofAShortOneNothingIsShownButItsHash() {
        #expect(Fingerprint("secret").description.hasPrefix("…"))
        #expect(Fingerprint("").description.count == 9)
    }
}

@Suite struct UTCTimeTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (951_868_799_999, "2000-02-29T23:59:59.999Z"), (1_796_041_805_123, "2026-11-30T12:30:05.123Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    ])
    func daysAreCountedAsTheCalendarDoes(_ milliseconds: Int64, _ text: String) {
        #expect(UTCTime(milliseconds).description == text)
    }
}
