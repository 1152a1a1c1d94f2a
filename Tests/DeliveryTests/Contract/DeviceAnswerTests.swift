import Flow
import LiveActivities
import Testing

@testable import Delivery

/// Section 10. One activity is told "one", its next update is answered as the row says, and then the provider is well again.
@Suite("Each answer to a device push, and what comes of it for content, token, connection and credential")
struct DeviceAnswerTests {
    @Test("200: settled, and nothing else happens")
    func accepted() throws {
        let bench = try ContractBench()
        try bench.begin("a")
        #expect(try bench.tell("a", "one").fate == .accepted)
        bench.pass(seconds: 3_600)
        bench.expectQuiet()
        #expect(bench.requests("one").count == 1)
        #expect(bench.count(.retired) == 0)
    }

    @Test("Row by row", arguments: AnswerRow.all)
    func row(_ row: AnswerRow) throws {
        let bench = try ContractBench()
        try bench.begin("a")
        try bench.begin("b")
        #expect(try bench.tell("a", "one").fate == .accepted)
        bench.fail(row.status, row.reason)
        let completion = try bench.tell("a", "two")
        bench.recover()
        #expect(completion.reason == APNsReason(row.reason))
        #expect(completion.alarm == row.alarm)
        try expect(row.content, completion, bench)
        #expect(bench.count(.retired) == (row.connection == .kept ? 0 : 1))
        #expect(bench.count(.lost) == 0)
        #expect(try bench.providerToken.bearer().generation == 1, "nothing is minted in answer")
        // Another activity of the app was never to blame.
        #expect(try bench.tell("b", "other").fate == .accepted)
        if row.connection == .kept { #expect(Set(bench.simulator.journal.entries.map(\.connection)).count == 1) }
    }

    private func expect(_ content: AnswerRow.Content, _ completion: Completion, _ bench: ContractBench) throws {
        let before = bench.requests("two").count
        switch content {
        case .never:
            #expect(completion.fate == .refused)
            #expect(bench.lane.openBreakers == 0)
            // After three minutes the card would be stale, and its state is told anew by an update of its own.
            bench.pass(seconds: 120)
            bench.expectQuiet()
            #expect(bench.requests("two").count == before)
            // The token is kept, the next state goes to it.
            #expect(try bench.tell("a", "three").fate == .accepted)
        case .later:
            guard case .held(let milliseconds) = completion.fate else {
                return #expect(Bool(false), "\(completion.fate)")
            }
            #expect((900_000...1_012_500).contains(milliseconds), "15 minutes, and up to an eighth more")
            bench.pass(seconds: 899)
            bench.expectQuiet()
            bench.pass(seconds: 120)
            bench.run { !bench.arrivals("two").isEmpty }
            #expect(bench.requests("two").count == before + 1)
        case .atOnce:
            #expect(completion.fate == .held(milliseconds: 0))
            bench.run { !bench.arrivals("two").isEmpty }
            #expect(bench.arrivals("one").first?.connection != bench.arrivals("two").first?.connection)
            #expect(bench.lane.openBreakers == 0)
        case .afterPause, .neverAndPause:
            guard case .open(.credential, let probeAt) = bench.lane.breakerState(pool: 0) else {
                return #expect(Bool(false), "the pool does not pause")
            }
            #expect((4_000...6_000).contains(probeAt - bench.now))
            bench.pass(seconds: 3)
            bench.expectQuiet()
            if content == .neverAndPause { try bench.status("a", "three") }
            bench.pass(seconds: 4)
            bench.run { bench.lane.openBreakers == 0 && bench.lane.inFlightCount == 0 }
            #expect(completion.fate == (content == .afterPause ? .held(milliseconds: 0) : .refused))
            #expect(bench.arrivals(content == .afterPause ? "two" : "three").count == 1)
            #expect(bench.requests("two").count == (content == .afterPause ? before + 1 : before))
        case .targetGone:
            #expect(completion.fate == .targetGone)
            bench.pass(seconds: 3_600)
            bench.expectQuiet()
            let next = ContractBench.token("a2")
            try bench.apply("token", "a", #""token":"\#(next)""#)
            bench.run { !bench.arrivals("two").isEmpty }
            #expect(bench.requests("two").count == before + 1)
        case .slowed:
            // Double the usual 15 s, and up to an eighth more.
            guard case .held(let milliseconds) = completion.fate else {
                return #expect(Bool(false), "\(completion.fate)")
            }
            #expect((30_000...33_750).contains(milliseconds))
            try bench.status("a", "three")
            bench.pass(seconds: 29)
            bench.expectQuiet()
            bench.pass(seconds: 6)
            bench.run { !bench.arrivals("three").isEmpty }
            #expect(bench.requests("two").count == before, "the newest state wins")
        }
    }

    @Test("500: newer content need not wait, and then the old one never goes")
    func newerFirst() throws {
        let bench = try ContractBench()
        try bench.begin("a")
        bench.fail(500, "InternalServerError")
        try bench.tell("a", "old")
        bench.recover()
        #expect(try bench.tell("a", "new").fate == .accepted)
        bench.pass(seconds: 7_200)
        bench.expectQuiet()
        #expect(bench.requests("old").count == 1)
    }

    @Test("500 for the same content again and again: the delays grow to hours, and it is one attempt each")
    func growing() throws {
        let bench = try ContractBench(setup: { $0.lane = { $0.breaker.sickAnswers = 32 } })
        try bench.begin("a")
        bench.fail(500, "InternalServerError")
        var held: [Int64] = []
        var completion = try bench.tell("a", "same")
        for minutes: Int64 in [15, 30, 60, 120] {
            guard case .held(let milliseconds) = completion.fate else {
                return #expect(Bool(false), "\(completion.fate)")
            }
            held.append(milliseconds / 60_000)
            #expect((minutes...(minutes * 9 / 8)).contains(milliseconds / 60_000))
            let count = bench.completions.count
            bench.pass(seconds: milliseconds / 1_000 + 1)
            bench.run { bench.completions.count > count }
            completion = try #require(bench.completions.last)
        }
        #expect(held == held.sorted())
        #expect(bench.requests("same").count == 5)
    }

    @Test("ExpiredProviderToken of an old token: a fresh one and a fresh connection, and the update once more")
    func expiredOld() throws {
        let bench = try ContractBench()
        try bench.begin("a")
        try bench.tell("a", "one")
        bench.time.pass(milliseconds: 61 * 60_000 - 12 * 60_000)
        bench.simulator.expireProviderTokens()
        let completion = try bench.tell("a", "two")
        #expect(completion.reason == .expiredProviderToken)
        bench.run { !bench.arrivals("two").isEmpty }
        #expect(try bench.providerToken.bearer().generation == 2)
        #expect(bench.arrivals("two").first?.connection != bench.arrivals("one").first?.connection)
        #expect(bench.requests("two").count == 2)
    }

    @Test(
        "Refused on another connection as well: the credential pauses, longer each time, and nothing is minted",
        arguments: [
            (429, "TooManyProviderTokenUpdates"), (403, "UnrelatedKeyIdInToken"), (403, "ExpiredProviderToken"),
        ])
    func refusedTwice(status: Int, reason: String) throws {
        let bench = try ContractBench()
        try bench.begin("a")
        try bench.tell("a", "one")
        bench.fail(status, reason)
        try bench.tell("a", "two")
        bench.run { bench.lane.openBreakers == 1 }
        #expect(bench.requests("two").count == 2)
        var pauses: [Int64] = []
        for _ in 0..<12 {
            guard case .open(.credential, let probeAt) = bench.lane.breakerState(pool: 0) else {
                return #expect(Bool(false), "\(bench.lane.breakerState(pool: 0))")
            }
            pauses.append((probeAt - bench.now) / 1_000)
            let count = bench.completions.count
            bench.pass(seconds: (probeAt - bench.now) / 1_000 + 1)
            bench.run { bench.completions.count > count }
        }
        #expect(pauses[0] <= 6 && pauses[3] >= 32 && pauses.max()! <= 1_200)
        #expect(pauses.suffix(2).allSatisfy { $0 >= 960 })
        #expect(try bench.providerToken.bearer().generation == 1)
        #expect(bench.requests("two").count == 14, "a single probe each time")
        bench.recover()
        bench.pass(seconds: 1_200)
        bench.run { !bench.arrivals("two").isEmpty }
    }

    @Test(
        "retry-after, if it ever comes, is a lower bound",
        arguments: [(429, "TooManyRequests"), (503, "ServiceUnavailable")])
    func retryAfter(status: Int, reason: String) throws {
        let provider = try ScriptedProvider { request, count, _ in
            _ =
                count == 1
                ? request.respond(
                    status: status, fields: [("retry-after", "3600")], body: Array(#"{"reason":"\#(reason)"}"#.utf8))
                : request.respond(status: 200)
        }
        let bench = try ContractBench(provider)
        try bench.begin("a")
        let completion = try bench.tell("a", "one")
        guard case .held(let milliseconds) = completion.fate else { return #expect(Bool(false), "\(completion.fate)") }
        #expect(milliseconds >= 3_600_000)
        bench.pass(seconds: 3_599)
        bench.expectQuiet()
        bench.pass(seconds: 2)
        bench.run { bench.completions.last?.fate == .accepted }
    }

    @Test("An answer without a body, without apns-id, with broken JSON: its status decides")
    func oddAnswers() throws {
        for (status, body) in [(400, ""), (400, "{"), (400, #"{"reason":7}"#)] {
            let provider = try ScriptedProvider { request, count, _ in
                _ = count == 1 ? request.respond(status: status, body: Array(body.utf8)) : request.respond(status: 200)
            }
            let bench = try ContractBench(provider)
            try bench.begin("a")
            let completion = try bench.tell("a", "one")
            #expect(completion.fate == .refused)
            #expect(completion.reason == nil)
            #expect(try bench.tell("a", "two").fate == .accepted)
        }
    }

    @Test("One 500 among many 200s is that push's alone: the pool goes on")
    func oneAmongMany() throws {
        let bench = try ContractBench()
        for index in 0..<40 { try bench.begin("activity-\(index)") }
        for index in 0..<20 { try bench.tell("activity-\(index)", "well") }
        bench.fail(500, "InternalServerError")
        for index in 20..<24 { try bench.tell("activity-\(index)", "sick") }
        bench.recover()
        #expect(bench.lane.openBreakers == 0)
        for index in 24..<40 { #expect(try bench.tell("activity-\(index)", "well").fate == .accepted) }
    }

    @Test("503 to everything: the pool pauses, probes alone at growing intervals, and the first 200 opens it")
    func outage() throws {
        let bench = try ContractBench()
        for index in 0..<10 { try bench.begin("activity-\(index)") }
        bench.fail(503, "ServiceUnavailable")
        for index in 0..<5 { try bench.tell("activity-\(index)", "first") }
        guard case .open(.server, let first) = bench.lane.breakerState(pool: 0) else {
            return #expect(Bool(false), "\(bench.lane.breakerState(pool: 0))")
        }
        for index in 0..<10 { try bench.status("activity-\(index)", "newest") }
        bench.expectQuiet()
        bench.pass(seconds: (first - bench.now) / 1_000 + 1)
        let count = bench.completions.count
        bench.run { bench.completions.count == count + 1 }
        bench.expectQuiet()
        guard case .open(.server, let second) = bench.lane.breakerState(pool: 0) else {
            return #expect(Bool(false), "\(bench.lane.breakerState(pool: 0))")
        }
        #expect(second - bench.now > 7_000)
        bench.recover()
        bench.pass(seconds: (second - bench.now) / 1_000 + 1)
        // Each with its newest state; the one that was refused with it as a probe waits its quarter of an hour.
        bench.run { bench.arrivals("newest").count >= 9 }
        #expect(bench.lane.openBreakers == 0)
        bench.pass(seconds: 1_100)
        bench.run { bench.arrivals("newest").count == 10 }
        #expect(bench.arrivals("first").isEmpty)
    }

    @Test("429 TooManyRequests for one token slows that one, longer each time, and no other")
    func throttledAlone() throws {
        let bench = try ContractBench(simulator: {
            $0.face.maxPushesPerToken = 2
            $0.face.pushWindowMilliseconds = 3_600_000
        })
        for activity in ["a", "b"] { try bench.begin(activity) }
        try bench.tell("a", "1")
        try bench.tell("a", "2")
        var holds: [Int64] = []
        try bench.status("a", "3")
        for round in 0..<3 {
            let count = bench.completions.count
            bench.run { bench.completions.count > count }
            guard case .held(let milliseconds)? = bench.completions.last?.fate else {
                return #expect(Bool(false), "\(String(describing: bench.completions.last?.fate))")
            }
            holds.append(milliseconds)
            try bench.status("a", "newer \(round)")
            bench.expectQuiet()
            if round < 2 { #expect(try bench.tell("b", "free \(round)").fate == .accepted) }
            bench.pass(seconds: milliseconds / 1_000 + 1)
        }
        #expect(holds[1] >= 2 * 30_000 && holds[2] >= 4 * 30_000)
    }

    @Test(
        "A provider that takes requests and never answers gets the same content a dozen times in eight hours, not a hundred"
    )
    func attemptCeiling() throws {
        let log = WireLog()
        let provider = try ScriptedProvider { request, _, kept in
            log.add(request)
            kept.append(request)
        }
        let bench = try ContractBench(provider) { $0.delivery.requestTimeoutMilliseconds = 20 }
        try bench.begin("a")
        try bench.status("a", "same")
        for _ in 0..<470 {
            bench.run { (bench.reports.now.streams[0] ?? 0) > 0 }
            bench.send()
            bench.run { bench.lane.inFlightCount == 0 }
            bench.pass(seconds: 60)
        }
        #expect((6...14).contains(log.all.count))
        #expect(Set(log.all.map { $0["apns-id"] }).count == 1)
    }
}
