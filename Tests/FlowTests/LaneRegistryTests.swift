import LiveActivities
import Pacing
import Telemetry
import Testing

@testable import Flow

/// A lane between events, a registry and a provider that are the test.
private final class Bench {
    let lane: Lane
    var now: Int64 = 1_800_000_000_000
    private(set) var asked: [(identifier: UInt64, request: RegistryRequest)] = []
    private var body = ByteBuffer()
    private var decoder = EventDecoder(apps: ["courier"])

    init(_ change: (inout LaneSettings) -> Void = { _ in }) {
        var settings = LaneSettings(shard: ShardSettings(apps: ["courier"]), types: ActivityTypes())
        settings.shard.asksRegistry = true
        settings.seed = 7
        change(&settings)
        lane = Lane(settings: settings)
        lane.setStreams(10, link: lane.addLink(pool: 0))
    }

    var moment: Moment { Moment(pacing: Instant(milliseconds: now), realMilliseconds: now) }

    func apply(_ type: String, _ activity: String, _ fields: String = "") throws {
        let text =
            #"{"type":"\#(type)","activityId":"\#(activity)","timestamp":\#(Double(now) / 1_000)\#(fields.isEmpty ? "" : ",")\#(fields)}"#
        let bytes = Array(text.utf8)
        try bytes.withUnsafeBytes { bytes in
            let event = try decoder.decode(bytes)
            #expect(lane.apply(event, partition: 5, offset: -1, at: moment).isEmpty)
        }
        look()
    }

    func startForUser(_ activity: String, _ user: String = "anna") throws {
        try apply(
            "activity.started", activity,
            #""attributesType":"Ride","userId":"\#(user)","status":"new","contentState":{"status":"new"},"alert":{"title":"On its way"}"#
        )
    }

    func startByToken(_ activity: String, _ token: PushToken) throws {
        try apply(
            "activity.started", activity,
            #""attributesType":"Ride","startToken":"\#(token.hex)","contentState":{"status":"new"},"alert":{"title":"x"}"#
        )
    }

    func look() { asked += lane.takeRegistryRequests(at: moment) }

    func next() -> Dispatch? {
        defer { look() }
        return lane.next(at: moment, body: &body)
    }

    func answer(_ dispatch: Dispatch, _ status: Int, _ reason: APNsReason? = nil, goneAt: Int64? = nil) -> Completion? {
        defer { look() }
        return lane.complete(
            dispatch.identifier,
            .answered(
                ProviderAnswer(status: status, reason: reason, timestampMilliseconds: goneAt),
                providerTokenAgeSeconds: 60), at: moment)
    }

    /// The oldest request that `wanted` takes is answered.
    @discardableResult
    func reply(_ answer: RegistryAnswer, to wanted: (RegistryRequest) -> Bool = { _ in true }) -> RegistryRequest? {
        guard let place = asked.firstIndex(where: { wanted($0.request) }) else { return nil }
        let (identifier, request) = asked.remove(at: place)
        lane.answer(identifier, answer, at: moment)
        look()
        return request
    }

    func pass(milliseconds: Int64) {
        let end = now + milliseconds
        while true {
            let dues = [lane.nextPacingDueMilliseconds, lane.nextRealDueMilliseconds(after: now)].compactMap { $0 }
            guard let due = dues.min(), due <= end else { break }
            now = max(now, due)
            lane.fire(at: moment)
            look()
        }
        now = end
    }

    /// How long until another one is asked that `wanted` takes; nil for not within two minutes.
    func wait(for wanted: (RegistryRequest) -> Bool) -> Int64? {
        let begin = now
        while now < begin + 120_000 {
            if asked.contains(where: { wanted($0.request) }) { return now - begin }
            pass(milliseconds: 1)
        }
        return nil
    }
}

extension RegistryRequest {
    fileprivate var isBegin: Bool { if case .begin = self { true } else { false } }
    fileprivate var isStartToken: Bool { if case .startToken = self { true } else { false } }
    fileprivate var isTakeStart: Bool { if case .takeStart = self { true } else { false } }
    fileprivate var isForget: Bool { if case .forgetStartToken = self { true } else { false } }
    fileprivate var isEnd: Bool { if case .end = self { true } else { false } }
}

extension PushToken {
    fileprivate static func of(_ byte: UInt8) -> PushToken { PushToken(bytes: Array(repeating: byte, count: 32)) }
}

private func registered(_ token: PushToken, at milliseconds: Int64 = 1) -> RegistryAnswer {
    .startToken(RegisteredStartToken(token: token, registeredAtMilliseconds: milliseconds))
}

@Suite("What a lane asks of the registry of tokens")
struct LaneRegistryTests {
    @Test("where the events of an activity go, when it begins and when it is over")
    func places() throws {
        let bench = Bench()
        try bench.apply("status", "a", #""status":"new""#)
        try bench.apply("activity.started", "b", #""follows":"bus-7""#)
        guard case .begin(let first, let place)? = bench.reply(.begun(nil)),
            case .begin(let second, let other)? = bench.reply(.begun(nil))
        else { return #expect(Bool(false)) }
        #expect(first == Array("a".utf8))
        #expect(place == ActivityPlace(key: Array("a".utf8), partition: 5))
        #expect(second == Array("b".utf8))
        #expect(other == ActivityPlace(key: Array("bus-7".utf8), partition: 5))
        try bench.apply("activity.ended", "a")
        guard case .end(let ended, let kept)? = bench.reply(.done) else { return #expect(Bool(false)) }
        #expect(ended == Array("a".utf8))
        #expect(kept == 12 * 3_600_000)
        bench.pass(milliseconds: kept + 1)
        let isGone = { (request: RegistryRequest) in if case .end(Array("a".utf8), 0) = request { true } else { false }
        }
        #expect(bench.reply(.done, to: isGone) != nil)
    }

    @Test("an update token that was kept is taken by its time of registration")
    func kept() throws {
        let bench = Bench()
        try bench.apply("status", "a", #""status":"new""#)
        #expect(bench.next() == nil)
        bench.reply(
            .begun(KeptToken(token: .of(1), registeredAtMilliseconds: bench.now - 5, frequentUpdates: nil)))
        #expect(bench.next()?.update.target == .updateToken(.of(1)))
    }

    @Test(
        "a user's newest start token, and whether its phone allows a start: then it leaves as if the event had named it"
    )
    func userStart() throws {
        let bench = Bench()
        try bench.startForUser("a")
        #expect(bench.next() == nil)
        guard case .startToken("anna", "courier")? = bench.reply(registered(.of(9), at: 33), to: { $0.isStartToken })
        else { return #expect(Bool(false)) }
        #expect(bench.next() == nil)
        guard
            case .takeStart(let token, "courier", let mark, let budget)? = bench.reply(.startGranted, to: \.isTakeStart)
        else { return #expect(Bool(false)) }
        #expect(token == .of(9))
        #expect(mark == StartMark(activity: Array("a".utf8), life: 0))
        #expect(budget == StartBudget(starts: 10, windowMilliseconds: 3_600_000))
        let dispatch = try #require(bench.next())
        #expect(dispatch.update.kind == .start)
        #expect(dispatch.update.target == .startToken(.of(9)))
        #expect(dispatch.update.targetRegisteredAtMilliseconds == 33)
        #expect(bench.answer(dispatch, 200)?.fate == .accepted)
        #expect(bench.next() == nil)
    }

    @Test("none yet, or out of reach: asked again with growing delays, never above a minute", arguments: [false, true])
    func askedAgain(fails: Bool) throws {
        let bench = Bench()
        try bench.startForUser("a")
        bench.reply(.begun(nil), to: \.isBegin)
        var delays: [Int64] = []
        for _ in 0..<9 {
            bench.reply(fails ? .failed(.unavailable) : .startToken(nil), to: \.isStartToken)
            delays.append(try #require(bench.wait(for: \.isStartToken)))
        }
        for (delay, longest) in zip(delays, [1, 2, 4, 8, 16, 32, 60, 60, 60] as [Int64]) {
            #expect(max(1_000, longest * 750) - 1...longest * 1_000 + 1 ~= delay, "\(delays)")
        }
        #expect(Set(delays.suffix(3)).count > 1)
        #expect(bench.lane.registryFailures == (fails ? 9 : 0))
        bench.reply(registered(.of(9)))
        #expect(bench.next() == nil)
        bench.reply(.startGranted)
        #expect(bench.next()?.update.kind == .start)
    }

    @Test("nothing more once the activity has an update token, or has ended", arguments: ["token", "activity.ended"])
    func superfluous(type: String) throws {
        let bench = Bench()
        try bench.startForUser("a")
        bench.reply(.begun(nil), to: \.isBegin)
        bench.reply(.startToken(nil), to: \.isStartToken)
        try bench.apply(type, "a", type == "token" ? #""token":"\#(PushToken.of(1).hex)""# : "")
        bench.reply(.done, to: \.isEnd)
        #expect(bench.wait(for: \.isStartToken) == nil)
        #expect(bench.lane.openRegistryRequests == 0)
    }

    @Test("a start that the phone would drop waits, with the newest state; others are not held up")
    func deferred() throws {
        let bench = Bench()
        try bench.startByToken("a", .of(9))
        #expect(bench.next() == nil)
        let until = bench.now + 600_000
        bench.reply(.startDeferred(untilMilliseconds: until), to: \.isTakeStart)
        #expect(bench.lane.deferredStarts == 1)
        #expect(
            bench.lane.takeStartDeferrals() == [
                StartDeferral(activity: Array("a".utf8), partition: 5, untilMilliseconds: until)
            ])
        #expect(bench.lane.takeStartDeferrals().isEmpty)
        try bench.startByToken("b", .of(8))
        #expect(bench.next() == nil)
        bench.reply(.startGranted, to: \.isTakeStart)
        #expect(bench.next()?.update.activityIdentifier == "b")
        try bench.apply("status", "a", #""status":"near""#)
        bench.pass(milliseconds: 599_999)
        #expect(bench.next() == nil)
        #expect(bench.reply(.startGranted, to: \.isTakeStart) == nil)
        bench.pass(milliseconds: 1)
        #expect(bench.next() == nil)
        guard
            case .takeStart(_, _, StartMark(activity: Array("a".utf8), life: 0), _)? =
                bench.reply(.startGranted, to: \.isTakeStart)
        else { return #expect(Bool(false)) }
        let dispatch = try #require(bench.next())
        #expect(dispatch.update.kind == .start)
        #expect(dispatch.update.contentState[FieldPath("status")] == .string("near"))
        #expect(bench.lane.deferredStarts == 0)
    }

    @Test("a user's start that was put off asks for the newest token anew")
    func deferredUser() throws {
        let bench = Bench()
        try bench.startForUser("a")
        bench.reply(registered(.of(9)), to: \.isStartToken)
        #expect(bench.next() == nil)
        bench.reply(.startDeferred(untilMilliseconds: bench.now + 1_000), to: \.isTakeStart)
        bench.pass(milliseconds: 1_000)
        #expect(bench.next() == nil)
        bench.reply(registered(.of(8)), to: \.isStartToken)
        #expect(bench.next() == nil)
        bench.reply(.startGranted, to: \.isTakeStart)
        #expect(bench.next()?.update.target == .startToken(.of(8)))
    }

    @Test("a start is never sent uncounted: out of reach, it is asked for again")
    func uncounted() throws {
        let bench = Bench()
        try bench.startByToken("a", .of(9))
        #expect(bench.next() == nil)
        for _ in 0..<3 {
            bench.reply(.failed(.unavailable), to: \.isTakeStart)
            #expect(bench.next() == nil)
            #expect(!bench.lane.isIdle)
            #expect(bench.wait(for: \.isTakeStart) != nil)
        }
        bench.reply(.startGranted, to: \.isTakeStart)
        #expect(bench.next()?.update.kind == .start)
        #expect(bench.next() == nil)
    }

    @Test("an end that nobody heard is told again, but not once another life has begun")
    func unheardEnd() throws {
        for beginsAnew in [false, true] {
            let bench = Bench()
            try bench.startByToken("a", .of(9))
            try bench.apply("activity.ended", "a")
            bench.reply(.failed(.unavailable), to: \.isEnd)
            if beginsAnew { try bench.startByToken("a", .of(8)) }
            #expect((bench.wait(for: \.isEnd) == nil) == beginsAnew)
        }
    }

    @Test("a start that is tried again was counted, and is not asked for twice")
    func retried() throws {
        let bench = Bench()
        try bench.startByToken("a", .of(9))
        #expect(bench.next() == nil)
        bench.reply(.startGranted, to: \.isTakeStart)
        let dispatch = try #require(bench.next())
        _ = bench.lane.complete(dispatch.identifier, .signalled(.notProcessed), at: bench.moment)
        #expect(bench.next()?.update.attempt == 2)
        #expect(!bench.asked.contains { $0.request.isTakeStart })
    }

    @Test(
        "410 of a start token: it is forgotten by the time of the answer, the user is asked for again, the same never serves again"
    )
    func gone() throws {
        let bench = Bench()
        try bench.startForUser("a")
        bench.reply(registered(.of(9), at: 10), to: \.isStartToken)
        #expect(bench.next() == nil)
        bench.reply(.startGranted, to: \.isTakeStart)
        let dispatch = try #require(bench.next())
        #expect(bench.answer(dispatch, 410, .unregistered, goneAt: 777)?.fate == .targetGone)
        guard case .forgetStartToken("anna", "courier", let token, 777)? = bench.reply(.done, to: \.isForget)
        else { return #expect(Bool(false)) }
        #expect(token == .of(9))
        bench.reply(registered(.of(9), at: 10), to: \.isStartToken)
        #expect(bench.next() == nil)
        #expect(bench.wait(for: \.isStartToken) != nil)
        bench.reply(registered(.of(8), at: 900), to: \.isStartToken)
        #expect(bench.next() == nil)
        guard case .takeStart(let newer, _, _, _)? = bench.reply(.startGranted, to: \.isTakeStart)
        else { return #expect(Bool(false)) }
        #expect(newer == .of(8))
        #expect(bench.next()?.update.target == .startToken(.of(8)))
    }

    @Test("a 410 that is older than what the app has reported since says nothing of an update token")
    func reportedMeanwhile() throws {
        let bench = Bench()
        try bench.apply("activity.started", "a", #""attributesType":"Ride","token":"\#(PushToken.of(1).hex)""#)
        try bench.apply("status", "a", #""status":"near""#)
        let dispatch = try #require(bench.next())
        bench.now += 1_000
        try bench.apply("token", "a", #""token":"\#(PushToken.of(1).hex)""#)
        let completion = bench.answer(dispatch, 410, .unregistered, goneAt: bench.now - 500)
        #expect(completion?.fate != .targetGone)
    }

    @Test("a renewal is another start, through the token that the user has by then")
    func renewal() throws {
        let bench = Bench { $0.shard.default.renew = true }
        try bench.startForUser("a")
        bench.reply(registered(.of(9)), to: \.isStartToken)
        #expect(bench.next() == nil)
        bench.reply(.startGranted, to: \.isTakeStart)
        #expect(bench.answer(try #require(bench.next()), 200)?.fate == .accepted)
        try bench.apply("token", "a", #""token":"\#(PushToken.of(1).hex)""#)
        bench.pass(milliseconds: 8 * 3_600_000)
        while let dispatch = bench.next() { _ = bench.answer(dispatch, 200) }
        bench.reply(registered(.of(7)), to: \.isStartToken)
        #expect(bench.next() == nil)
        guard case .takeStart(let token, _, let mark, _)? = bench.reply(.startGranted, to: \.isTakeStart)
        else { return #expect(Bool(false)) }
        #expect(token == .of(7))
        #expect(mark.life == 1)
        #expect(bench.next()?.update.target == .startToken(.of(7)))
    }

    @Test("answers for a partition that has gone change nothing, and nothing of it is asked again")
    func dropped() throws {
        let bench = Bench()
        try bench.startForUser("a")
        bench.lane.drop(5)
        bench.reply(.failed(.unavailable), to: \.isBegin)
        bench.reply(registered(.of(9)), to: \.isStartToken)
        #expect(bench.wait(for: { _ in true }) == nil)
        #expect(bench.lane.openRegistryRequests == 0)
    }

    @Test("without a registry nobody is asked, and a start needs no leave")
    func withoutRegistry() throws {
        let bench = Bench { $0.shard.asksRegistry = false }
        try bench.startForUser("a")
        try bench.startByToken("b", .of(9))
        #expect(bench.next()?.update.activityIdentifier == "b")
        #expect(bench.next() == nil)
        #expect(bench.asked.isEmpty)
    }
}
