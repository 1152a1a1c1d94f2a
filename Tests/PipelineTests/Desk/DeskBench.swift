import Configuration
import Delivery
import Flow
import Instruments
import KafkaClient
import KafkaFixture
import RedisClient
import RedisFixture
import Registration
import Sockets
import Telemetry
import Testing

@testable import Pipeline

/// The desk of a group's member with a Redis, perhaps topics of Kafka, and perhaps the member itself on a thread of its own.
// What is no Sendable of it is used by one test, or by the thread of the member alone.
final class DeskBench: @unchecked Sendable {
    let server: RedisServer
    let desk: MemberDesk
    let group: GroupRunSettings
    let metrics = Registry()
    private let runner: MemberRunner?
    private let stop = StopRequest()
    private let thread: LoopThread?

    static let partitions: Int32 = 4

    /// - Parameters:
    ///   - cluster: has the topic `rides` with four partitions; nil for streams.
    ///   - runs: whether the member lives.
    init(
        _ server: RedisServer? = nil, cluster: MockCluster? = nil, runs: Bool = false, name: String = "first",
        change: (inout DeskSettings) -> Void = { _ in }
    ) throws {
        let server = try server ?? RedisServer()
        self.server = server
        let redis = "redis://127.0.0.1:\(server.port)"
        var flags = ["drainTimeout=100ms", "source.member=\(name)"]
        if let cluster {
            flags += [
                "source.kafka.bootstrapServers=\(cluster.bootstrapServers.joined(separator: ","))",
                "source.kafka.topics=rides", "source.kafka.group=g", "source.kafka.sessionTimeout=4s",
                "source.kafka.lease=2s", "storage.redis.url=\(redis)", "storage.redis.commandTimeout=1s",
                "storage.redis.reconnectDelayMax=50ms", "storage.redis.reconnectDelay=10ms",
            ]
        } else {
            flags += [
                "source.redis.url=\(redis)", "source.redis.topics=rides", "source.redis.partitions=\(Self.partitions)",
                "source.redis.lease=2s", "source.redis.group=g", "source.redis.commandTimeout=1s",
                "source.redis.reconnectDelayMax=50ms", "source.redis.reconnectDelay=10ms",
            ]
        }
        let configuration = try Configuration(flags: flags)
        let lane = try LaneSettings(configuration, planTargets: false, seed: 1)
        var run = RunSettings(lane: lane, pace: .live, pools: [], delivery: DeliveryOptions(configuration))
        run.drainTimeoutMilliseconds = 100
        let log = Log(component: "test", to: LogSink(level: .error, format: .json, output: { _ in }))
        if var kafka = try KafkaSourceSettings(configuration) {
            kafka.kafka.properties["fetch.wait.max.ms"] = "10"
            kafka.kafka.properties["reconnect.backoff.ms"] = "10"
            kafka.kafka.properties["reconnect.backoff.max.ms"] = "50"
            group = try #require(
                try GroupRunSettings.kafka(configuration, kafka, partitions: Int(Self.partitions)))
        } else {
            group = try #require(try GroupRunSettings.streams(configuration))
        }
        var settings = DeskSettings(apps: ["rider"], shard: lane.shard)
        change(&settings)
        guard runs else {
            (runner, thread) = (nil, nil)
            let nobody = LaneMailbox(wakeup: Wakeup())
            nobody.close()
            let connections = ConnectionInstruments(
                redis: RedisInstruments(registry: metrics), kafka: KafkaInstruments(registry: metrics))
            desk = try MemberDesk(
                settings: settings, group: group, mailbox: nobody, connections: connections, registry: metrics,
                log: log)
            return
        }
        let runner = try MemberRunner(settings: run, group: group, registry: metrics, log: log, stop: stop)
        self.runner = runner
        desk = try MemberDesk(
            settings: settings, group: group, mailbox: runner.questions,
            connections: runner.connectionInstruments, registry: metrics, log: log)
        // Used by that thread alone, until it is joined.
        nonisolated(unsafe) let running = runner
        thread = try LoopThread.start(name: "member") { loop in
            _ = running.run()
            loop.stop()
        }
    }

    func end() {
        stop.stop()
        thread?.join()
        desk.stop(withinMilliseconds: 1_000)
    }

    // MARK: Asking

    func register(
        _ activity: String, _ token: UInt8?, at milliseconds: Int64, isRevoked: Bool = false, app: String? = nil
    ) async -> RegistrationOutcome {
        let registration = UpdateTokenRegistration(
            activityIdentifier: activity, token: token.map { PushToken(number: $0) }, isRevoked: isRevoked, app: app,
            atMilliseconds: milliseconds)
        return await withCheckedContinuation { told in desk.register(registration) { told.resume(returning: $0) } }
    }

    func register(
        user: String, _ token: UInt8?, at milliseconds: Int64, app: String? = nil
    ) async -> RegistrationOutcome {
        let registration = StartTokenRegistration(
            user: user, attributesType: "RideAttributes", token: token.map { PushToken(number: $0) }, app: app,
            atMilliseconds: milliseconds)
        return await withCheckedContinuation { told in desk.register(registration) { told.resume(returning: $0) } }
    }

    func state(_ activity: String) async -> StateOutcome {
        await withCheckedContinuation { told in desk.state(of: activity) { told.resume(returning: $0) } }
    }

    func explanation(_ activity: String) async -> ExplanationOutcome {
        await withCheckedContinuation { told in desk.explanation(of: activity) { told.resume(returning: $0) } }
    }

    /// Asks until it is so. It is no expectation of a time, only the end of a test that hangs.
    func state(_ activity: String, until isSo: (ActivityStateView) -> Bool) async throws -> ActivityStateView {
        for _ in 1...2_000 {
            if case .known(let view) = await state(activity), isSo(view) { return view }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Never(what: "\(await state(activity))")
    }

    struct Never: Error { let what: String }

    // MARK: What is in the streams

    struct Entry: Equatable {
        let key: String
        let event: String
    }

    /// By partition.
    func entries() throws -> [Int32: [Entry]] {
        var found: [Int32: [Entry]] = [:]
        for partition in 0..<Self.partitions {
            let entries = try server.call("XRANGE", "rides:{\(partition)}", "-", "+").elements
            guard !entries.isEmpty else { continue }
            found[partition] = entries.map { entry in
                let fields = entry.elements[1].elements.map { $0.text ?? "" }
                #expect([fields[0], fields[2]] == ["key", "event"])
                return Entry(key: fields[1], event: fields[3])
            }
        }
        return found
    }
}

extension PushToken {
    init(number: UInt8) { self.init(bytes: Array(repeating: number, count: 32)) }
}

extension RegistrationOutcome {
    var problem: String? { if case .unavailable(let problem) = self { problem } else { nil } }
}

extension StateOutcome {
    var view: ActivityStateView? { if case .known(let view) = self { view } else { nil } }
}

extension ExplanationOutcome {
    var text: String? { if case .known(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { nil } }
}
