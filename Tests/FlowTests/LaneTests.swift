import LiveActivities
import Pacing
import Telemetry
import Testing

@testable import Flow

/// A lane with one link, fed with JSON events, whose provider is the test.
private final class Bench {
    let lane: Lane
    let link: Int
    var now: Int64 = 1_800_000_000_000
    private var body = ByteBuffer()
    private var decoder = EventDecoder(apps: [])

    init(streams: Int = 10, _ change: (inout LaneSettings) -> Void = { _ in }) {
        var settings = LaneSettings(shard: ShardSettings(), types: ActivityTypes())
        change(&settings)
        lane = Lane(settings: settings)
        link = lane.addLink(pool: 0)
        lane.setStreams(streams, link: link)
    }

    var moment: Moment { Moment(pacing: Instant(milliseconds: now), realMilliseconds: now) }

    func apply(_ type: String, _ activity: String, _ fields: String = "") throws {
        let text =
            #"{"type":"\#(type)","activityId":"\#(activity)","timestamp":\#(Double(now) / 1_000)\#(fields.isEmpty ? "" : ",")\#(fields)}"#
        let bytes = Array(text.utf8)
        try bytes.withUnsafeBytes { bytes in
            let event = try decoder.decode(bytes)
            #expect(lane.apply(event, partition: 0, offset: -1, at: moment).isEmpty)
        }
    }

    /// Begun on the phone, with a token of its own.
    func begin(_ activity: String) throws {
        let token = String(repeating: String(activity.utf8.reduce(0) { $0 &+ UInt64($1) } % 10), count: 64)
        try apply("activity.started", activity, #""attributesType":"Ride","token":"\#(token)""#)
    }

    func status(_ activity: String, _ status: String) throws {
        try apply("status", activity, #""status":"\#(status)""#)
    }

    func position(_ activity: String, latitude: Double) throws {
        try apply("position", activity, #""latitude":\#(latitude),"longitude":11.5"#)
    }

    func next() -> Dispatch? { lane.next(at: moment, body: &body) }

    @discardableResult
    func answer(_ dispatch: Dispatch, _ status: Int, _ reason: APNsReason? = nil, timestampMilliseconds: Int64? = nil)
        -> Completion?
    {
        lane.complete(
            dispatch.identifier,
            .answered(
                ProviderAnswer(status: status, reason: reason, timestampMilliseconds: timestampMilliseconds),
                providerTokenAgeSeconds: 60), at: moment)
    }

    /// The clocks go on; what is due in between fires.
    func pass(seconds: Int64) {
        let end = now + seconds * 1_000
        while let due = lane.nextPacingDueMilliseconds, due <= end {
            now = max(now, due)
            lane.fire(at: moment)
        }
        now = end
    }
}

@Suite("A lane")
struct LaneTests {
    @Test("Nothing leaves without a free stream, and what leaves then is the newest truth")
    func lateBinding() throws {
        let bench = Bench(streams: 0)
        try bench.begin("a")
        try bench.status("a", "cooking")
        #expect(bench.next() == nil)
        try bench.status("a", "on its way")
        bench.lane.setStreams(1, link: bench.link)
        let dispatch = try #require(bench.next())
        #expect(dispatch.update.contentState[FieldPath("status")] == .string("on its way"))
        #expect(dispatch.update.sequence == 1)
        #expect(bench.next() == nil)
    }

    @Test("Urgent before routine, and inside a class the longest waiting first")
    func order() throws {
        let bench = Bench(streams: 0)
        for activity in ["a", "b", "c"] { try bench.begin(activity) }
        try bench.position("a", latitude: 48)
        bench.now += 10
        try bench.status("b", "near")
        bench.now += 10
        try bench.status("c", "near")
        bench.lane.setStreams(3, link: bench.link)
        let order = [bench.next(), bench.next(), bench.next()].map { $0?.update.activityIdentifier }
        #expect(order == ["b", "c", "a"])
    }

    @Test("There is news where something may leave, and none where the phone knows all that counts")
    func news() throws {
        let bench = Bench()
        try bench.begin("a")
        try bench.position("a", latitude: 48)
        #expect(bench.lane.hasNews)
        let first = try #require(bench.next())
        bench.answer(first, 200)
        #expect(bench.next() == nil)
        #expect(!bench.lane.hasNews)
        bench.now += 60_000
        try bench.position("a", latitude: 48.000_1)
        #expect(!bench.lane.hasNews)
        try bench.status("a", "near")
        #expect(bench.lane.hasNews)
        bench.lane.setStreams(0, link: bench.link)
        #expect(bench.next() == nil)
        #expect(!bench.lane.hasNews)
        // A stream is free: that is news to what was ready.
        bench.lane.setStreams(1, link: bench.link)
        #expect(bench.lane.hasNews)
        let second = try #require(bench.next())
        #expect(bench.next() == nil)
        bench.answer(second, 200)
        #expect(bench.lane.hasNews)
    }

    @Test("One in flight per activity; the end waits for the answer, then goes")
    func oneInFlight() throws {
        let bench = Bench()
        try bench.begin("a")
        try bench.status("a", "near")
        let first = try #require(bench.next())
        try bench.apply("activity.ended", "a", #""contentState":{"status":"done"}"#)
        #expect(bench.next() == nil)
        bench.answer(first, 200)
        let end = try #require(bench.next())
        #expect(end.update.kind == .end)
        bench.answer(end, 200)
        bench.lane.finish(at: bench.moment)
        #expect(bench.lane.isIdle)
    }

    @Test("Unsent is as if it had never been taken, but for its number")
    func unsent() throws {
        let bench = Bench()
        try bench.begin("a")
        try bench.status("a", "near")
        let first = try #require(bench.next())
        let completion = bench.lane.complete(first.identifier, .unsent, at: bench.moment)
        #expect(completion?.fate == .unsent)
        let again = try #require(bench.next())
        #expect(again.update.contentState[FieldPath("status")] == .string("near"))
        #expect(again.update.sequence > first.update.sequence)
    }

    @Test("A 5xx holds the same content for its time; newer content does not wait")
    func serverError() throws {
        let bench = Bench()
        try bench.begin("a")
        try bench.status("a", "near")
        let first = try #require(bench.next())
        bench.answer(first, 503, .serviceUnavailable)
        bench.pass(seconds: 60)
        #expect(bench.next() == nil)
        try bench.status("a", "arrived")
        let newer = try #require(bench.next())
        #expect(newer.update.sequence == first.update.sequence + 1)
        bench.answer(newer, 200)
        bench.pass(seconds: 3_600)
        #expect(bench.next() == nil)
    }

    @Test("Without newer content the same comes again, with its number and its id")
    func heldRetry() throws {
        let bench = Bench { $0.shard.default.refresh = false }
        try bench.begin("a")
        try bench.status("a", "near")
        let first = try #require(bench.next())
        bench.answer(first, 500, .internalServerError)
        bench.pass(seconds: 14 * 60)
        #expect(bench.next() == nil)
        bench.pass(seconds: 4 * 60)
        let again = try #require(bench.next())
        #expect(again.update.sequence == first.update.sequence)
        #expect(again.update.apnsIdentifier == first.update.apnsIdentifier)
        #expect(again.update.contentState == first.update.contentState)
        #expect(again.update.timestampSeconds > first.update.timestampSeconds)
    }

    @Test("429 slows this target alone, and newer content waits as well")
    func throttled() throws {
        let bench = Bench()
        try bench.begin("a")
        try bench.begin("b")
        try bench.status("a", "near")
        bench.answer(try #require(bench.next()), 429, .tooManyRequests)
        try bench.status("a", "arrived")
        try bench.status("b", "near")
        let other = try #require(bench.next())
        #expect(other.update.activityIdentifier == "b")
        bench.answer(other, 200)
        bench.pass(seconds: 10)
        #expect(bench.next() == nil)
        bench.pass(seconds: 60)
        let released = try #require(bench.next())
        #expect(released.update.contentState[FieldPath("status")] == .string("arrived"))
    }

    @Test("REFUSED_STREAM is no attempt: the same goes at once")
    func refusedStream() throws {
        let bench = Bench()
        try bench.begin("a")
        try bench.status("a", "near")
        let first = try #require(bench.next())
        let completion = bench.lane.complete(first.identifier, .signalled(.refusedStream), at: bench.moment)
        #expect(completion?.fate == .sendAgain)
        let again = try #require(bench.next())
        #expect(again.update.sequence == first.update.sequence)
    }

    @Test("A 410 that is older than the registration does not kill the token; a younger one does")
    func gone() throws {
        let bench = Bench()
        try bench.begin("a")
        try bench.status("a", "near")
        let first = try #require(bench.next())
        let kept = bench.answer(first, 410, .unregistered, timestampMilliseconds: bench.now - 60_000)
        #expect(kept?.fate != .targetGone)
        try bench.status("a", "arrived")
        let second = try #require(bench.next())
        let gone = bench.answer(second, 410, .unregistered, timestampMilliseconds: bench.now + 1)
        #expect(gone?.fate == .targetGone)
        try bench.status("a", "left")
        #expect(bench.next() == nil)
        try bench.apply("token", "a", #""token":"\#(String(repeating: "f", count: 64))""#)
        let told = try #require(bench.next())
        #expect(told.update.contentState[FieldPath("status")] == .string("left"))
    }

    @Test("A sick credential stops the pool; single probes follow, and one good answer opens it")
    func credential() throws {
        let bench = Bench()
        for activity in ["a", "b"] {
            try bench.begin(activity)
            try bench.status(activity, "near")
        }
        let first = try #require(bench.next())
        let completion = bench.answer(first, 403, .invalidProviderToken)
        #expect(completion?.alarm == .credential)
        #expect(completion?.breaker == .opened(.credential))
        #expect(bench.lane.isEveryPoolRefused)
        #expect(bench.next() == nil)
        #expect(bench.lane.nextRealDueMilliseconds(after: bench.moment.realMilliseconds) != nil)
        bench.pass(seconds: 10)
        // Due: from here on it is not time that is waited for.
        #expect(bench.lane.nextRealDueMilliseconds(after: bench.moment.realMilliseconds) == nil)
        let probe = try #require(bench.next())
        #expect(bench.next() == nil)
        #expect(bench.answer(probe, 200)?.breaker == .closed)
        #expect(bench.next() != nil)
    }

    @Test("An answer that comes twice, or for nothing, changes nothing")
    func twice() throws {
        let bench = Bench()
        try bench.begin("a")
        try bench.status("a", "near")
        let dispatch = try #require(bench.next())
        #expect(bench.answer(dispatch, 200)?.fate == .accepted)
        #expect(bench.answer(dispatch, 400, .badTopic) == nil)
        #expect(bench.lane.complete(4_711, .unsent, at: bench.moment) == nil)
    }

    @Test("While draining what is urgent still leaves, and what is routine stays")
    func draining() throws {
        let bench = Bench()
        try bench.begin("a")
        try bench.begin("b")
        bench.lane.isDraining = true
        try bench.position("a", latitude: 48)
        try bench.status("b", "near")
        #expect(bench.next()?.update.activityIdentifier == "b")
        #expect(bench.next() == nil)
        #expect(bench.lane.hasReady(onlyUrgent: true) == false)
    }

    @Test("A payload that no phone would take is refused by name, and disturbs nothing else")
    func unpushable() throws {
        let bench = Bench()
        try bench.begin("a")
        try bench.begin("b")
        try bench.apply("status", "a", #""contentState":{"note":"\#(String(repeating: "x", count: 4_050))"}"#)
        try bench.status("b", "near")
        #expect(bench.next()?.update.activityIdentifier == "b")
        #expect(bench.next() == nil)
        #expect(bench.lane.takeUnpushable().map(\.name) == ["payload_too_large"])
        #expect(bench.lane.takeUnpushable().isEmpty)
    }
}
