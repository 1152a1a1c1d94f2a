import Flow
import PushSimulator
import Testing

@testable import Delivery
@testable import PushSimulator

/// Section 11. The simulator answers 410 with the time at which a token ended; the activity's token was registered at another.
@Suite("410 ends a token only if its app has not reported it since")
struct GoneTokenContractTests {
    /// Registration and end in milliseconds after a start that both share.
    struct Row: Sendable, CustomTestStringConvertible {
        let registered: Int64
        let gone: Int64
        let isForgotten: Bool
        var testDescription: String { "registered \(registered), gone \(gone)" }
    }

    @Test(
        "The truth table",
        arguments: [
            Row(registered: 1_000, gone: 2_000, isForgotten: true),
            Row(registered: 2_000, gone: 2_000, isForgotten: true),
            Row(registered: 2_001, gone: 2_000, isForgotten: false),
        ])
    func truthTable(row: Row) throws {
        let bench = try ContractBench()
        let start = bench.now
        bench.pass(milliseconds: row.registered)
        try bench.begin("a")
        try bench.tell("a", "one")
        bench.simulator.withCore { $0.face.tokens.end(ContractBench.token("a"), atMilliseconds: start + row.gone) }
        bench.pass(seconds: 60)
        let completion = try bench.tell("a", "two")
        #expect(completion.reason == .unregistered)
        #expect((completion.fate == .targetGone) == row.isForgotten)
        // Kept, its state is tried again later: by then APNs may know what the app has reported.
        if !row.isForgotten { #expect(completion.fate == .held(milliseconds: 900_000)) }
        bench.simulator.withCore { core in
            core.face.tokens.register(
                ContractBench.token("a"), kind: .update, topic: "com.example.courier.push-type.liveactivity")
        }
        bench.pass(seconds: 901)
        if row.isForgotten {
            bench.expectQuiet()
            #expect(bench.arrivals("two").isEmpty)
        } else {
            bench.run { bench.arrivals("two").count == 1 }
        }
    }

    @Test("By the answer the activity has another token: that one is kept, and gets the state at once")
    func replacedMeanwhile() throws {
        let bench = try ContractBench()
        try bench.begin("a")
        try bench.tell("a", "one")
        bench.simulator.withCore { $0.face.tokens.end(ContractBench.token("a"), atMilliseconds: bench.now) }
        bench.pass(seconds: 60)
        try bench.status("a", "two")
        #expect(bench.send() == 1)
        bench.pass(seconds: 1)
        try bench.apply("token", "a", #""token":"\#(ContractBench.token("a2"))""#)
        bench.run { bench.arrivals("two").count == 1 }
        #expect(bench.requests("two").map(\.status) == [410, 200])
        #expect(try bench.tell("a", "three").fate == .accepted)
    }

    @Test("Without a time: forgotten, if its app has not reported it since the request left")
    func noTime() throws {
        for reason in ["Unregistered", "ExpiredToken"] {
            let bench = try ContractBench()
            try bench.begin("a")
            bench.fail(410, reason)
            #expect(try bench.tell("a", "one").fate == .targetGone)
            bench.recover()
            try bench.status("a", "two")
            bench.expectQuiet()
        }
    }

    @Test("A dead token may answer 200 for an hour: the activity ends by its own clock")
    func blurred() throws {
        let bench = try ContractBench(simulator: { $0.face.goneBlurMilliseconds = 3_600_000 })
        try bench.begin("a")
        try bench.tell("a", "one")
        bench.simulator.withCore { $0.face.tokens.end(ContractBench.token("a"), atMilliseconds: bench.now) }
        bench.pass(seconds: 1_800)
        #expect(try bench.tell("a", "two").fate == .accepted)
        bench.pass(seconds: 1_900)
        #expect(try bench.tell("a", "three").fate == .targetGone)
    }

    @Test("410s open no breaker and close no connection, however many")
    func notCounted() throws {
        let bench = try ContractBench()
        for index in 0..<40 { try bench.begin("activity-\(index)") }
        bench.fail(410, "Unregistered")
        for index in 0..<39 { #expect(try bench.tell("activity-\(index)", "x").fate == .targetGone) }
        bench.recover()
        #expect(bench.lane.openBreakers == 0)
        #expect(try bench.tell("activity-39", "x").fate == .accepted)
        #expect(bench.count(.retired) == 0)
    }
}
