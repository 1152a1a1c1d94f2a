import Configuration
import Flow
import LiveActivities
import Pacing
import Telemetry
import Testing

@testable import Pipeline

/// Questions as somebody asks them who was never told how it works inside, each answered by the text alone.
@Suite("An explanation")
struct ExplanationTests {
    /// A lane whose provider is the test; the clock begins at 12:00:00 UTC.
    private final class Bench {
        let lane: Lane
        /// 2026-11-30T12:00:00Z.
        var now: Int64 = 1_796_040_000_000
        private var body = ByteBuffer()
        private var decoder = EventDecoder(apps: [])

        init(_ change: (inout PacingSettings) -> Void = { _ in }) {
            var pacing = PacingSettings.defaults
            change(&pacing)
            var settings = LaneSettings(shard: ShardSettings(default: pacing), types: ActivityTypes())
            settings.explanationBytes = 1 << 20
            lane = Lane(settings: settings)
            lane.setStreams(10, link: lane.addLink(pool: 0))
        }

        var moment: Moment { Moment(pacing: Instant(milliseconds: now), realMilliseconds: now) }

        func apply(_ type: String, _ fields: String, activity: String = "order-1", behindBy seconds: Double = 0) throws
        {
            let time = Double(now) / 1_000 - seconds
            let text = #"{"type":"\#(type)","activityId":"\#(activity)","timestamp":\#(time)\#(fields)}"#
            let bytes = Array(text.utf8)
            try bytes.withUnsafeBytes { bytes in
                _ = lane.apply(try decoder.decode(bytes), partition: 0, offset: -1, at: moment)
            }
        }

        func begin(_ activity: String = "order-1", token: Bool = true) throws {
            let target = token ? #","token":"\#(String(repeating: "7a", count: 32))""# : ""
            try apply("activity.started", #","attributesType":"Ride"\#(target)"#, activity: activity)
        }

        func position(_ north: Double, accuracy: Double? = nil, behindBy seconds: Double = 0) throws {
            let accuracy = accuracy.map { #","accuracy":\#($0)"# } ?? ""
            try apply(
                "position", #","latitude":\#(48.137 + north / 111_194.93),"longitude":11.5755\#(accuracy)"#,
                behindBy: seconds)
        }

        func status(_ status: String, activity: String = "order-1") throws {
            try apply("status", #","status":"\#(status)""#, activity: activity)
        }

        func pass(_ seconds: Double) {
            let end = now + Int64(seconds * 1_000)
            while let due = lane.nextPacingDueMilliseconds, due <= end {
                now = max(now, due)
                lane.fire(at: moment)
                accept()
            }
            now = end
        }

        func next() -> Dispatch? { lane.next(at: moment, body: &body) }

        func accept() { while let dispatch = next() { answer(dispatch, 200) } }

        func answer(_ dispatch: Dispatch, _ status: Int, _ reason: APNsReason? = nil) {
            _ = lane.complete(
                dispatch.identifier,
                .answered(ProviderAnswer(status: status, reason: reason), providerTokenAgeSeconds: 60), at: moment)
        }

        var document: JSONObject {
            get throws {
                let bytes = ExplanationDocument.json(
                    try #require(lane.explanation(of: "order-1", at: moment)), member: "waypulse-0")
                guard
                    case .object(let object) = try JSONParser.parse(String(decoding: bytes, as: UTF8.self))
                else { throw EventFault(.notAnObject, "no object") }
                return object
            }
        }

        /// How it stands, and why.
        var situation: [String] { get throws { strings(try document["text"]) } }
        var verdict: String { get throws { try #require(try situation.first) } }

        /// What was decided, a sentence each.
        var story: [String] {
            get throws {
                guard case .array(let decisions)? = try document["decisions"] else { return [] }
                return decisions.compactMap {
                    if case .object(let decision) = $0, case .string(let text)? = decision["text"] { text } else { nil }
                }
            }
        }

        private func strings(_ value: JSONValue?) -> [String] {
            guard case .array(let values)? = value else { return [] }
            return values.compactMap { if case .string(let text) = $0 { text } else { nil } }
        }
    }

    @Test("of a card that nobody can tell anything: no token has come")
    func noTarget() throws {
        let bench = Bench()
        try bench.begin(token: false)
        bench.pass(5)
        try bench.status("near")
        bench.accept()
        #expect(
            try bench.verdict
                == "It waits to tell status: the app has not registered an update token, and no token event has brought one."
        )
        #expect(try bench.situation.contains("goes to: nobody, no update token is known"))
    }

    @Test("of a phone whose token is gone: what the provider said, and that another one is needed")
    func tokenGone() throws {
        let bench = Bench()
        try bench.begin()
        bench.pass(20)
        try bench.status("near")
        let dispatch = try #require(bench.next())
        bench.now += 84
        bench.answer(dispatch, 410, .unregistered)
        #expect(
            try bench.story.contains {
                $0.hasPrefix("sent #1: update for status, priority 10, apns-id ")
                    && $0.hasSuffix(
                        ": 410 Unregistered after 84 ms: the token is gone, and nothing leaves before the app registers another"
                    )
            })
        #expect(try bench.verdict.contains("has not registered an update token"))
        #expect(
            try bench.situation.contains { $0.hasPrefix("goes to: nobody; the provider called the update token 7a7a…") }
        )
        #expect(try bench.situation.allSatisfy { !$0.contains("7a7a7a7a") })
    }

    @Test("while APNs is sick: since when the breaker is open, why, and when the next probe leaves")
    func breaker() throws {
        let bench = Bench()
        try bench.begin()
        for number in 0..<5 {
            try bench.begin("other-\(number)")
            bench.pass(1)
            try bench.status("near", activity: "other-\(number)")
            bench.answer(try #require(bench.next()), 500, .internalServerError)
        }
        bench.pass(1)
        try bench.status("near")
        #expect(bench.next() == nil)
        #expect(
            try bench.verdict
                == "It is ready to tell status since 12:00:06: the breaker of its pool is open, and only single probes leave."
        )
        #expect(
            try bench.situation.contains {
                $0.hasPrefix(
                    "breaker: open since 12:00:05 (the provider is sick: InternalServerError); the next probe at 12:00:"
                )
            })
        #expect(
            try bench.story.contains(
                "the breaker of its pool opened, and only single probes leave: the provider is sick: InternalServerError"
            ))
    }

    @Test("of a card that moved too often: the cadence bucket is empty, and when its next token comes")
    func bucketEmpty() throws {
        let bench = Bench { $0.profile = .standard }
        try bench.begin()
        for step in 0..<6 {
            if step > 0 { bench.pass(16) }
            try bench.position(Double(step) * 100)
            bench.accept()
        }
        #expect(
            try bench.verdict
                == "It waits to tell distance: the cadence bucket has 0 tokens, and 1 is needed (pacing.profile), open at 12:02:00."
        )
        #expect(
            try bench.situation.contains(
                "cadence: 0 of 4 tokens, one each 1m, the next one at 12:02:00 (pacing.profile standard)"))
        bench.pass(45)
        try bench.position(700)
        #expect(
            try bench.verdict.hasSuffix(
                "pacing.minInterval is 15s, open at 12:02:15; the cadence bucket has 0 tokens, and 1 is needed (pacing.profile), open at 12:03:00."
            ))
    }

    @Test("of positions that cannot be: each kind with its number and its limit")
    func drops() throws {
        let bench = Bench()
        try bench.begin()
        try bench.position(0)
        bench.accept()
        bench.pass(10)
        try bench.position(5, accuracy: 450)
        bench.pass(1)
        try bench.apply("position", #","latitude":0,"longitude":0"#)
        bench.pass(1)
        try bench.position(20, behindBy: 19)
        bench.pass(1)
        try bench.position(50_000)
        let story = try bench.story
        #expect(
            story.contains(
                "1 position dropped as inaccurate: accuracy 450 m, 200 m is the limit (pacing.maxAccuracyMeters)"))
        #expect(
            story.contains(
                "1 position dropped as null_island: latitude and longitude 0, a receiver without a fix (pacing.allowNullIsland)"
            ))
        #expect(story.contains("1 position dropped as out_of_order: 7 s older than the newest one"))
        #expect(
            story.contains {
                $0.hasPrefix(
                    "1 position held aside as implausible: 3846 m/s from the last one taken, 100 m/s is the limit (pacing.maxSpeedMetersPerSecond)"
                )
            })
        #expect(
            try bench.verdict
                == "Nothing to tell yet: the newest position is implausible, and is held aside until another bears it out."
        )
        bench.pass(1)
        try bench.position(10)
        #expect(
            try bench.story.contains(
                "1 position that had been held aside dropped as implausible: no later one bore it out"))
        #expect(
            try bench.verdict
                == "Nothing to tell: the newest position is inside the deadband, and no field that counts has changed.")
    }

    @Test("of poor accuracies: which rule gave the threshold")
    func accuracies() throws {
        let bench = Bench()
        try bench.begin()
        try bench.position(0, accuracy: 60)
        bench.accept()
        bench.pass(20)
        try bench.position(100, accuracy: 65)
        #expect(
            try bench.situation.contains(
                "position: the newest one taken is of 12:00:20, 100 m from the one that the phone shows; the deadband is 125 m (the sum of both accuracies, pacing.accuracyAware)"
            ))
        #expect(
            try bench.story.last
                == "1 position inside the deadband: 100 m of 125 m from the one that the phone shows (the sum of both accuracies, pacing.accuracyAware)"
        )
        bench.pass(5)
        try bench.position(101, accuracy: 190)
        #expect(
            try bench.situation.contains {
                $0.hasSuffix("the deadband is 200 m (pacing.deadbandCeilingMeters, for poor accuracies)")
            })
    }

    @Test("of a card whose order is over: when it ended, and what came too late")
    func ended() throws {
        let bench = Bench()
        try bench.begin()
        bench.pass(10)
        try bench.apply("activity.ended", "")
        bench.accept()
        bench.pass(10)
        try bench.position(0)
        #expect(try bench.verdict == "It ended at 12:00:10: nothing is told any more.")
        #expect(
            try bench.story.last
                == "1 event dropped: the activity has ended (after_end); an activity.started with a new target begins it anew"
        )
    }

    @Test("of a state that APNs answered with 503: how long the same content waits, and that newer content may go")
    func retry() throws {
        let bench = Bench()
        try bench.begin()
        bench.pass(20)
        try bench.status("near")
        bench.answer(try #require(bench.next()), 503, .serviceUnavailable)
        #expect(
            try bench.story.contains {
                $0.contains(": 503 ServiceUnavailable after 0 ms: the same content waits 15 min")
                    || $0.contains(": 503 ServiceUnavailable after 0 ms: the same content waits 1")
            })
        #expect(try bench.verdict == "Nothing newer than what waits to be sent again (#1).")
        #expect(try bench.situation.contains { $0.hasPrefix("to be sent again at 12:1") })
    }

    @Test("while a push is under way: that its answer is awaited")
    func underWay() throws {
        let bench = Bench()
        try bench.begin()
        bench.pass(20)
        try bench.status("near")
        _ = try #require(bench.next())
        bench.pass(3)
        try bench.status("here")
        #expect(
            try bench.verdict
                == "It waits to tell status: the push before it is not answered yet, and one is under way at a time.")
        #expect(try bench.situation.contains("under way: #1, attempt 1 at 12:00:20, no answer yet"))
    }

    @Test("of a push that APNs would not take: what is wrong, and where it lies")
    func unpushable() throws {
        let bench = Bench()
        try bench.begin()
        bench.pass(20)
        try bench.apply("status", #","status":"\#(String(repeating: "x", count: 4_060))""#)
        #expect(bench.next() == nil)
        #expect(try bench.story.last?.contains("not sent, as APNs or the phone would not take it (") == true)
    }

    @Test("says who answers, and every time twice")
    func document() throws {
        let bench = Bench()
        try bench.begin()
        let document = try bench.document
        #expect(document["member"] == .string("waypulse-0"))
        #expect(document["at"] == .string("2026-11-30T12:00:00.000Z"))
        #expect(document["atUnix"] == .number(JSONNumber(1_796_040_000)))
    }

    @Test(
        "numbers are as short as they are true",
        arguments: [
            (61.24, 1, "61.2"), (75, 1, "75"), (0.04, 1, "0"), (-0.25, 2, "-0.25"), (5712.9, 0, "5713"),
            (1e18, 1, "1e+18"),
            (11.5755, 5, "11.5755"),
        ] as [(Double, Int, String)])
    func numbers(number: Double, places: Int, text: String) {
        #expect(ExplanationWords.decimal(number, places: places) == text)
    }

    @Test(
        "durations have the unit that fits",
        arguments: [
            (84, "84 ms"), (2_100, "2.1 s"), (900_000, "15 min"), (750_000, "12 min 30 s"), (11_100_000, "3 h 5 min"),
            (200_000_000, "2 days"),
        ] as [(Int64, String)])
    func durations(milliseconds: Int64, text: String) {
        #expect(ExplanationWords.duration(milliseconds) == text)
    }
}
