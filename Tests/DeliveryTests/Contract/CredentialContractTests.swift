import Flow
import LiveActivities
import PushSimulator
import Telemetry
import Testing

@testable import Delivery
@testable import PushSimulator

/// Section 6, against a simulator that checks each signature.
@Suite("The provider token, as APNs takes it or refuses it")
struct CredentialContractTests {
    @Test("alg, kid, iss and an integer iat, and nothing else; a signature of 64 bytes")
    func shape() throws {
        let log = WireLog()
        let bench = try ContractBench(try log.provider())
        try bench.begin("a")
        try bench.tell("a", "one")
        let authorization = try #require(log.all.first?["authorization"])
        #expect(authorization.hasPrefix("bearer "))
        let segments = authorization.dropFirst("bearer ".count).split(separator: ".")
        #expect(segments.count == 3)
        let texts = try segments.prefix(2).map {
            String(decoding: try #require(JWSVerifier.decode($0)), as: UTF8.self)
        }
        #expect(texts[0] == #"{"alg":"ES256","kid":"S1MK3YWAYP"}"#)
        let claims = try Array(texts[1].utf8).withUnsafeBytes { try JSONParser.parse($0) }
        #expect(claims.asObject?.members.map(\.name) == ["iss", "iat"])
        let issued = try #require(claims.asObject?["iat"]?.asDouble)
        #expect(issued == issued.rounded() && issued <= Double(bench.now / 1_000))
        #expect(JWSVerifier.decode(segments[2])?.count == 64)
        #expect(segments[2].count == 86 && !segments[2].contains("="))
    }

    /// Whatever is wrong with it, the credential pauses, no token is to blame, and nothing is lost.
    private func expectPause(
        _ bench: ContractBench, _ reason: APNsReason, sourceLocation: SourceLocation = #_sourceLocation
    )
        throws
    {
        try bench.begin("a")
        let completion = try bench.tell("a", "one", sourceLocation: sourceLocation)
        #expect(completion.reason == reason, sourceLocation: sourceLocation)
        #expect(completion.fate == .held(milliseconds: 0), sourceLocation: sourceLocation)
        #expect(bench.lane.openBreakers == 1, sourceLocation: sourceLocation)
        bench.expectQuiet(sourceLocation: sourceLocation)
    }

    @Test("A key id, or a team id, that the provider does not know")
    func identifiers() throws {
        try expectPause(try ContractBench(setup: { $0.keyIdentifier = "0THERK3Y00" }), .invalidProviderToken)
        try expectPause(try ContractBench(setup: { $0.teamIdentifier = "0THERTEAM0" }), .invalidProviderToken)
    }

    @Test("A signature of another key")
    func signature() throws {
        let bench = try ContractBench()
        let other = try ProviderKeyPair()
        bench.simulator.withCore { $0.face.register(try! other.registered()) }
        try expectPause(bench, .invalidProviderToken)
    }

    @Test("A key of the other environment")
    func otherEnvironment() throws {
        let bench = try ContractBench()
        let key = try bench.simulator.providerKey.registered(environments: [.sandbox])
        bench.simulator.withCore { $0.face.register(key) }
        try expectPause(bench, .badEnvironmentKeyIdInToken)
    }

    @Test("A topic-scoped key of another app; the app is added to it, and a new connection is enough")
    func appAddedLater() throws {
        let bench = try ContractBench()
        let other = try bench.simulator.providerKey.registered(topics: ["com.example.other"])
        bench.simulator.withCore { $0.face.register(other) }
        try expectPause(bench, .topicDisallowed)
        let both = try bench.simulator.providerKey.registered(topics: ["com.example.other", "com.example.courier"])
        bench.simulator.withCore { $0.face.register(both) }
        bench.pass(seconds: 7)
        bench.run { bench.arrivals("one").count == 1 }
        #expect(bench.count(.retired) == 1)
        #expect(Set(bench.requests("one").map(\.connection)).count == 2)
    }

    @Test("A revoked key: every connection closes; once the key is good again new ones take all that waited")
    func revoked() throws {
        let bench = try ContractBench(setup: { $0.delivery.connectionsPerPool = 2 })
        bench.reports.wait { _ in bench.count(.opened) == 2 }
        try bench.begin("a")
        try bench.begin("b")
        try bench.tell("a", "before")
        bench.simulator.withCore { $0.face.revoke(keyIdentifier: "S1MK3YWAYP") }
        let completion = try bench.tell("a", "after")
        #expect(completion.reason == .invalidProviderToken)
        bench.reports.wait { _ in bench.count(.retired) == 2 }
        try bench.status("b", "after")
        bench.expectQuiet()
        let key = try bench.simulator.providerKey.registered()
        bench.simulator.withCore { $0.face.register(key) }
        bench.pass(seconds: 7)
        bench.run { bench.arrivals("after").count == 2 }
    }

    @Test("Renewed at 50 minutes, within what the provider allows on a connection that stands")
    func renewal() throws {
        let bench = try ContractBench()
        try bench.begin("a")
        for round in 0..<4 {
            #expect(try bench.tell("a", "round \(round)").fate == .accepted)
            // The provider's clock goes on as well.
            bench.time.pass(minutes: 50)
            bench.pass(seconds: 50 * 60)
            bench.simulator.change { $0.clockSkewMilliseconds += 50 * 60_000 }
        }
        #expect(try bench.providerToken.bearer().generation == 5)
        #expect(bench.count(.retired) == 0)
        #expect(Set(bench.simulator.journal.entries.map(\.connection)).count == 1)
    }

    @Test("A clock that is wrong by two hours: an alarm, no loop, and no other token", arguments: [-2, 2])
    func wrongClock(hours: Int64) throws {
        let bench = try ContractBench(simulator: { $0.faults.clockSkewMilliseconds = hours * 3_600_000 })
        try bench.begin("a")
        try bench.tell("a", "one")
        bench.run { bench.lane.openBreakers == 1 }
        #expect(bench.requests("one").count <= 2)
        #expect(bench.completions.contains { $0.alarm == (hours > 0 ? .clock : .credential) })
        bench.expectQuiet()
        #expect(try bench.providerToken.bearer().generation == 1)
    }

    @Test("A connection that has seen an expired token stays refused; its successor is not")
    func staysRefused() throws {
        let bench = try ContractBench()
        try bench.begin("a")
        try bench.tell("a", "one")
        bench.time.pass(milliseconds: 49 * 60_000)
        bench.simulator.expireProviderTokens()
        try bench.tell("a", "two")
        bench.run { bench.arrivals("two").count == 1 }
        #expect(bench.count(.retired) == 1)
        #expect(try bench.tell("a", "three").fate == .accepted)
        #expect(bench.arrivals("two").map(\.connection) == bench.arrivals("three").map(\.connection))
    }
}
