import Flow
import LiveActivities
import PushSimulator
import Testing

@testable import Delivery
@testable import PushSimulator

/// Goal: a configuration that is wrong for every token costs no token, and a handful of errors. Method: a thousand activities whose tokens the
/// provider refuses; then it is mended.
@Suite("Token after token is refused: pushing stops, nothing is forgotten, and nothing is lost")
struct TokenWaveTests {
    private static let topic = "com.example.courier.push-type.liveactivity"

    private func wave(_ reason: APNsReason, activities: Int) throws -> ContractBench {
        let bench = try ContractBench(simulator: { $0.face.unknownTokens = .refuse })
        if reason == .deviceTokenNotForTopic {
            bench.simulator.withCore { core in
                for index in 0..<activities {
                    core.face.tokens.register(
                        ContractBench.token("a\(index)"), kind: .update, topic: "com.example.other")
                }
            }
        }
        for index in 0..<activities {
            try bench.begin("a\(index)")
            try bench.status("a\(index)", "near")
        }
        bench.run { bench.lane.pauseCause(pool: 0) == .tokens && bench.lane.inFlightCount == 0 }
        return bench
    }

    @Test(
        "A thousand tokens: a handful of requests, an alarm, a pause; mended, all thousand are told",
        arguments: [APNsReason.badDeviceToken, .deviceTokenNotForTopic])
    func thousand(reason: APNsReason) throws {
        let bench = try wave(reason, activities: 1_000)
        let asked = bench.simulator.journal.entries.count
        #expect(asked <= 8)
        #expect(bench.completions.allSatisfy { $0.reason == reason && $0.fate != .targetGone })
        #expect(bench.completions.contains { $0.breaker == .opened(.tokens) })
        #expect(bench.completions.contains { $0.isSuspicionAlarming })
        #expect(bench.lane.isEveryPoolRefused)
        bench.expectQuiet()

        // Probes, one at a time, each further from the one before.
        var gaps: [Int64] = []
        for _ in 0..<10 {
            guard case .open(.tokens, let probeAt) = bench.lane.breakerState(pool: 0) else {
                return #expect(Bool(false), "\(bench.lane.breakerState(pool: 0))")
            }
            gaps.append(probeAt - bench.now)
            let count = bench.completions.count
            bench.pass(milliseconds: probeAt - bench.now + 1)
            bench.run { bench.completions.count == count + 1 }
            bench.expectQuiet()
        }
        #expect(gaps[0] <= 6_000 && gaps[9] >= 16 * 60_000 && gaps.max()! <= 20 * 60_000)
        #expect(bench.simulator.journal.entries.count == asked + 10)

        // Mended: what was refused before the wave was known is told with its activity's next event.
        bench.simulator.withCore { core in
            for index in 0..<1_000 {
                core.face.tokens.register(ContractBench.token("a\(index)"), kind: .update, topic: Self.topic)
            }
        }
        bench.pass(seconds: 20 * 60)
        bench.run { bench.lane.pauseCause(pool: 0) == nil }
        for index in 0..<1_000 { try bench.status("a\(index)", "arrived") }
        bench.pass(seconds: 20)
        bench.run { Set(bench.arrivals("arrived").map(\.tokenFingerprint)).count == 1_000 }
        #expect(!bench.completions.contains { $0.fate == .targetGone })
    }

    @Test("One bad token amid good ones is that token's alone, and is forgotten at its second refusal")
    func single() throws {
        let bench = try ContractBench(simulator: { $0.face.unknownTokens = .refuse })
        bench.simulator.withCore { core in
            for index in 0..<30 {
                core.face.tokens.register(ContractBench.token("a\(index)"), kind: .update, topic: Self.topic)
            }
        }
        for index in 0..<30 { try bench.begin("a\(index)") }
        try bench.begin("bad")
        for index in 0..<15 { #expect(try bench.tell("a\(index)", "x").fate == .accepted) }
        let first = try bench.tell("bad", "x")
        #expect(first.fate == .refused && first.breaker == nil && !first.isSuspicionAlarming)
        for index in 0..<30 { #expect(try bench.tell("a\(index)", "y").fate == .accepted) }
        let second = try bench.tell("bad", "y")
        #expect(second.fate == .targetGone)
        #expect(bench.lane.openBreakers == 0)
        // A new token is told all.
        bench.simulator.withCore {
            $0.face.tokens.register(ContractBench.token("good"), kind: .update, topic: Self.topic)
        }
        try bench.apply("token", "bad", #""token":"\#(ContractBench.token("good"))""#)
        bench.run { bench.arrivals("y").count == 31 }
    }

    @Test("While the newest answer refused a token, two requests are out at the most")
    func inDoubt() throws {
        let bench = try ContractBench(simulator: { $0.face.unknownTokens = .refuse })
        for index in 0..<20 { try bench.begin("a\(index)") }
        try bench.tell("a0", "x")
        bench.simulator.change { ($0.latencyMinMilliseconds, $0.latencyMaxMilliseconds) = (200, 200) }
        for index in 1..<20 { try bench.status("a\(index)", "x") }
        bench.reports.wait { $0.streams[0] == 1_000 }
        bench.hear()
        #expect(bench.send() == 2)
        #expect(bench.send() == 0)
    }
}
