import HTTP2
import Telemetry
import Testing

@testable import PushSimulator

@Suite("The simulator misbehaves on demand, while it runs")
struct FaultTests {
    @Test("Q7: the stream limit falls to one and comes back")
    func streamLimit() throws {
        let bench = try SimulatorBench()
        let client = try bench.acceptedClient()
        bench.simulator.change { $0.streamLimit = 1 }
        bench.drive { client.connection.peerStreamLimit == 1 }
        bench.simulator.change { $0.streamLimit = 1_000 }
        bench.drive { client.connection.peerStreamLimit == 1_000 }
    }

    @Test("Q8: a refused stream was not processed, and the phone knows nothing of it")
    func refusedStream() throws {
        let bench = try SimulatorBench()
        let client = try bench.acceptedClient()
        bench.simulator.change { $0.refusedStreamShare = 1 }
        client.send(1)
        bench.drive { client.endings[1] != nil }
        bench.simulator.change { $0.refusedStreamShare = 0 }
        client.send(1)
        bench.drive { client.endings[1] == .answered(200, "") }
        let entries = bench.simulator.journal.entries.dropFirst()
        #expect(entries.map(\.fate) == [.unprocessed, .answered])
        #expect(entries.map(\.verdict) == [nil, .applied])
    }

    @Test("Q9: 503 for all, and then no more")
    func errors() throws {
        let bench = try SimulatorBench()
        let client = try bench.acceptedClient()
        bench.simulator.change { $0.errors = [.init(status: 503, reason: "ServiceUnavailable", share: 1)] }
        client.send(1)
        bench.drive { client.endings[1] != nil }
        #expect(client.endings[1] == .answered(503, "ServiceUnavailable"))
        bench.simulator.change { $0.errors = [] }
        client.send(2)
        bench.drive { client.endings[2] != nil }
        #expect(client.endings[2] == .answered(200, ""))
        #expect(bench.simulator.journal.entries.map(\.isInjected) == [false, true, false])
    }

    @Test("K6: a drain answers what is open and then closes")
    func drain() throws {
        let bench = try SimulatorBench()
        let client = try bench.acceptedClient()
        bench.simulator.change { $0.latencyMinMilliseconds = 200 }
        for tag in 1...3 { client.send(UInt64(tag)) }
        bench.drive { bench.simulator.journal.entries.count + bench.held == 4 }
        bench.simulator.drain()
        bench.drive { client.isClosed }
        #expect(client.goAways.last == #"{"reason":"Shutdown"}"#)
        #expect((1...3).allSatisfy { client.endings[$0] == .answered(200, "") })
    }

    @Test(
        "Q1–Q3: GOAWAY below the highest stream: the newest were not processed, the abandoned ones stay unknown",
        arguments: [false, true])
    func lowerDrain(isTwice: Bool) throws {
        let bench = try SimulatorBench()
        let client = try bench.acceptedClient()
        bench.simulator.change { $0.latencyMinMilliseconds = 3_600_000 }
        for tag in 1...5 { client.send(UInt64(tag)) }
        bench.drive { bench.held == 5 }
        bench.simulator.drain(Drain(unprocessedStreams: 2, isTwice: isTwice, abandonsOpenStreams: true))
        bench.drive { client.isClosed }
        #expect((1...3).allSatisfy { client.endings[$0] == .unknown })
        #expect((4...5).allSatisfy { client.endings[$0] == .notProcessed(.goAway) })
        #expect(client.goAways.count == (isTwice ? 2 : 1))
        #expect(bench.simulator.journal.entries.count { $0.fate == .unprocessed } == 2)
    }

    @Test("A stream that was processed is never told to be unprocessed")
    func honestDrain() throws {
        let bench = try SimulatorBench()
        let client = try bench.acceptedClient()
        bench.simulator.drain(Drain(unprocessedStreams: 5))
        bench.drive { client.isClosed }
        #expect(client.endings[0] == .answered(200, ""))
        #expect(bench.simulator.journal.entries.allSatisfy { $0.fate == .answered })
    }

    @Test(
        "Q4: a reset before, amid and after the headers leaves the outcome unknown",
        arguments: ["before", "amid", "after"])
    func resets(when: String) throws {
        let bench = try SimulatorBench()
        let client = try bench.acceptedClient()
        bench.simulator.change { faults in
            switch when {
            case "before": faults.resetBeforeShare = 1
            case "amid": faults.resetAmidShare = 1
            default: faults.resetAfterShare = 1
            }
        }
        client.send(1)
        bench.drive { client.isClosed }
        #expect(client.endings[1] == .unknown)
        #expect(bench.simulator.journal.entries.last?.fate == .lost)
    }

    @Test("A command resets all connections; answers on their way count as lost")
    func resetConnections() throws {
        let bench = try SimulatorBench()
        let client = try bench.acceptedClient()
        bench.simulator.resetConnections()
        bench.drive { client.isClosed }
        bench.drive { bench.simulator.shared.connectionCount.load(ordering: .relaxed) == 0 }
    }

    @Test("Q5: a black hole answers nothing; once it is gone a new connection works")
    func blackHole() throws {
        let bench = try SimulatorBench()
        let client = try bench.acceptedClient()
        bench.simulator.change { $0.isBlackHole = true }
        bench.drive { bench.simulator.shared.hasObeyed }
        client.send(1, within: 50)
        bench.drive { client.endings[1] != nil }
        #expect(client.endings[1] == .unknown)
        bench.simulator.change { $0.isBlackHole = false }
        _ = try bench.acceptedClient()
    }

    @Test("Q10: provider tokens expire on command; a new one helps on a new connection alone")
    func expiredProviderTokens() throws {
        let bench = try SimulatorBench()
        let client = try bench.acceptedClient()
        bench.simulator.expireProviderTokens()
        client.send(1)
        bench.drive { client.endings[1] != nil }
        #expect(client.endings[1] == .answered(403, "ExpiredProviderToken"))
        let fresh = bench.simulator.providerKey.providerToken(
            issuedAtSeconds: SimulatorClock.realMilliseconds() / 1_000)
        client.send(2, jwt: fresh)
        bench.drive { client.endings[2] != nil }
        #expect(client.endings[2] == .answered(403, "ExpiredProviderToken"))
        _ = try bench.acceptedClient()
    }

    @Test("Q12: a clock two hours ahead calls a young token expired")
    func clockSkew() throws {
        let bench = try SimulatorBench { $0.faults.clockSkewMilliseconds = 7_200_000 }
        let client = try bench.client()
        bench.drive { client.isReady }
        client.send(0)
        bench.drive { client.endings[0] != nil }
        #expect(client.endings[0] == .answered(403, "ExpiredProviderToken"))
    }

    @Test("Q25: a tiny window that never opens lets no body through")
    func tinyWindow() throws {
        let bench = try SimulatorBench {
            $0.faults.streamWindowBytes = 16
            $0.faults.withholdsWindowUpdates = true
        }
        let client = try bench.client()
        bench.drive { client.isReady }
        client.send(0, within: 100)
        bench.drive { client.endings[0] != nil }
        #expect(client.endings[0] == .unknown)
        #expect(bench.simulator.journal.entries.isEmpty)
    }

    @Test("Q26: without an HPACK table it keeps working")
    func noHeaderTable() throws {
        let bench = try SimulatorBench { $0.faults.headerTableBytes = 0 }
        let client = try bench.acceptedClient()
        client.send(1)
        bench.drive { client.endings[1] == .answered(200, "") }
    }

    @Test("Q13: a revoked key is refused on every connection, and taken again once it is not")
    func keyRevoked() throws {
        let bench = try SimulatorBench()
        let client = try bench.acceptedClient()
        bench.simulator.change { $0.isKeyRevoked = true }
        client.send(1)
        bench.drive { client.endings[1] == .answered(403, "InvalidProviderToken") }
        bench.simulator.change { $0.isKeyRevoked = false }
        client.send(2)
        bench.drive { client.endings[2] == .answered(200, "") }
    }

    @Test("Q11: TooManyProviderTokenUpdates on connections that stand, then on all, then on none")
    func refusedTokenUpdates() throws {
        let bench = try SimulatorBench()
        let standing = try bench.acceptedClient()
        let refusal = SimulatorClient.Ending.answered(429, "TooManyProviderTokenUpdates")
        bench.simulator.change { $0.refusedTokenUpdates = .standing }
        bench.drive { bench.simulator.shared.hasObeyed }
        let fresh = try bench.acceptedClient()
        standing.send(1)
        bench.drive { standing.endings[1] == refusal }
        bench.simulator.change { $0.refusedTokenUpdates = .all }
        fresh.send(1)
        bench.drive { fresh.endings[1] == refusal }
        bench.simulator.change { $0.refusedTokenUpdates = .none }
        bench.drive { bench.simulator.shared.hasObeyed }
        standing.send(2)
        fresh.send(2)
        bench.drive { standing.endings[2] == .answered(200, "") && fresh.endings[2] == .answered(200, "") }
    }

    @Test("Q28: another name in the certificate, or no h2, for new connections while it runs")
    func handshakes() throws {
        let bench = try SimulatorBench()
        let standing = try bench.acceptedClient()
        for fault in [\FaultSettings.hasWrongName, \.isWithoutHTTP2] {
            bench.simulator.change { $0[keyPath: fault] = true }
            bench.drive { bench.simulator.shared.hasObeyed }
            let refused = try bench.client()
            bench.drive { refused.isClosed }
            #expect(!refused.isReady)
            bench.simulator.change { $0[keyPath: fault] = false }
            bench.drive { bench.simulator.shared.hasObeyed }
            _ = try bench.acceptedClient()
        }
        standing.send(1)
        bench.drive { standing.endings[1] == .answered(200, "") }
    }

    @Test("Q14, Q21, Q27: an error for one token alone, with a time, with a body of its own, without apns-id")
    func oneToken() throws {
        let bench = try SimulatorBench()
        let client = try bench.acceptedClient()
        let other = String(repeating: "cd", count: 80)
        bench.simulator.change { faults in
            var gone = InjectedError(status: 410, reason: "Unregistered", share: 1)
            gone.token = other.uppercased()
            gone.ageMilliseconds = 5_000
            faults.errors = [gone]
        }
        client.send(1)
        client.send(2, token: other)
        bench.drive { client.endings[1] != nil && client.endings[2] != nil }
        #expect(client.endings[1] == .answered(200, ""))
        #expect(client.endings[2] == .answered(410, "Unregistered"))
        let body = try #require(client.bodies[2].flatMap { JSONDocument.parse($0)?.asObject })
        let entry = try #require(bench.simulator.journal.entries.last { $0.status == 410 })
        #expect(abs((body.integer("timestamp") ?? 0) - (entry.atMilliseconds - 5_000)) < 5_000)
        bench.simulator.change { faults in
            var odd = InjectedError(status: 503, reason: "", share: 1)
            odd.body = "<html>"
            odd.omitsIdentifier = true
            faults.errors = [odd]
        }
        client.send(3)
        bench.drive { client.endings[3] == .answered(503, "") }
        #expect(client.bodies[3] == Array("<html>".utf8))
        #expect(!client.hasIdentifier.contains(3) && client.hasIdentifier.contains(1))
    }

    @Test("K4: errors that were ordered count as errors: the limit falls to one, then comes GOAWAY; 410 does not count")
    func injectedErrorsCount() throws {
        let bench = try SimulatorBench { $0.face.maxErrorsInARow = 2 }
        let client = try bench.acceptedClient()
        func send(_ tags: ClosedRange<UInt64>) {
            for tag in tags {
                client.send(tag)
                bench.drive { client.endings[tag] != nil }
            }
        }
        bench.simulator.change { $0.errors = [.init(status: 410, reason: "Unregistered", share: 1)] }
        send(1...10)
        #expect(client.connection.peerStreamLimit == 1_000)
        bench.simulator.change { $0.errors = [.init(status: 400, reason: "BadDeviceToken", share: 1)] }
        send(11...13)
        bench.drive { client.connection.peerStreamLimit == 1 }
        send(14...15)
        bench.drive { client.isClosed }
        #expect(client.goAways == [#"{"reason":"BadDeviceToken"}"#])
    }

    @Test("Q19: a token that is replaced as the request arrives is expired, and its app hears of another")
    func rotation() throws {
        let bench = try SimulatorBench { $0.phones.updateTokenDelayMilliseconds = 0 }
        let client = try bench.acceptedClient()
        bench.simulator.change { $0.tokenRotationShare = 1 }
        client.send(1)
        bench.drive { client.endings[1] == .answered(410, "ExpiredToken") }
        bench.drive { bench.simulator.tokenReports.count == 1 }
        bench.simulator.change { $0.tokenRotationShare = 0 }
        let report = bench.simulator.tokenReports[0]
        #expect(report.replacedToken == SimulatorClient.token)
        client.send(2, token: report.token)
        bench.drive { client.endings[2] == .answered(200, "") }
    }

    @Test(
        "Q22: a push that is overtaken gets its verdict after the one that overtook it; without one, when the simulator ends at the latest"
    )
    func reordered() throws {
        let bench = try SimulatorBench()
        let client = try bench.acceptedClient()
        bench.simulator.change { $0.reorderedShare = 1 }
        client.send(1)
        bench.drive { client.endings[1] == .answered(200, "") }
        #expect(bench.simulator.journal.entries[1].verdict == nil)
        client.send(2)
        bench.drive { client.endings[2] == .answered(200, "") }
        #expect(bench.simulator.journal.entries.map(\.verdict) == [.applied, .dropped(.outdated), .applied])
        client.send(3)
        bench.drive { client.endings[3] == .answered(200, "") }
        bench.simulator.stop()
        #expect(bench.simulator.journal.entries[3].verdict == .applied)
    }

    @Test("Fault settings go through JSON, and what is unknown or of another type is named")
    func json() throws {
        var faults = FaultSettings()
        faults.errors = [.init(status: 429, reason: "TooManyRequests", share: 0.25)]
        faults.latencyMaxMilliseconds = 30
        faults.isBlackHole = true
        var read = FaultSettings()
        try read.apply(faults.json)
        #expect(read == faults)
        for (text, key) in [
            (#"{"latency":1}"#, "latency"), (#"{"slowShare":2}"#, "slowShare"), (#"{"blackHole":1}"#, "blackHole"),
            (#"{"streamLimit":-1}"#, "streamLimit"), (#"{"errors":[{"status":200}]}"#, "errors"),
        ] {
            let object = try #require(JSONDocument.parse(Array(text.utf8))?.asObject)
            let fault = #expect(throws: FaultSettingsFault.self) { try read.apply(object) }
            #expect(fault?.key == key)
        }
        #expect(read == faults)
    }
}

extension SimulatorBench {
    var held: Int { simulator.shared.heldCount.load(ordering: .relaxed) }
}
