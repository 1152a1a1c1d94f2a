import LiveActivities
import Pacing
import Telemetry
import Testing

@testable import Flow

/// What a lane adds to an explanation: answers by their names, breaker, streams, retries.
@Suite("A lane's explanation")
struct LaneExplanationTests {
    private final class Bench {
        let lane: Lane
        var now: Int64 = 1_800_000_000_000
        private var body = ByteBuffer()
        private var decoder = EventDecoder(apps: [])

        init(streams: Int = 10, bytes: Int = 1 << 20) {
            var settings = LaneSettings(shard: ShardSettings(), types: ActivityTypes())
            settings.explanationBytes = bytes
            lane = Lane(settings: settings)
            lane.setStreams(streams, link: lane.addLink(pool: 0))
        }

        // Retries and probes are due on a clock of their own.
        var moment: Moment { Moment(pacing: Instant(milliseconds: now), realMilliseconds: now - 1_700_000_000_000) }

        func apply(_ type: String, _ fields: String, activity: String = "order-1") throws {
            let text =
                #"{"type":"\#(type)","activityId":"\#(activity)","timestamp":\#(Double(now) / 1_000),\#(fields)}"#
            let bytes = Array(text.utf8)
            try bytes.withUnsafeBytes { bytes in
                let event = try decoder.decode(bytes)
                #expect(lane.apply(event, partition: 0, offset: -1, at: moment).isEmpty)
            }
        }

        func begin(_ activity: String = "order-1") throws {
            let token = String(repeating: activity.utf8.reduce(0) { ($0 &+ UInt64($1)) % 10 }.description, count: 64)
            try apply("activity.started", #""attributesType":"Ride","token":"\#(token)""#, activity: activity)
        }

        func next() -> Dispatch? { lane.next(at: moment, body: &body) }

        func answer(_ dispatch: Dispatch, _ status: Int, _ reason: APNsReason? = nil) {
            _ = lane.complete(
                dispatch.identifier,
                .answered(ProviderAnswer(status: status, reason: reason), providerTokenAgeSeconds: 60), at: moment)
        }

        func explanation() -> LaneExplanation? { lane.explanation(of: "order-1", at: moment) }

        var sends: [ExplainedDecision.Send] {
            explanation()!.activity.decisions.compactMap { if case .sent(let send) = $0.what { send } else { nil } }
        }
    }

    @Test("an answer stands with its push: status, reason, how long it took, and what followed")
    func answer() throws {
        let bench = Bench()
        try bench.begin()
        bench.now += 20_000
        try bench.apply("status", #""status":"near""#)
        let dispatch = try #require(bench.next())
        #expect(bench.sends.first?.answer == nil)
        bench.now += 84
        bench.answer(dispatch, 503, .serviceUnavailable)
        let answer = try #require(bench.sends.first?.answer)
        #expect(answer.fate == .held && answer.status == 503 && answer.tookMilliseconds == 84)
        #expect(answer.holdMilliseconds >= 900_000)
        let explanation = try #require(bench.explanation())
        #expect(explanation.reason(answer) == "ServiceUnavailable")
        #expect(explanation.retryAtMilliseconds == bench.now + answer.holdMilliseconds)
        #expect(explanation.activity.situation.underWay?.phase == .waiting(holdsNewer: false))
    }

    @Test("a connection that broke is named like an answer")
    func signal() throws {
        let bench = Bench()
        try bench.begin()
        bench.now += 20_000
        try bench.apply("status", #""status":"near""#)
        let dispatch = try #require(bench.next())
        _ = bench.lane.complete(dispatch.identifier, .signalled(.refusedStream), at: bench.moment)
        let answer = try #require(bench.sends.first?.answer)
        #expect(answer.fate == .sendAgain && answer.status == 0)
        #expect(bench.explanation()?.reason(answer) == "refused_stream")
    }

    @Test("without a free stream the update is ready, and its wait is told when it leaves")
    func streams() throws {
        let bench = Bench(streams: 0)
        try bench.begin()
        bench.now += 20_000
        try bench.apply("status", #""status":"near""#)
        #expect(bench.next() == nil)
        let explanation = try #require(bench.explanation())
        #expect(explanation.streams == 0 && explanation.freeStreams == 0)
        #expect(explanation.activity.situation.readySinceMilliseconds == bench.now)
        #expect(explanation.activity.situation.gates.isEmpty)
        bench.now += 2_100
        bench.lane.setStreams(1, link: 0)
        let dispatch = try #require(bench.next())
        bench.answer(dispatch, 200)
        #expect(bench.sends.first?.creditMilliseconds == 2_100)
        #expect(bench.sends.first?.answer?.fate == .accepted)
    }

    @Test("a breaker that is open is told to each activity of its pool, with what opened it and when it was over")
    func breaker() throws {
        let bench = Bench()
        try bench.begin()
        for number in 0..<5 {
            try bench.begin("other-\(number)")
            bench.now += 20_000
            try bench.apply("status", #""status":"near""#, activity: "other-\(number)")
            let dispatch = try #require(bench.next())
            bench.answer(dispatch, 500, .internalServerError)
        }
        let opened = bench.now
        try bench.apply("status", #""status":"near""#)
        #expect(bench.next() == nil)
        var explanation = try #require(bench.explanation())
        #expect(explanation.breaker != .closed)
        #expect(explanation.probeAtMilliseconds.map { $0 > bench.now } == true)
        #expect(
            explanation.outages == [
                Outage(cause: .server, answer: "InternalServerError", openedAtMilliseconds: opened)
            ])
        bench.now = try #require(explanation.probeAtMilliseconds)
        let probe = try #require(bench.next())
        bench.answer(probe, 200)
        explanation = try #require(bench.explanation())
        #expect(explanation.breaker == .closed)
        #expect(explanation.outages.first?.closedAtMilliseconds == bench.now)
        #expect(bench.sends.first.map { $0.creditMilliseconds > 3_000 } == true)
    }

    @Test("the journal is the lane's: shards share it, and no bytes mean none")
    func sharing() throws {
        let bench = Bench()
        try bench.begin()
        #expect(bench.lane.journal?.activityCount == 1)
        #expect(Bench(bytes: 0).lane.journal == nil)
    }

    @Test("of names that nobody documents only so many are kept")
    func names() {
        var names = AnswerNames()
        #expect(names.number(of: nil) == 0)
        let first = names.number(of: "Unregistered")
        for number in 0..<1_000 { _ = names.number(of: "Odd\(number)") }
        #expect(names.names.count == AnswerNames.limit)
        #expect(names.names.last == "another reason")
        #expect(names.number(of: "Unregistered") == first)
        #expect(names.number(of: "Odder") == AnswerNames.limit)
    }
}
