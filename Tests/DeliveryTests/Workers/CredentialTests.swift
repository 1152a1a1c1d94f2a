import Flow
import HTTP2
import PushSimulator
import Testing

@testable import Delivery

@Suite("What answers about the credential do to token and connections")
struct CredentialTests {
    private static let minute: Int64 = 60_000

    @Test(
        "Q10: an old token is called expired: one new token however many say so, and a new connection, on which it works"
    )
    func expired() throws {
        let provider = try SimulatedProvider()
        let bench = provider.bench
        bench.accept()
        bench.time.pass(milliseconds: 25 * Self.minute)
        provider.simulator.expireProviderTokens()
        bench.push(2...21)
        let endings = bench.reports.wait { $0.hasEnded(2...21) }.endings
        #expect((2...21).allSatisfy { endings[$0] == ["403 ExpiredProviderToken"] })
        bench.accept(22)
        #expect(bench.instruments.credentialRenewals.total == 1)
        #expect(try bench.providerToken.bearer().generation == 2)
        #expect(bench.count(.retired) == 1)
        #expect(provider.entries(1).first?.connection != provider.entries(22).first?.connection)
        guard
            case .answered(_, let age)? = bench.reports.now.reports.compactMap({ report -> DispatchOutcome? in
                if case .completed(2, let outcome) = report { outcome } else { nil }
            }).first
        else { return #expect(Bool(false), "push 2 was not answered") }
        #expect(age == 25 * 60)
    }

    @Test("Q12: a young token called expired is kept, on a new connection; the lane hears how young it was")
    func youngExpired() throws {
        let provider = try SimulatedProvider()
        let bench = provider.bench
        bench.accept()
        bench.time.pass(milliseconds: 19 * Self.minute)
        provider.simulator.expireProviderTokens()
        for identifier: UInt64 in 2...4 {
            #expect(bench.ending(identifier) == ["403 ExpiredProviderToken"])
            bench.reports.wait { _ in bench.count(.opened) == Int64(identifier) }
            bench.waitForStreams(1)
        }
        #expect(bench.instruments.credentialRenewals.total == 0)
        #expect(try bench.providerToken.bearer().generation == 1)
        // The first of them came on the connection that had been good so far.
        #expect(Set((1...4).compactMap { provider.entries($0).first?.connection }).count == 3)
    }

    @Test("Q11: a token that changes too soon for the provider is not changed again; another connection takes it")
    func tooManyUpdates() throws {
        let provider = try SimulatedProvider()
        let bench = provider.bench
        bench.accept()
        // Our clock runs fast: for the provider the token is seconds old.
        bench.time.pass(milliseconds: 50 * Self.minute)
        #expect(bench.ending(2) == ["429 TooManyProviderTokenUpdates"])
        bench.accept(3)
        #expect(try bench.providerToken.bearer().generation == 2)
        #expect(bench.instruments.credentialRenewals.total == 0)
        #expect(bench.count(.retired) == 1)
    }

    @Test("A connection that has seen the token before for minutes only is replaced before it sees the next one")
    func youngConnection() throws {
        let provider = try SimulatedProvider()
        let bench = provider.bench
        bench.waitForStreams(1)
        _ = try bench.providerToken.bearer()
        bench.time.pass(milliseconds: 45 * Self.minute)
        #expect(bench.ending(1) == ["200"])
        bench.time.pass(milliseconds: 5 * Self.minute)
        bench.waitForStreams(1_000)
        // What comes with the change finds no connection, and comes back unsent.
        #expect(bench.ending(2) == ["unsent"])
        bench.reports.wait { _ in bench.count(.opened) == 2 }
        bench.accept(3)
        #expect(bench.count(.retired) == 1 && bench.count(.refused) == 0)
        #expect(provider.entries(1).first?.connection != provider.entries(3).first?.connection)
    }

    @Test("Q11: refused on every connection, nothing is minted")
    func tooManyUpdatesEverywhere() throws {
        let provider = try SimulatedProvider { $0.face.tokenUpdateScope = .simulator }
        let bench = provider.bench
        bench.accept()
        bench.time.pass(milliseconds: 50 * Self.minute)
        for identifier: UInt64 in 2...5 {
            #expect(bench.ending(identifier) == ["429 TooManyProviderTokenUpdates"])
            bench.reports.wait { _ in bench.count(.opened) == Int64(identifier) }
            bench.waitForStreams(1)
        }
        #expect(try bench.providerToken.bearer().generation == 2)
    }

    @Test("A team that the key does not belong to: InvalidProviderToken, and the stream limit stays at one")
    func invalid() throws {
        let provider = try SimulatedProvider {
            _ in
        } delivery: {
            $0.teamIdentifier = "0THERTEAM0"
        }
        provider.bench.waitForStreams(1)
        #expect(provider.bench.ending(1) == ["403 InvalidProviderToken"])
        provider.bench.reports.wait { _ in provider.bench.count(.opened) == 2 }
        provider.bench.waitForStreams(1)
        #expect(
            provider.bench.reports.now.reports.allSatisfy { report in
                if case .streams(_, let count) = report { count <= 1 } else { true }
            })
    }

    @Test("Q13: a revoked key retires the connections that stood with it, each once, and not those in their place")
    func revoked() throws {
        let provider = try SimulatedProvider { _ in
        } delivery: {
            $0.delivery.connectionsPerPool = 2
        }
        let bench = provider.bench
        bench.reports.wait { _ in bench.count(.opened) == 2 }
        bench.waitForStreams(2)
        let sender = Sender(bench, 1...100)
        sender.run()
        bench.waitForStreams(2_000)
        provider.simulator.change {
            // Long enough that others stand in their place before the last answer has come.
            $0.latencyMaxMilliseconds = 500
            $0.errors = [.init(status: 403, reason: "InvalidProviderToken", share: 1)]
        }
        bench.push(101...300)
        bench.reports.wait { $0.hasEnded(101...300) }
        bench.reports.wait { _ in bench.count(.opened) == 4 }
        #expect(bench.count(.retired) == 2)
        #expect(bench.count(.failed) == 0)
    }

    @Test("A GOAWAY that names the credential is told to the lane with its reason, and is not answered by a loop")
    func goAwayNamesCredential() throws {
        let provider = try ScriptedProvider { request, _, _ in
            request.connection.goAway(
                lastStreamID: 0, debugData: Array(#"{"reason":"BadCertificateEnvironment"}"#.utf8))
            request.connection.closeGracefully()
        }
        let bench = try provider.bench {
            $0.delivery.reconnectDelayMilliseconds = 60_000
            $0.delivery.longestReconnectDelayMilliseconds = 60_000
        }
        bench.waitForStreams(1)
        #expect(bench.ending(1) == ["goaway"])
        bench.reports.wait { _ in bench.lines.contains("BadCertificateEnvironment") }
        bench.waitForStreams(0)
        #expect(provider.connectionCount == 1)
    }
}
