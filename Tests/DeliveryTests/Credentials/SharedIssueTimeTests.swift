import Synchronization
import Testing

@testable import Delivery

/// Processes that know nothing of one another, and one that starts again and again, are to APNs one sender with one provider token.
@Suite("Provider tokens whose issue time is shared")
struct SharedIssueTimeTests {
    /// A multiple of 50 minutes.
    private static let slot: Int64 = 1_795_953_000 / 3_000 * 3_000
    private static let minute: Int64 = 60_000

    private func token(_ time: TestClock) throws -> ProviderToken {
        ProviderToken(
            teamIdentifier: "T3AM1D4B9Z", keyIdentifier: "K3Y1D4AB9Z",
            key: try SigningKey(pem: TestKeys.rfc7515, name: "key"), issueTime: .shared, clock: time.clock)
    }

    @Test("Started at any minute of the fifty, each process sends the same text")
    func sameText() throws {
        let texts = try [0, 1, 17, 38, 49].map { minutes in
            try token(TestClock(unixSeconds: Self.slot + minutes * 60)).bearer().authorization
        }
        #expect(Set(texts).count == 1)
        let segments = try #require(texts.first?.dropFirst("bearer ".count).split(separator: "."))
        let claims = String(decoding: try #require(JWSVerifier.decode(segments[1])), as: UTF8.self)
        #expect(claims == #"{"iss":"T3AM1D4B9Z","iat":\#(Self.slot)}"#)
    }

    @Test("All change at the same moment, and again after fifty minutes; none is ever older than that")
    func sameChange() throws {
        let times = [0, 10, 45].map { TestClock(unixSeconds: Self.slot + $0 * 60) }
        let tokens = try times.map(token)
        let first = try tokens.map { try $0.bearer() }
        for (time, minutes) in zip(times, [49, 39, 4] as [Int64]) { time.pass(minutes: minutes) }
        #expect(try tokens.map { try $0.bearer() } == first)
        for time in times { time.pass(minutes: 1) }
        let second = try tokens.map { try $0.bearer() }
        #expect(Set(second.map(\.authorization)).count == 1)
        #expect(second[0].authorization != first[0].authorization)
        for (token, bearer) in zip(tokens, second) { #expect(token.ageSeconds(of: bearer) == 0) }
    }

    @Test("Its age is its issue's, not its process's")
    func age() throws {
        let time = TestClock(unixSeconds: Self.slot + 30 * 60)
        let token = try token(time)
        #expect(try token.ageSeconds(of: token.bearer()) == 30 * 60)
    }

    @Test(
        "A process that crashes and starts every ten seconds, for two hours: three provider tokens, fifty minutes apart"
    )
    func crashLoop() throws {
        var texts: [String] = []
        for seconds in stride(from: Int64(0), to: 7_200, by: 10) {
            let text = try token(TestClock(unixSeconds: Self.slot + seconds)).bearer().authorization
            if texts.last != text { texts.append(text) }
        }
        #expect(texts.count == 3)
    }

    @Test("The two clocks drift apart by a second: no second token of the same issue, and no signing at each push")
    func drift() throws {
        let time = TestClock(unixSeconds: Self.slot)
        let token = try token(time)
        let first = try token.bearer()
        time.pass(minutes: 50)
        time.stepWall(seconds: -1)
        let kept = try token.bearer()
        #expect(kept.authorization == first.authorization && kept.generation == first.generation)
        time.pass(milliseconds: 1_000)
        time.stepWall(seconds: 1)
        let second = try token.bearer()
        #expect(second.generation == 2 && second.issuedAtSeconds == Self.slot + 3_000)
    }

    @Test("Called expired from 20 minutes of use on, it is replaced by one of this very moment")
    func expired() throws {
        let time = TestClock(unixSeconds: Self.slot + 25 * 60)
        let token = try token(time)
        let bearer = try token.bearer()
        time.pass(minutes: 19)
        #expect(try !token.replaceExpired(bearer))
        time.pass(minutes: 1)
        #expect(try token.replaceExpired(bearer))
        #expect(try token.bearer().issuedAtSeconds == Self.slot + 45 * 60)
    }

    @Test("The wall clock steps back by half an hour: a token never grows older than an hour")
    func stepBack() throws {
        let time = TestClock(unixSeconds: Self.slot)
        let token = try token(time)
        _ = try token.bearer()
        time.stepWall(seconds: -600)
        for _ in 0..<300 {
            time.pass(minutes: 1)
            let bearer = try token.bearer()
            #expect(token.ageSeconds(of: bearer) < 3_600)
        }
    }
}
