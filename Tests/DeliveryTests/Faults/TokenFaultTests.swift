import Flow
import LiveActivities
import PushSimulator
import Testing

@testable import Delivery

@Suite("Tokens that die, seem to die, or are replaced: only what is surely gone is forgotten, and only it")
struct TokenFaultTests {
    /// Answers 410 to the activity, found invalid so long ago; nil says nothing of when.
    private func gone(_ bench: LaneBench, ageMilliseconds: Int64?) {
        bench.simulator.change { faults in
            var error = InjectedError(status: 410, reason: "Unregistered", share: 1)
            error.activityIdentifier = "order"
            error.ageMilliseconds = ageMilliseconds
            faults.errors = [error]
        }
    }

    private func clear(_ bench: LaneBench) { bench.simulator.change { $0.errors = [] } }

    @Test("Q14: a 410 of a time before the registration: the token is alive, and the state is told to it later")
    func goneBefore() throws {
        let bench = try LaneBench()
        try bench.begin("order")
        bench.pass(seconds: 60)
        gone(bench, ageMilliseconds: 60_001)
        try bench.status("order", "near")
        bench.settle()
        clear(bench)
        #expect(!bench.fates.contains(.targetGone))
        bench.pass(seconds: 20 * 60)
        #expect(bench.shown("order") == "near")
    }

    @Test(
        "Q14: of the very time of the registration, or later: gone, and nothing goes to it any more",
        arguments: [60_000, 0])
    func goneSince(age: Int64) throws {
        let bench = try LaneBench()
        try bench.begin("order")
        bench.pass(seconds: 60)
        gone(bench, ageMilliseconds: age)
        try bench.status("order", "near")
        bench.settle()
        clear(bench)
        #expect(bench.fates.last == .targetGone)
        try bench.status("order", "arrived")
        bench.pass(seconds: 3_600)
        #expect(bench.entries(LaneBench.token("order")).count == 1)
        // The app reports the very same token again: it is alive.
        try bench.publish(token: LaneBench.token("order"), "order")
        bench.settle()
        #expect(bench.shown("order") == "arrived")
    }

    @Test("Q15: a 410 without a time: gone, for the token is the one that was sent to; a new one is told what waits")
    func goneWithoutTime() throws {
        let bench = try LaneBench()
        try bench.begin("order")
        try bench.status("order", "before")
        bench.settle()
        bench.pass(seconds: 60)
        gone(bench, ageMilliseconds: nil)
        try bench.status("order", "near")
        bench.settle()
        clear(bench)
        #expect(bench.fates.last == .targetGone)
        bench.pass(seconds: 20 * 60)
        #expect(bench.shown("order") == "before")
        let token = try #require(bench.simulator.rotateToken(of: "order").first)
        try bench.publish(token: token, "order")
        bench.settle()
        #expect(bench.shown(token: token) == "near")
    }

    @Test("Q15: where the answer comes for a token that was replaced meanwhile, the new one is kept")
    func goneWithoutTimeAfterRotation() throws {
        let bench = try LaneBench()
        try bench.begin("order")
        bench.pass(seconds: 60)
        gone(bench, ageMilliseconds: nil)
        try bench.status("order", "near")
        bench.dispatch()
        bench.waitForReports(0)
        let token = try #require(bench.simulator.rotateToken(of: "order").first)
        try bench.publish(token: token, "order")
        clear(bench)
        bench.settle()
        #expect(bench.shown(token: token) == "near")
    }

    @Test(
        "Q16: a dead token answers 200 for an hour, then 410: the activity ends by its own clock in the end, whatever the answers say",
        arguments: [1, 9])
    func blurred(hours: Int64) throws {
        let bench = try LaneBench { $0.face.goneBlurMilliseconds = hours * 3_600_000 }
        try bench.begin("order")
        try bench.status("order", "near")
        bench.settle()
        #expect(bench.simulator.dismiss("order") == 1)
        for minute in 1...(9 * 60) {
            try bench.status("order", "minute \(minute)")
            bench.pass(seconds: 60)
        }
        let entries = bench.entries(LaneBench.token("order"))
        let dead = entries.dropFirst()
        #expect(dead.first?.status == 200 && dead.first?.verdict == .dropped(.ended))
        if hours == 1 {
            // One 410 is enough.
            #expect(dead.last?.status == 410)
            #expect(dead.count { $0.status == 410 } == 1)
            #expect(dead.dropLast().allSatisfy { $0.status == 200 })
        } else {
            #expect(dead.allSatisfy { $0.status == 200 })
            #expect(dead.last?.event == "end")
            // Eight hours after its start.
            #expect(dead.allSatisfy { $0.atMilliseconds <= entries[0].atMilliseconds + 8 * 3_600_000 + 60_000 })
        }
    }

    @Test(
        "Q17, Q18: every token is refused, for the environment or the topic is wrong: an alarm, none is purged, all are told once it is mended",
        arguments: ["BadDeviceToken", "DeviceTokenNotForTopic"])
    func misconfigured(reason: String) throws {
        let bench = try LaneBench()
        let activities = (0..<200).map { "order-\($0)" }
        for activity in activities { try bench.begin(activity) }
        bench.simulator.change { $0.errors = [.init(status: 400, reason: reason, share: 1)] }
        for round in 1...3 {
            for activity in activities { try bench.status(activity, "round \(round)") }
            bench.settle()
            bench.pass(seconds: 120)
        }
        #expect(bench.completions.contains { $0.isSuspicionAlarming })
        #expect(!bench.fates.contains(.targetGone))
        clear(bench)
        for activity in activities { try bench.status(activity, "mended") }
        bench.pass(seconds: 1_800)
        #expect(activities.allSatisfy { bench.shown($0) == "mended" })
    }

    @Test("Q19: the token is replaced between send and answer: the new one is kept, and told the newest state")
    func rotated() throws {
        let bench = try LaneBench { $0.faults.updateTokenDelayMilliseconds = 0 }
        try bench.begin("order")
        bench.run(until: { bench.simulator.tokenReports.count == 1 })
        bench.simulator.change { $0.tokenRotationShare = 1 }
        try bench.status("order", "near")
        bench.dispatch()
        bench.waitForReports(2)
        bench.simulator.change { $0.tokenRotationShare = 0 }
        let report = bench.simulator.tokenReports[1]
        #expect(report.replacedToken == LaneBench.token("order"))
        // The app's report is there before the answer is looked at.
        try bench.publish(token: report.token, "order")
        bench.settle()
        #expect(bench.entries(LaneBench.token("order")).map(\.reason) == ["ExpiredToken"])
        #expect(bench.shown(token: report.token) == "near")
        // And the answer of the old one, when it is looked at first, takes nothing from the new one.
        try bench.status("order", "arrived")
        bench.settle()
        #expect(bench.shown(token: report.token) == "arrived")
    }
}
