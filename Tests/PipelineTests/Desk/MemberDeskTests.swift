import RedisFixture
import Registration
import Streams
import Synchronization
import Telemetry
import Testing

@testable import Pipeline

@Suite("Where a member's desk puts registrations, with streams")
struct MemberDeskTests {
    private static let own = KeyPlacement(partitions: DeskBench.partitions).partition(of: "ride")
    private static let token = String(repeating: "01", count: 32)

    @Test("a token of an activity that has not begun is kept, and appended under the activity's own id")
    func unbegun() async throws {
        let bench = try DeskBench()
        defer { bench.end() }
        #expect(await bench.register("ride", 1, at: 1_773_000_600_500) == .appended)
        let entries = try bench.entries()
        #expect(entries.mapValues { $0.map(\.key) } == [Self.own: ["ride"]])
        let bytes = Array(try #require(entries[Self.own]).first!.event.utf8)
        var decoder = EventDecoder(apps: ["rider"])
        try bytes.withUnsafeBytes { bytes in
            let event = try decoder.decode(bytes)
            #expect(event.kind == .token)
            #expect(String(decoding: event.identifier, as: UTF8.self) == "ride")
            #expect(event.timestampMilliseconds == 1_773_000_600_500)
            #expect(event.eventIdentifierHash != 0)
            #expect(event.detail?.target == .updateToken(PushToken(number: 1)))
        }
        #expect(try bench.server.call("HGET", "g:activity:ride", "token") == .text(Self.token))
        #expect(bench.metrics.snapshot().number("waypulse_registrations_total", "appended") == 1)
    }

    @Test("the same registration is the same event, and another is another")
    func sameEvent() {
        func event(_ token: UInt8, at: Int64, frequent: Bool? = nil, isRevoked: Bool = false) -> [UInt8] {
            TokenEvent(
                UpdateTokenRegistration(
                    activityIdentifier: "ride \"7\"", token: PushToken(number: token), isRevoked: isRevoked,
                    frequentUpdates: frequent, atMilliseconds: at)
            ).bytes
        }
        #expect(event(1, at: 100) == event(1, at: 100))
        let others = [
            event(1, at: 100), event(2, at: 100), event(1, at: 101), event(1, at: 100, frequent: true),
            event(1, at: 100, frequent: false), event(1, at: 100, isRevoked: true),
        ].map { bytes in
            bytes.withUnsafeBytes { bytes in
                var decoder = EventDecoder(apps: [])
                return (try? decoder.decode(bytes))?.eventIdentifierHash ?? 0
            }
        }
        #expect(Set(others).count == others.count)
    }

    @Test("a token of an activity that has begun goes where its events go, and nowhere else")
    func begun() async throws {
        let bench = try DeskBench()
        defer { bench.end() }
        let elsewhere = (Self.own + 1) % DeskBench.partitions
        try bench.server.call("HSET", "g:activity:ride", "key", "courier 7", "partition", "\(elsewhere)")
        #expect(await bench.register("ride", 1, at: 100_000) == .appended)
        #expect(await bench.register("ride", nil, at: 200_000) == .appended)
        let entries = try bench.entries()
        #expect(entries.mapValues { $0.map(\.key) } == [elsewhere: ["courier 7", "courier 7"]])
        let revoked = try #require(entries[elsewhere]).last!.event
        #expect(revoked.contains(#""revoked":true"#) && !revoked.contains(#""token":""#))
        #expect(try bench.server.call("HEXISTS", "g:activity:ride", "token") == .integer(0))
    }

    @Test("a place that no partition of the group is, is none")
    func impossiblePlace() async throws {
        let bench = try DeskBench()
        defer { bench.end() }
        try bench.server.call("HSET", "g:activity:ride", "key", "courier 7", "partition", "4")
        #expect(await bench.register("ride", 1, at: 100_000) == .appended)
        #expect(try bench.entries().mapValues { $0.map(\.key) } == [Self.own: ["ride"]])
    }

    @Test("what is superseded, and what names an app that nobody configured, is appended nowhere")
    func notAppended() async throws {
        let bench = try DeskBench()
        defer { bench.end() }
        #expect(await bench.register("ride", 2, at: 200_000) == .appended)
        #expect(await bench.register("ride", 1, at: 100_000) == .superseded)
        #expect(await bench.register("ride", 3, at: 300_000, app: "driver").problem == "no app is called \"driver\"")
        #expect(try bench.entries().values.map(\.count) == [1])
    }

    @Test("a user's start token goes into the registry, by its time, and into no stream")
    func startTokens() async throws {
        let bench = try DeskBench { $0.apps = ["rider", "driver"] }
        defer { bench.end() }
        #expect(await bench.register(user: "ann", 2, at: 200_000, app: "driver") == .stored)
        #expect(await bench.register(user: "ann", 1, at: 100_000, app: "driver") == .superseded)
        #expect(await bench.register(user: "ann", 1, at: 100_000).problem?.contains("names none") == true)
        #expect(try bench.server.call("HGET", "g:user:driver:ann", "type") == .text("RideAttributes"))
        #expect(await bench.register(user: "ann", nil, at: 300_000, app: "driver") == .stored)
        #expect(try bench.server.call("HEXISTS", "g:user:driver:ann", "token") == .integer(0))
        #expect(try bench.entries().isEmpty)
    }

    @Test("without Redis nothing is promised, and once it is back all goes on")
    func redisGone() async throws {
        let bench = try DeskBench()
        defer { bench.end() }
        #expect(await bench.register("ride", 1, at: 100_000) == .appended)
        bench.server.kill()
        #expect(
            await bench.register("ride", 2, at: 200_000).problem?.contains("127.0.0.1:\(bench.server.port)") == true)
        #expect(await bench.register(user: "ann", 2, at: 200_000).problem != nil)
        guard case .unavailable = await bench.state("ride") else {
            Issue.record("something is known without Redis")
            return
        }
        try bench.server.start()
        var outcome = await bench.register("ride", 3, at: 300_000)
        while outcome.problem != nil { outcome = await bench.register("ride", 3, at: 300_000) }
        #expect(outcome == .appended)
        #expect(try bench.entries()[Self.own]?.last?.event.contains(PushToken(number: 3).hex) == true)
    }

    @Test("a full Redis takes nothing, and says what to do; a stream of another type as well")
    func refused() async throws {
        let bench = try DeskBench()
        defer { bench.end() }
        try bench.server.call("CONFIG", "SET", "maxmemory", "100kb")
        #expect(await bench.register("ride", 1, at: 100_000).problem?.contains("raise maxmemory") == true)
        try bench.server.call("CONFIG", "SET", "maxmemory", "0")
        try bench.server.call("LPUSH", "rides:{\(Self.own)}", "x")
        let problem = await bench.register("ride", 1, at: 100_000).problem
        #expect(problem?.contains("XADD to rides:{\(Self.own)}") == true)
        #expect(problem?.contains(Self.token) == false)
        try bench.server.call("DEL", "rides:{\(Self.own)}")
        #expect(await bench.register("ride", 1, at: 100_000) == .appended, "the same may be sent again")
    }

    @Test("so many wait and no more; each is told what became of it")
    func overloaded() async throws {
        let bench = try DeskBench { $0.mostWaiting = 2 }
        defer { bench.end() }
        bench.server.freeze()
        let told = Mutex<[RegistrationOutcome]>([])
        for number in 1...3 {
            bench.desk.register(
                UpdateTokenRegistration(
                    activityIdentifier: "ride", token: PushToken(number: UInt8(number)), atMilliseconds: 100_000)
            ) { outcome in
                told.withLock { $0.append(outcome) }
            }
        }
        #expect(told.withLock { $0 } == [.overloaded], "at once, while the others wait")
        bench.server.thaw()
        while told.withLock({ $0.count }) < 3 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(told.withLock { $0 }.dropFirst().allSatisfy { $0 != .overloaded })
        #expect(await bench.register("other", 1, at: 100_000) != .overloaded)
    }

    @Test("who stops takes nothing more, and tells those who wait")
    func stopping() async throws {
        let bench = try DeskBench()
        bench.server.freeze()
        async let waiting = bench.register("ride", 1, at: 100_000)
        try await Task.sleep(for: .milliseconds(20))
        bench.desk.stop(withinMilliseconds: 10)
        bench.server.thaw()
        #expect(await waiting.problem != nil)
        #expect(await bench.register("ride", 2, at: 200_000) == .unavailable(DeskWords.stopping))
        guard case .unavailable = await bench.state("ride") else {
            Issue.record("a desk that has stopped knows something")
            return
        }
    }
}
