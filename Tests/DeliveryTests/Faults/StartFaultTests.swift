import Flow
import PushSimulator
import Testing

@testable import Delivery

/// A second start may begin a second card, so whatever becomes of the first it is not sent again blindly (contract, sections 3 and 15).
@Suite("Starts by push under faults: never a second one, and nothing of the state is lost")
struct StartFaultTests {
    private func starts(_ bench: LaneBench, _ token: String) -> Int {
        bench.entries(token).count { $0.event == "start" && $0.fate != .unprocessed }
    }

    /// Held by the provider until its connection is gone.
    private func startHeld(_ bench: LaneBench, _ token: String) throws {
        try bench.begin("warm-up")
        try bench.status("warm-up", "near")
        bench.settle()
        bench.simulator.change {
            $0.latencyMinMilliseconds = 3_600_000
            $0.latencyMaxMilliseconds = 3_600_000
        }
        try bench.start("order", startToken: token)
        bench.run(until: { bench.simulator.heldRequests == 1 })
    }

    private func release(_ bench: LaneBench) {
        bench.simulator.change {
            $0.latencyMinMilliseconds = 0
            $0.latencyMaxMilliseconds = 0
        }
    }

    @Test(
        "Q3: abandoned by a GOAWAY that promised to look after it: unknown, and the newest state goes to the token when it comes"
    )
    func abandoned() throws {
        let bench = try LaneBench()
        let startToken = bench.simulator.addPhone("anna")
        try startHeld(bench, startToken)
        bench.simulator.drain(Drain(abandonsOpenStreams: true))
        bench.run(until: { bench.fates.contains(.startUnknown) })
        release(bench)
        bench.waitForStream()
        try bench.status("order", "cooking")
        bench.pass(seconds: 3_600)
        #expect(starts(bench, startToken) <= 1)
        // The card began all the same, as its app tells.
        let token = bench.simulator.begin("order", on: "anna")
        try bench.publish(token: token, "order")
        bench.settle()
        #expect(bench.shown(token: token) == "cooking")
    }

    @Test("Q1: above the last-stream-id it was never processed: it goes again, once")
    func unprocessed() throws {
        let bench = try LaneBench()
        let startToken = bench.simulator.addPhone("anna")
        try startHeld(bench, startToken)
        bench.simulator.drain(Drain(unprocessedStreams: 1))
        release(bench)
        bench.run(until: { bench.entries(startToken).contains { $0.status == 200 } })
        bench.settle()
        bench.pass(seconds: 3_600)
        #expect(bench.entries(startToken).map(\.fate) == [.unprocessed, .answered])
        #expect(bench.entries(startToken).last?.verdict == .alerted)
    }

    @Test("Q4: its connection reset before, amid or after the answer: no second start", arguments: 0..<3)
    func reset(place: Int) throws {
        let bench = try LaneBench()
        let startToken = bench.simulator.addPhone("anna")
        let share = [\FaultSettings.resetBeforeShare, \.resetAmidShare, \.resetAfterShare][place]
        bench.simulator.change { $0[keyPath: share] = 1 }
        try bench.start("order", startToken: startToken)
        bench.run(until: { bench.fates.contains(.startUnknown) })
        bench.simulator.change { $0[keyPath: share] = 0 }
        bench.waitForStream()
        try bench.status("order", "cooking")
        bench.pass(seconds: 3_600)
        #expect(bench.entries(startToken).count == 1)
    }

    @Test("Q20: the update token never comes: one start whatever happens, and the newest state waits for a token")
    func noUpdateToken() throws {
        let bench = try LaneBench { $0.faults.updateTokenLossShare = 1 }
        let startToken = bench.simulator.addPhone("anna")
        try bench.start("order", startToken: startToken)
        bench.settle()
        for minute in 0..<40 {
            try bench.status("order", "minute \(minute)")
            bench.pass(seconds: 60)
        }
        #expect(bench.simulator.tokenReports.allSatisfy { $0.kind == .start })
        #expect(bench.simulator.journal.entries.map(\.event) == ["start"])
        // The app is opened, and tells it late.
        let token = try #require(bench.simulator.phones.activities.first { $0.value.identifier == "order" }?.key)
        try bench.publish(token: token, "order")
        bench.settle()
        #expect(bench.shown(token: token) == "minute 39")
        #expect(starts(bench, startToken) == 1)
    }

    @Test("A phone over its budget of starts shows nothing, and the 200 is not taken for more: no second start")
    func overBudget() throws {
        let bench = try LaneBench { $0.faults.startBudget = 1 }
        let startToken = bench.simulator.addPhone("anna")
        for order in ["first", "second"] { try bench.start(order, startToken: startToken) }
        bench.settle()
        try bench.status("second", "cooking")
        bench.pass(seconds: 1_800)
        let verdicts = bench.entries(startToken).map(\.verdict)
        #expect(verdicts == [.alerted, .dropped(.budget)])
    }
}
