import Flow
import HTTP2
import Instruments
import PushSimulator
import Synchronization
import Testing

@testable import Delivery

@Suite(
    "Connections that break, stall or are sent away: what was not processed goes again exactly, and capacity is told as it is"
)
struct ConnectionFaultTests {
    @Test(
        "Q1, Q2: GOAWAY in mid-load, once or twice with a lower id: the unprocessed go again, none is lost, none doubled",
        arguments: [false, true])
    func goAway(isTwice: Bool) throws {
        let provider = try SimulatedProvider {
            $0.faults.latencyMinMilliseconds = 2
            $0.faults.latencyMaxMilliseconds = 20
        } delivery: {
            $0.delivery.maxStreamsPerConnection = 50
        }
        let bench = provider.bench
        bench.waitForStreams(1)
        let sender = Sender(bench, 1...2_000)
        var drains = 0
        var nextDrain = 100
        sender.onAccepted = { count in
            // Each takes a connection away that has come up since the one before.
            guard count >= nextDrain, count < 1_500, bench.count(.opened) == drains + 1 else { return }
            provider.simulator.drain(Drain(unprocessedStreams: 20, isTwice: isTwice))
            drains += 1
            nextDrain = count + 100
        }
        sender.run()
        bench.reports.wait { _ in bench.count(.opened) == drains + 1 }
        #expect(drains > 0)
        #expect(bench.count(.goAway) == drains)
        #expect(bench.count(.lost) == 0)
        #expect(Set(sender.again.keys).isSubset(of: ["not_processed", "unsent"]))
        let entries = Dictionary(grouping: provider.simulator.journal.entries) { $0.apnsIdentifier ?? "" }
        #expect(entries.count == 2_000)
        #expect(entries.values.allSatisfy { $0.count { $0.fate != .unprocessed } == 1 })
        let unprocessed = entries.values.reduce(0) { $0 + $1.count { $0.fate == .unprocessed } }
        #expect(unprocessed <= sender.again["not_processed"] ?? 0)
    }

    @Test("Q3: what a GOAWAY promises to look after and never answers is unknown; what lies above is not")
    func abandoned() throws {
        let provider = try SimulatedProvider()
        let bench = provider.bench
        bench.accept()
        provider.simulator.change {
            $0.latencyMinMilliseconds = 3_600_000
            $0.latencyMaxMilliseconds = 3_600_000
        }
        bench.push(2...6)
        bench.reports.wait { _ in provider.simulator.heldRequests == 5 }
        provider.simulator.drain(Drain(unprocessedStreams: 2, abandonsOpenStreams: true))
        let endings = bench.reports.wait { $0.hasEnded(2...6) }.endings
        #expect((2...4).allSatisfy { endings[$0] == ["closed_after_goaway"] })
        #expect((5...6).allSatisfy { endings[$0] == ["not_processed"] })
        bench.waitForStreams(1)
    }

    @Test("Q4: reset before, amid and after the answer's headers: lost, and connected again", arguments: [0, 1, 2])
    func resets(place: Int) throws {
        let provider = try SimulatedProvider()
        let bench = provider.bench
        bench.accept()
        let share = [\FaultSettings.resetBeforeShare, \.resetAmidShare, \.resetAfterShare][place]
        provider.simulator.change { $0[keyPath: share] = 1 }
        #expect(bench.ending(2) == ["connection_lost"])
        provider.simulator.change { $0[keyPath: share] = 0 }
        bench.accept(3)
        #expect(bench.count(.lost) == 1)
    }

    @Test(
        "Q5: a black hole is found by a PING; connections that get no SETTINGS fail; once it is gone all is as before")
    func blackHole() throws {
        let provider = try SimulatedProvider { _ in
        } delivery: {
            $0.delivery.pingAfterMilliseconds = 250
            $0.delivery.pingTimeoutMilliseconds = 250
            $0.delivery.connectTimeoutMilliseconds = 300
        }
        let bench = provider.bench
        bench.accept()
        provider.simulator.change { $0.isBlackHole = true }
        bench.reports.wait { _ in provider.simulator.hasObeyed }
        bench.push(2...11)
        let endings = bench.reports.wait { $0.hasEnded(2...11) }.endings
        #expect((2...11).allSatisfy { endings[$0] == ["ping_unanswered"] })
        bench.reports.wait { _ in bench.count(.failed) > 0 }
        #expect(bench.reports.now.streams[0] == 0)
        provider.simulator.change { $0.isBlackHole = false }
        bench.accept(12)
    }

    @Test("Q6: no answer in time: unknown, its stream is free again, and the connection stays")
    func slow() throws {
        let provider = try SimulatedProvider { _ in
        } delivery: {
            $0.delivery.requestTimeoutMilliseconds = 500
        }
        let bench = provider.bench
        bench.accept()
        provider.simulator.change {
            $0.slowShare = 1
            $0.slowMilliseconds = 3_600_000
        }
        bench.push(2...41)
        let endings = bench.reports.wait { $0.hasEnded(2...41) }.endings
        #expect((2...41).allSatisfy { endings[$0] == ["timed_out"] })
        bench.waitForStreams(1_000)
        provider.simulator.change { $0.slowShare = 0 }
        #expect(bench.ending(42) == ["200"])
        #expect(bench.count(.opened) == 1)
    }

    @Test("Q6: also where it was the one stream that a new connection has")
    func slowFirst() throws {
        let provider = try SimulatedProvider {
            $0.faults.slowShare = 1
            $0.faults.slowMilliseconds = 3_600_000
        } delivery: {
            $0.delivery.requestTimeoutMilliseconds = 400
        }
        let bench = provider.bench
        bench.waitForStreams(1)
        for identifier: UInt64 in 1...3 {
            #expect(bench.ending(identifier) == ["timed_out"])
            bench.waitForStreams(1)
        }
        #expect(bench.count(.opened) == 1)
    }

    @Test("Q7: the limit falls from 1,000 to 1 and comes back: never a stream above it, nothing lost")
    func limitFalls() throws {
        let provider = try SimulatedProvider {
            $0.faults.latencyMinMilliseconds = 1
            $0.faults.latencyMaxMilliseconds = 10
        }
        let bench = provider.bench
        bench.accept(1_000_000)
        let sender = Sender(bench, 1...500)
        sender.onAccepted = { count in
            if count == 100 { provider.simulator.change { $0.streamLimit = 1 } }
            if count == 200 { provider.simulator.change { $0.streamLimit = 1_000 } }
        }
        sender.run()
        bench.waitForStreams(1_000)
        // Taken and not yet written when the limit fell; a refused stream would have been above it.
        #expect(Set(sender.again.keys).isSubset(of: ["not_processed", "unsent"]))
        #expect(bench.count(.opened) == 1)
    }

    @Test("At a limit of 0 jobs do not go to and fro; when it rises they leave")
    func limitZero() throws {
        let provider = try SimulatedProvider()
        let bench = provider.bench
        bench.accept(1_000_000)
        provider.simulator.change { $0.streamLimit = 0 }
        bench.waitForStreams(0)
        bench.push(1...5)
        let endings = bench.reports.wait { $0.hasEnded(1...5) }.endings
        #expect((1...5).allSatisfy { endings[$0] == ["unsent"] })
        provider.simulator.change { $0.streamLimit = 1_000 }
        let sender = Sender(bench, 6...20)
        sender.run()
        #expect(sender.again.isEmpty)
    }

    @Test("Q8: REFUSED_STREAM for a third of all: they go again, and no error is counted")
    func refusedStreams() throws {
        let provider = try SimulatedProvider { $0.faults.refusedStreamShare = 0.3 }
        let bench = provider.bench
        let sender = Sender(bench, 1...300)
        sender.run()
        #expect(Set(sender.again.keys) == ["refused_stream"])
        #expect(bench.count(.refused) == 0 && bench.count(.unknown) == 0)
        #expect(bench.count(.notProcessed) == Int64(sender.again["refused_stream"] ?? 0))
        #expect(bench.count(.opened) == 1)
    }

    @Test("Q25: a window of 16 bytes that never opens: time-outs, no deadlock")
    func tinyWindow() throws {
        let provider = try SimulatedProvider {
            $0.faults.streamWindowBytes = 16
            $0.faults.withholdsWindowUpdates = true
        } delivery: {
            $0.delivery.requestTimeoutMilliseconds = 100
        }
        for identifier: UInt64 in 1...3 {
            provider.bench.waitForStreams(1)
            #expect(provider.bench.ending(identifier) == ["timed_out"])
        }
    }

    @Test("Q26: without an HPACK table it keeps working")
    func noHeaderTable() throws {
        let provider = try SimulatedProvider { $0.faults.headerTableBytes = 0 }
        let sender = Sender(provider.bench, 1...50)
        sender.run()
        #expect(sender.again.isEmpty)
    }

    @Test("APN-56: a server that goes after every three requests: ten thousand pushes, all accepted")
    func goAwayStorm() throws {
        let answered = Mutex<[String: Int]>([:])
        let provider = try ScriptedProvider { request, count, _ in
            guard count <= 3 else { return }
            let identifier = request.field("apns-id").map { String(decoding: $0, as: UTF8.self) } ?? ""
            answered.withLock { $0[identifier, default: 0] += 1 }
            _ = request.respond(status: 200)
            guard count == 3 else { return }
            request.connection.goAway(lastStreamID: request.streamID)
            request.connection.closeGracefully()
        }
        let bench = try provider.bench { $0.delivery.maxStreamsPerConnection = 4 }
        let sender = Sender(bench, 1...UInt64(Self.stormPushes))
        sender.run()
        #expect(answered.withLock { $0.count } == Self.stormPushes)
        #expect(answered.withLock { $0.values.allSatisfy { $0 == 1 } })
        #expect(Set(sender.again.keys).isSubset(of: ["not_processed", "unsent"]))
        #expect(bench.count(.lost) == 0 && bench.count(.failed) == 0)
    }

    private static let stormPushes = 10_000

    @Test(
        "Other endings of a stream, each by its own name",
        arguments: [("reset", "stream_reset"), ("cut", "connection_lost")])
    func streamEndings(script: String, name: String) throws {
        let provider = try ScriptedProvider { request, _, _ in
            switch script {
            case "reset": _ = request.reset(errorCode: HTTP2Error.internalError)
            default: request.connection.close()
            }
        }
        let bench = try provider.bench()
        bench.waitForStreams(1)
        #expect(bench.ending(1) == [name])
        bench.waitForStreams(1)
    }

    @Test("A stream refused after its answer had begun was processed all the same")
    func lateRefusal() throws {
        let provider = try ScriptedProvider { request, count, kept in
            switch count {
            case 2:
                _ = request.respondHeaders(status: 200)
                kept.append(request)
            case 4:
                _ = kept.first?.reset(errorCode: HTTP2Error.refusedStream)
                _ = request.respond(status: 200)
            default: _ = request.respond(status: 200)
            }
        }
        let bench = try provider.bench()
        bench.accept()
        bench.push([2])
        // Its headers left no later than this answer.
        #expect(bench.ending(3) == ["200"])
        #expect(bench.ending(4) == ["200"])
        #expect(bench.reports.wait { $0.endings[2] != nil }.endings[2] == ["malformed_answer"])
    }

    @Test("Stream ids run out: another connection takes over, and nothing is told of it")
    func streamIDsUsedUp() throws {
        let provider = try SimulatedProvider { _ in
        } delivery: {
            $0.delivery.lastUsableStreamID = 9
        }
        let sender = Sender(provider.bench, 1...40)
        sender.run()
        #expect(Set(sender.again.keys).isSubset(of: ["unsent"]))
        #expect(provider.bench.count(.lost) == 0)
        #expect(Set(provider.simulator.journal.entries.map(\.connection)).count >= 8)
    }
}
