import KafkaFixture
import RedisFixture
import Registration
import Streams
import Testing

@testable import Pipeline

@Suite("What a desk says of an activity", .serialized)
struct OwnerQuestionsTests {
    /// An activity that began long ago would have ended by itself.
    private static let now = RunClock.wallMilliseconds()
    private static let started = """
        {"type":"activity.started","activityId":"ride","timestamp":\(now / 1_000),"attributesType":"RideAttributes",\
        "contentState":{"status":"on the way"}}
        """
    private static let own = KeyPlacement(partitions: DeskBench.partitions).partition(of: "ride")

    private func add(_ server: RedisServer, _ event: String, key: String = "ride", to partition: Int32 = own) throws {
        try server.call("XADD", "rides:{\(partition)}", "*", "key", key, "event", event)
    }

    @Test(
        "the owner tells what is in its memory, and a registered token reaches it; another member tells the checkpoint, with its age"
    )
    func streams() async throws {
        let owner = try DeskBench(runs: true)
        try add(owner.server, Self.started)
        let waiting = try await owner.state("ride") { $0.ageMilliseconds == 0 }
        #expect(waiting.stage == .waitingForToken)
        #expect(waiting.attributesType == "RideAttributes")
        #expect(String(decoding: waiting.contentState, as: UTF8.self).contains(#""status":"on the way""#))
        #expect(await owner.explanation("ride").text?.contains("has not registered an update token") == true)
        #expect(await owner.state("nobody") == .unknown)
        #expect(await owner.explanation("nobody") == .unknown)

        let other = try DeskBench(owner.server, name: "second")
        defer { other.end() }
        #expect(await other.register("ride", 1, at: Self.now + 1) == .appended)
        let active = try await owner.state("ride") { $0.stage == .active }
        #expect(active.ageMilliseconds == 0)
        #expect(await owner.explanation("ride").text?.contains(PushTokenText.whole) == false)

        let seen = try await other.state("ride") { $0.stage == .active }
        #expect(seen.contentState == active.contentState)
        #expect(seen.ageMilliseconds > 0)
        guard case .elsewhere(let member, nil) = await other.explanation("ride") else {
            Issue.record("\(await other.explanation("ride"))")
            owner.end()
            return
        }
        #expect(member == owner.group.group.member)
        #expect(await other.state("nobody") == .unknown)

        owner.end()
        #expect(await other.state("ride").view?.stage == .active, "nobody owns it, and it is still known")
        #expect(await other.explanation("ride").text?.contains(#""activityId":"ride""#) == true)
    }

    @Test("an activity under a subject's key is found where it is once it has begun")
    func follower() async throws {
        let owner = try DeskBench(runs: true)
        defer { owner.end() }
        let elsewhere = (Self.own + 1) % DeskBench.partitions
        let follower = Self.started.dropLast() + #","follows":"courier 7"}"#
        try add(owner.server, String(follower), key: "courier 7", to: elsewhere)
        // As its owner says at the beginning.
        while try owner.server.call("HGET", "g:activity:ride", "partition") != .text("\(elsewhere)") {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try owner.server.call("HGET", "g:activity:ride", "key") == .text("courier 7"))
        let view = try await owner.state("ride") { $0.ageMilliseconds == 0 }
        #expect(view.stage == .waitingForToken)
        #expect(await owner.register("ride", 1, at: Self.now + 1) == .appended)
        #expect(try await owner.state("ride") { $0.stage == .active }.ageMilliseconds == 0)
        #expect(owner.metrics.snapshot().number("waypulse_registry_requests_total", "begin") == 1)
    }

    @Test("a token that was registered before its activity is its own from the beginning, under whatever key")
    func before() async throws {
        let owner = try DeskBench(runs: true)
        defer { owner.end() }
        let elsewhere = (Self.own + 1) % DeskBench.partitions
        #expect(await owner.register("ride", 1, at: Self.now - 5_000) == .appended)
        try add(owner.server, Self.started, key: "courier 7", to: elsewhere)
        #expect(try await owner.state("ride") { $0.stage == .active }.ageMilliseconds == 0)
    }

    @Test("an owner whose lease has lapsed tells the checkpoint at most")
    func fenced() async throws {
        let owner = try DeskBench(runs: true)
        defer { owner.end() }
        try add(owner.server, Self.started)
        _ = try await owner.state("ride") { $0.ageMilliseconds == 0 }
        try owner.server.call("SET", "g:{\(Self.own)}:lease", "another")
        try owner.server.call("SET", "g:{\(Self.own)}:epoch", "9000000000000000")
        let view = try await owner.state("ride") { $0.ageMilliseconds > 0 }
        #expect(view.stage == .waitingForToken)
        #expect(await owner.explanation("ride") == .elsewhere(member: "another", address: nil))
    }

    @Test(
        "with topics of Kafka a registered token reaches the owner as well; brokers that are away are told, and waited for"
    )
    func kafka() async throws {
        let cluster = MockCluster()
        cluster.make(topic: "rides", partitions: Int(DeskBench.partitions))
        let owner = try DeskBench(cluster: cluster, runs: true)
        defer { owner.end() }
        // Under another key than its own: what brings the token there is the desk of another member.
        let elsewhere = (Self.own + 1) % DeskBench.partitions
        let other = try DeskBench(owner.server, cluster: cluster, name: "second") { $0.patienceMilliseconds = 2_000 }
        defer { other.end() }
        let producer = try EventProducer(cluster)
        try producer.append(Self.started, key: "courier 7", to: elsewhere)
        let waiting = try await owner.state("ride") { $0.ageMilliseconds == 0 }
        #expect(waiting.stage == .waitingForToken)
        while try owner.server.call("HGET", "g:activity:ride", "partition") != .text("\(elsewhere)") {
            try await Task.sleep(for: .milliseconds(5))
        }
        let registered = await other.register("ride", 1, at: Self.now + 1)
        try #require(registered == .appended)
        #expect(try await owner.state("ride") { $0.stage == .active }.ageMilliseconds == 0)

        cluster.takeDown(broker: -1)
        #expect(await other.register("ride", 2, at: Self.now + 2).problem != nil)
        cluster.bringUp(broker: -1)
        var outcome = await other.register("ride", 3, at: Self.now + 3)
        while outcome.problem != nil { outcome = await other.register("ride", 3, at: Self.now + 3) }
        #expect(outcome == .appended)
    }
}

/// The token that tests register as number 1.
private enum PushTokenText {
    static let whole = String(repeating: "01", count: 32)
}
