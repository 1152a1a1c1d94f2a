import Flow
import Instruments
import LiveActivities
import Pacing
import Sockets
import Streams
import Synchronization
import Telemetry
import Testing

@testable import Pipeline

/// Keeps what it is given while the test says so, and can be looked at from the test's thread.
final class ScriptedFeedback: Sendable {
    private struct State {
        var isAway = false
        var lines: [String] = []
        var isClosed = false
    }

    private let state = Mutex(State())

    var lines: [String] { state.withLock { $0.lines } }
    var isClosed: Bool { state.withLock { $0.isClosed } }
    func setAway(_ isAway: Bool) { state.withLock { $0.isAway = isAway } }

    var maker: FeedbackSinkMaker { { _ in Sink(self) } }

    private final class Sink: FeedbackSink {
        let feedback: ScriptedFeedback

        init(_ feedback: ScriptedFeedback) { self.feedback = feedback }

        func write(_ lines: ArraySlice<FeedbackLine>, done: @escaping (SourceFault?) -> Void) {
            let isAway = feedback.state.withLock { state in
                if !state.isAway { state.lines += lines.map { String(decoding: $0.value, as: UTF8.self) } }
                return state.isAway
            }
            done(isAway ? SourceFault(source: "sink", problem: "is away", remedy: "wait") : nil)
        }

        func close() { feedback.state.withLock { $0.isClosed = true } }
    }
}

/// A lane whose provider is the test, and the desk beside it.
final class FeedbackBench {
    let lane: Lane
    let desk: FeedbackDesk
    let sink = ScriptedFeedback()
    let registry = Registry()
    private let link: Int
    private var body = ByteBuffer()
    private var decoder = EventDecoder(apps: [])
    var now: Int64 = 1_800_000_000_000

    init(_ change: (inout FeedbackSettings) -> Void = { _ in }) throws {
        var settings = FeedbackSettings()
        change(&settings)
        var shard = ShardSettings()
        shard.notesUntoldEnds = true
        lane = Lane(settings: LaneSettings(shard: shard, types: ActivityTypes()))
        link = lane.addLink(pool: 0)
        lane.setStreams(100_000, link: link)
        desk = try FeedbackDesk(
            settings: settings, apps: ["courier"], instruments: FeedbackInstruments(registry: registry),
            alarms: LaneInstruments(registry: registry).alarms,
            log: Log(component: "test", to: LogSink(level: .error, format: .json, output: { _ in })), sink: sink.maker)
    }

    deinit { desk.end(patienceMilliseconds: 0) }

    var moment: Moment { Moment(pacing: Instant(milliseconds: now), realMilliseconds: now) }

    func apply(_ type: String, _ activity: String, _ fields: String = "") throws {
        let text =
            #"{"type":"\#(type)","activityId":"\#(activity)","timestamp":\#(Double(now) / 1_000)\#(fields)}"#
        try Array(text.utf8).withUnsafeBytes { bytes in
            let event = try decoder.decode(bytes)
            #expect(lane.apply(event, partition: 0, offset: -1, at: moment).isEmpty)
        }
    }

    /// An activity that is told one status, and what the provider says to that.
    func push(_ activity: String, _ status: Int, _ reason: APNsReason? = nil, goneAt: Int64? = nil) throws {
        let token = String(repeating: "ab", count: 32)
        try apply("activity.started", activity, #","attributesType":"Ride","token":"\#(token)""#)
        try apply("status", activity, #","status":"near""#)
        try answer(status, reason, goneAt: goneAt)
    }

    func answer(_ status: Int, _ reason: APNsReason? = nil, goneAt: Int64? = nil) throws {
        let dispatch = try #require(lane.next(at: moment, body: &body))
        let completion = lane.complete(
            dispatch.identifier,
            .answered(
                ProviderAnswer(status: status, reason: reason, timestampMilliseconds: goneAt),
                providerTokenAgeSeconds: 60), at: moment)
        desk.note(try #require(completion), at: moment)
    }

    /// Waits for another thread; the minute is no expectation, only the end of a test that hangs.
    func until(_ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        let limit = EventLoop.currentMilliseconds() + 60_000
        while !condition() {
            guard EventLoop.currentMilliseconds() < limit else {
                Issue.record("never happened", sourceLocation: sourceLocation)
                return
            }
        }
    }

    func count(_ name: String, _ labels: String...) -> Int64? {
        let snapshot = registry.snapshot()
        switch labels.count {
        case 0: return snapshot.number(name)
        case 1: return snapshot.number(name, labels[0])
        default: return snapshot.number(name, labels[0], labels[1])
        }
    }
}

@Suite("The desk where feedback is noted")
struct FeedbackDeskTests {
    @Test("tells of each answer what it means: accepted, refused, gone, unknown, and that it is over")
    func kinds() throws {
        let bench = try FeedbackBench()
        try bench.push("a", 200)
        try bench.push("b", 400, .badCollapseId)
        try bench.push("c", 410, .unregistered, goneAt: 1_800_000_000_001)
        try bench.push("d", 503, .serviceUnavailable)
        try bench.apply("activity.ended", "a")
        try bench.answer(200)
        try bench.apply("activity.started", "e")
        try bench.apply("activity.ended", "e")
        bench.desk.collect(from: bench.lane, at: bench.moment)
        bench.desk.handOver()
        bench.until { bench.desk.pending == 0 }
        let lines = bench.sink.lines
        func told(_ activity: String) -> [String] {
            lines.filter { $0.contains(#""activityId":"\#(activity)""#) }.compactMap { line in
                line.split(separator: ",").first { $0.hasPrefix(#""type""#) }.map { String($0.dropFirst(8).dropLast()) }
            }
        }
        #expect(told("a") == ["push.accepted", "push.accepted", "activity.ended"])
        #expect(told("b") == ["push.refused"])
        #expect(told("c") == ["token.gone"])
        #expect(told("d") == [])
        #expect(told("e") == ["activity.ended"])
        #expect(lines.contains { $0.contains(#""outcome":"unsendable""#) && $0.contains(#""reason":"no_target""#) })
        #expect(lines.contains { $0.contains(#""reason":"Unregistered""#) && $0.contains(#""goneAt":1800000000.001"#) })
        #expect(lines.allSatisfy { $0.contains(#""app":"courier""#) && !$0.contains("abab") })
        #expect(bench.count("waypulse_feedback_total", "push.accepted", "written") == 2)
    }

    @Test("a 410 without a time speaks of what was registered until the push was made")
    func goneWithoutTime() throws {
        let bench = try FeedbackBench()
        try bench.push("a", 410, .unregistered)
        bench.desk.handOver()
        bench.until { bench.desk.pending == 0 }
        #expect(bench.sink.lines.first?.contains(#""registeredAt":1800000000,"goneAt":1800000000}"#) == true)
    }

    @Test("tells only what was asked for")
    func chosen() throws {
        let bench = try FeedbackBench { $0.kinds = [.tokenGone] }
        try bench.push("a", 200)
        try bench.push("c", 410, .unregistered)
        #expect(bench.desk.pending == 1)
    }

    @Test(
        "while its sink is away keeps what must not be lost, drops what tells of accepted pushes first, and writes all when it is back"
    )
    func away() throws {
        let bench = try FeedbackBench { $0.maxPending = 8 }
        bench.sink.setAway(true)
        for number in 0..<8 { try bench.push("a\(number)", 200) }
        #expect(bench.desk.pending == 6)
        for number in 0..<4 { try bench.push("g\(number)", 410, .unregistered) }
        #expect(bench.desk.pending == 8)
        bench.desk.handOver()
        bench.until { bench.count("waypulse_feedback_failures_total") ?? 0 > 0 }
        bench.desk.publish(at: bench.moment)
        #expect(bench.count("waypulse_feedback_pending") == 8)
        #expect(bench.count("waypulse_feedback_total", "push.accepted", "dropped") == 2)
        #expect(bench.count("waypulse_feedback_total", "token.gone", "dropped") == 2)
        #expect(bench.count("waypulse_alarms_total", "feedback") == 1)
        bench.sink.setAway(false)
        bench.until { bench.desk.pending == 0 }
        #expect(bench.sink.lines.count == 8)
        #expect(bench.sink.lines.filter { $0.contains("token.gone") }.count == 2)
    }

    @Test("ends once all is written, and gives up what nobody takes")
    func ended() throws {
        let bench = try FeedbackBench()
        for number in 0..<5_000 { try bench.push("a\(number)", 200) }
        bench.desk.end(patienceMilliseconds: 60_000)
        #expect(bench.sink.lines.count == 5_000)
        #expect(bench.sink.isClosed)
        let other = try FeedbackBench()
        other.sink.setAway(true)
        try other.push("a", 200)
        other.desk.end(patienceMilliseconds: 50)
        #expect(other.sink.lines.isEmpty)
    }
}
