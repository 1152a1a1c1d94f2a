import Flow
import LiveActivities
import Pacing
import PushSimulator
import Testing

@testable import Delivery

@Suite("Behind the 200: order, storage and budget of the phone")
struct PhoneFaultTests {
    @Test("Q22: two accepted pushes reach the phone swapped: the end wins, for its timestamp is the newest of all")
    func reordered() throws {
        let bench = try LaneBench()
        try bench.begin("order")
        bench.simulator.change { $0.reorderedShare = 1 }
        try bench.status("order", "near")
        bench.settle()
        try bench.apply("activity.ended", "order", #""contentState":{"status":"delivered"}"#)
        bench.settle()
        let entries = bench.entries(LaneBench.token("order"))
        #expect(entries.map(\.event) == ["update", "end"])
        #expect(entries.map(\.verdict) == [.dropped(.outdated), .ended])
        #expect(bench.shown("order") == "delivered")
    }

    @Test("Q22: updates that overtake each other leave the newest on the phone, timestamps rising strictly")
    func reorderedUpdates() throws {
        let bench = try LaneBench()
        try bench.begin("order")
        bench.simulator.change { $0.reorderedShare = 0.5 }
        for count in 1...40 {
            try bench.status("order", "status \(count)")
            bench.settle()
            bench.pass(seconds: 20)
        }
        bench.simulator.change { $0.reorderedShare = 0 }
        try bench.status("order", "last")
        bench.settle()
        let entries = bench.entries(LaneBench.token("order"))
        #expect(entries.contains { $0.verdict == .dropped(.outdated) })
        #expect(zip(entries, entries.dropFirst()).allSatisfy { $0.timestampSeconds ?? 0 < $1.timestampSeconds ?? 0 })
        #expect(bench.shown("order") == "last")
    }

    @Test("Q23: offline, with several activities that share the one slot: each one's state is told anew later")
    func offline() throws {
        let bench = try LaneBench()
        for order in ["first", "second"] { try bench.begin(order, on: "anna") }
        for order in ["first", "second"] { try bench.status(order, "near") }
        bench.settle()
        bench.simulator.goOffline(device: "anna")
        bench.pass(seconds: 20)
        for order in ["first", "second"] { try bench.status(order, "here") }
        bench.settle()
        bench.pass(seconds: 30)
        bench.simulator.goOnline(device: "anna")
        let overwritten = bench.simulator.journal.entries.filter { $0.verdict == .overwritten }
        #expect(overwritten.map(\.activityIdentifier) == ["first"])
        #expect(bench.shown("first") == "near" && bench.shown("second") == "here")
        // Nobody tells a server of it: while a ride is under way, what is on the phone is told again before it goes stale.
        for _ in 0..<18 {
            for order in ["first", "second"] { try bench.apply("position", order, #""latitude":48,"longitude":11.5"#) }
            bench.pass(seconds: 10)
        }
        #expect(bench.shown("first") == "here" && bench.shown("second") == "here")
    }

    /// What the cadence allows in an hour: eight to begin with, for credit is given as much as is saved, and one a minute.
    private static let hourlyUrgent: UInt32 = 8 + 60

    @Test(
        "Q30: as many urgent changes as there may be: the phone throttles none, for priority 10 stays inside the cadence",
        arguments: [true, false])
    func budget(isInside: Bool) throws {
        let budget = isInside ? Self.hourlyUrgent : 20
        let bench = try LaneBench { $0.faults.urgentBudget = budget }
        try bench.begin("order")
        for count in 1...720 {
            try bench.status("order", "status \(count)")
            bench.pass(seconds: 5)
        }
        let throttled = bench.simulator.journal.entries.count { $0.verdict == .throttled }
        #expect((throttled == 0) == isInside)
        #expect(bench.shown("order") == "status 720")
    }
}
