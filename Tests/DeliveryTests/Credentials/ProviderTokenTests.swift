import Synchronization
import Testing

@testable import Delivery

/// Clocks that stand until they are set.
final class TestClock: Sendable {
    private let times: Mutex<(steady: Int64, unix: Int64)>

    init(unixSeconds: Int64 = 1_795_953_600) {
        times = Mutex((1_000_000, unixSeconds))
    }

    var clock: CredentialClock {
        CredentialClock(
            steadyMilliseconds: { self.times.withLock { $0.steady } }, unixSeconds: { self.times.withLock { $0.unix } })
    }

    func pass(minutes: Int64) {
        times.withLock { times in
            times.steady += minutes * 60_000
            times.unix += minutes * 60
        }
    }

    func pass(milliseconds: Int64) {
        times.withLock { $0.steady += milliseconds }
    }

    /// Somebody sets the wall clock.
    func stepWall(seconds: Int64) {
        times.withLock { $0.unix += seconds }
    }
}

@Suite("One provider token for all, kept as long as Apple likes it")
struct ProviderTokenTests {
    private let time = TestClock()

    private func token(renewAfterMinutes: Int64 = 50) throws -> ProviderToken {
        ProviderToken(
            teamIdentifier: "T3AM1D4B9Z", keyIdentifier: "K3Y1D4AB9Z",
            key: try SigningKey(pem: TestKeys.rfc7515, name: "key"), renewAfterMilliseconds: renewAfterMinutes * 60_000,
            clock: time.clock)
    }

    @Test("Header, claims and signature of the contract's vectors; the signature verifies")
    func vectors() throws {
        let authorization = try token().bearer().authorization
        let parts = authorization.split(separator: " ", omittingEmptySubsequences: false)
        #expect(parts.count == 2 && parts[0] == "bearer")
        let segments = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        #expect(segments[0] == "eyJhbGciOiJFUzI1NiIsImtpZCI6IkszWTFENEFCOVoifQ")
        #expect(segments[1] == "eyJpc3MiOiJUM0FNMUQ0QjlaIiwiaWF0IjoxNzk1OTUzNjAwfQ")
        #expect(segments[2].count == 86)
        let (signed, signature) = try #require(JWSVerifier.segments(parts[1]))
        #expect(signature.count == 64)
        #expect(JWSVerifier.verifies(signed, signature: signature, publicKeyPEM: TestKeys.rfc7515Public))
    }

    @Test("Asked ten thousand times within its life it is one and the same; at 50 minutes it is another")
    func renewal() throws {
        let token = try token()
        let first = try token.bearer()
        for _ in 0..<10_000 { #expect(try token.bearer() == first) }
        time.pass(minutes: 50)
        time.pass(milliseconds: -1)
        #expect(try token.bearer() == first)
        time.pass(milliseconds: 1)
        let second = try token.bearer()
        #expect(second.generation == first.generation + 1)
        #expect(second.authorization != first.authorization)
    }

    @Test("Its age counts from its own minting, not from the start of the process")
    func countsFromMinting() throws {
        let token = try token()
        time.pass(minutes: 49)
        let first = try token.bearer()
        time.pass(minutes: 49)
        #expect(try token.bearer() == first)
        #expect(token.ageSeconds(of: first) == 49 * 60)
    }

    @Test(
        "Called expired: replaced from 20 minutes on, never sooner",
        arguments: [(0, false), (19, false), (20, true), (49, true)])
    func calledExpired(afterMinutes: Int64, isReplaced: Bool) throws {
        let token = try token()
        let bearer = try token.bearer()
        time.pass(minutes: afterMinutes)
        #expect(try token.replaceExpired(bearer) == isReplaced)
        #expect(try (token.bearer() != bearer) == isReplaced)
    }

    @Test("A thousand reports of one token replace it once; the next one can be called expired in its turn")
    func oncePerGeneration() throws {
        let token = try token()
        let first = try token.bearer()
        time.pass(minutes: 30)
        let replaced = try (0..<1_000).count { _ in try token.replaceExpired(first) }
        #expect(replaced == 1)
        let second = try token.bearer()
        #expect(second.generation == first.generation + 1)
        #expect(try !token.replaceExpired(second))
        time.pass(minutes: 20)
        #expect(try !token.replaceExpired(first))
        #expect(try token.replaceExpired(second))
    }

    @Test("A step of the wall clock mints nothing, and makes no token older", arguments: [-7_200, 7_200] as [Int64])
    func wallClockSteps(seconds: Int64) throws {
        let token = try token()
        let bearer = try token.bearer()
        time.pass(minutes: 1)
        time.stepWall(seconds: seconds)
        #expect(try token.bearer() == bearer)
        #expect(token.ageSeconds(of: bearer) == 60)
        #expect(try !token.replaceExpired(bearer))
    }

    @Test("The next token tells the wall clock's time of then, whatever it has done")
    func issuedAt() throws {
        let token = try token()
        _ = try token.bearer()
        time.pass(minutes: 50)
        time.stepWall(seconds: 86_400)
        let segments = try token.bearer().authorization.split(separator: ".")
        let claims = String(decoding: try #require(JWSVerifier.decode(segments[1])), as: UTF8.self)
        #expect(claims == #"{"iss":"T3AM1D4B9Z","iat":\#(1_795_953_600 + 50 * 60 + 86_400)}"#)
    }

    @Test("Many threads that find none get one between them")
    func singleFlight() async throws {
        let token = try token()
        let generations = try await withThrowingTaskGroup(of: UInt32.self) { group in
            for _ in 0..<64 { group.addTask { try token.bearer().generation } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(generations == [1])
    }

    @Test("The real steady clock does not run back")
    func realClock() {
        let first = CredentialClock.real.steadyMilliseconds()
        #expect(CredentialClock.real.steadyMilliseconds() >= first)
        #expect(CredentialClock.real.unixSeconds() > 1_700_000_000)
    }
}
