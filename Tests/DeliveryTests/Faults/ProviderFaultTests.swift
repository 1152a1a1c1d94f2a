import Flow
import LiveActivities
import PushSimulator
import Telemetry
import Testing

@testable import Delivery

@Suite("A provider that is slow, sick or picky: the newest state arrives, and no storm on the way")
struct ProviderFaultTests {
    @Test(
        "Q6: while answers take their time one push an activity is under way, and what came meanwhile is told once, as it is then"
    )
    func slow() throws {
        let bench = try LaneBench()
        let activities = (0..<20).map { "order-\($0)" }
        for activity in activities { try bench.begin(activity) }
        try bench.status(activities[0], "warm")
        bench.settle()
        let before = bench.simulator.journal.entries.count
        bench.simulator.change {
            $0.latencyMinMilliseconds = 300
            $0.latencyMaxMilliseconds = 300
        }
        for round in 1...50 {
            for activity in activities { try bench.status(activity, "round \(round)") }
            bench.dispatch()
            #expect(bench.lane.inFlightCount <= activities.count)
        }
        bench.settle()
        bench.simulator.change {
            $0.latencyMinMilliseconds = 0
            $0.latencyMaxMilliseconds = 0
        }
        bench.pass(seconds: 60)
        #expect(activities.allSatisfy { bench.shown($0) == "round 50" })
        // The first round was under way; what followed it is one push each.
        #expect(bench.simulator.journal.entries.count - before <= 2 * activities.count)
    }

    @Test(
        "Q9: 503 for all over ten minutes: the breaker lets single probes through, no content comes twice within 15 minutes, the newest is told on return"
    )
    func outage() throws {
        let bench = try LaneBench()
        let activities = (0..<10).map { "order-\($0)" }
        for activity in activities { try bench.begin(activity) }
        try bench.status(activities[0], "before")
        bench.settle()
        let before = bench.simulator.journal.entries.count
        bench.simulator.change { $0.errors = [.init(status: 503, reason: "ServiceUnavailable", share: 1)] }
        for minute in 1...10 {
            for activity in activities { try bench.status(activity, "minute \(minute)") }
            bench.pass(seconds: 60)
        }
        let refused = bench.simulator.journal.entries.dropFirst(before)
        #expect(refused.allSatisfy { $0.status == 503 })
        // Ten at once opened the breaker; then it doubles from 5 s: in ten minutes some seven or eight.
        #expect(refused.count < 10 + 12)
        #expect(bench.lane.openBreakers == 1)
        var newest: [String: Int64] = [:]
        for entry in refused {
            let content = "\(entry.tokenFingerprint) \(entry.contentState?["status"]?.asString ?? "")"
            if let earlier = newest[content] { #expect(entry.atMilliseconds - earlier >= 15 * 60_000, "\(content)") }
            newest[content] = entry.atMilliseconds
        }
        bench.simulator.change { $0.errors = [] }
        bench.pass(seconds: 20 * 60)
        #expect(bench.lane.openBreakers == 0)
        #expect(activities.allSatisfy { bench.shown($0) == "minute 10" })
    }

    @Test("Q9: 500 for a share is those requests' own: the others go on, and what was refused waits its 15 minutes")
    func fewErrors() throws {
        let bench = try LaneBench()
        let activities = (0..<30).map { "order-\($0)" }
        for activity in activities { try bench.begin(activity) }
        let unlucky = Array(activities.prefix(4))
        bench.simulator.change { faults in
            faults.errors = unlucky.map { activity in
                var error = InjectedError(status: 500, reason: "InternalServerError", share: 1)
                error.activityIdentifier = activity
                return error
            }
        }
        for activity in activities.reversed() { try bench.status(activity, "near") }
        bench.settle()
        bench.simulator.change { $0.errors = [] }
        #expect(bench.lane.openBreakers == 0)
        #expect(activities.dropFirst(4).allSatisfy { bench.shown($0) == "near" })
        #expect(unlucky.allSatisfy { bench.shown($0) == nil })
        bench.pass(seconds: 20 * 60)
        #expect(unlucky.allSatisfy { bench.shown($0) == "near" })
        for activity in unlucky {
            let times = bench.entries(LaneBench.token(activity)).prefix(2).map(\.atMilliseconds)
            #expect(times[1] - times[0] >= 15 * 60_000)
        }
    }

    @Test("Q21: 429 for one token amid good ones: only that one slows, and more with each further one")
    func throttled() throws {
        let bench = try LaneBench()
        for activity in ["slow", "good"] { try bench.begin(activity) }
        bench.simulator.change { faults in
            var error = InjectedError(status: 429, reason: "TooManyRequests", share: 1)
            error.token = LaneBench.token("slow")
            faults.errors = [error]
        }
        for minute in 1...30 {
            for activity in ["slow", "good"] { try bench.status(activity, "minute \(minute)") }
            bench.pass(seconds: 60)
        }
        #expect(bench.shown("good") == "minute 30")
        #expect(bench.entries(LaneBench.token("good")).count == 30)
        let times = bench.entries(LaneBench.token("slow")).map(\.atMilliseconds)
        #expect(times.count < 12)
        let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(zip(gaps, gaps.dropFirst()).allSatisfy { $0 <= $1 + 60_000 })
        #expect(bench.lane.openBreakers == 0)
        bench.simulator.change { $0.errors = [] }
        bench.pass(seconds: 20 * 60)
        #expect(bench.shown("slow") == "minute 30")
    }

    @Test("Q8, Q7: refused streams and a limit of one: everything arrives, nothing is counted as an error")
    func refusedStreams() throws {
        let bench = try LaneBench()
        let activities = (0..<20).map { "order-\($0)" }
        for activity in activities { try bench.begin(activity) }
        bench.simulator.change {
            $0.refusedStreamShare = 0.3
            $0.streamLimit = 1
        }
        for activity in activities { try bench.status(activity, "near") }
        // Refused many times over, a push waits a little before it goes again.
        bench.pass(seconds: 60)
        #expect(activities.allSatisfy { bench.shown($0) == "near" })
        #expect(bench.lane.openBreakers == 0)
        #expect(!bench.fates.contains(.refused))
    }

    @Test(
        "Q27: answers without apns-id, with an unknown reason, with broken JSON, with a blank in the reason: the status class decides",
        arguments: [
            (503, "Service Unavailable", nil), (503, "NeverHeardOf", nil), (503, "", "{\"reason\":"),
            (500, "", "<html>"), (400, "NeverHeardOf", nil), (410, "", "{}"), (429, "", ""),
        ] as [(Int, String, String?)])
    func oddAnswers(status: Int, reason: String, body: String?) throws {
        let bench = try LaneBench()
        try bench.begin("order")
        try bench.status("order", "before")
        bench.settle()
        bench.simulator.change { faults in
            var error = InjectedError(status: status, reason: reason, share: 1)
            error.body = body
            error.omitsIdentifier = true
            faults.errors = [error]
        }
        try bench.status("order", "during")
        bench.settle()
        bench.simulator.change { $0.errors = [] }
        switch (status, bench.fates.last) {
        case (500...503, .held(let milliseconds)?): #expect(milliseconds >= 15 * 60_000)
        case (429, .held(let milliseconds)?): #expect(milliseconds < 5 * 60_000)
        case (400, .refused?), (410, .targetGone?): break
        default: Issue.record("\(status) ended as \(String(describing: bench.fates.last))")
        }
        // Later than the report that has died.
        bench.pass(seconds: 1)
        if status == 410 { try bench.publish(token: LaneBench.token("order"), "order") }
        try bench.status("order", "after")
        bench.pass(seconds: 3_600)
        #expect(bench.shown("order") == "after")
    }
}
