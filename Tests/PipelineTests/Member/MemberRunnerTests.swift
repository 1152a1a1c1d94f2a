import Configuration
import Delivery
import Flow
import Instruments
import RedisFixture
import Testing

@testable import Pipeline

@Suite("A member that runs", .serialized)
struct MemberRunnerTests {
    /// With a Redis of its own and no provider. Each readiness, told four times a second, is one step.
    private final class Run {
        let server: RedisServer
        let stop = StopRequest()
        let runner: MemberRunner
        let registry = Registry()
        private var ticks = 0
        /// No expectation, only the end of a test that hangs.
        private static let mostTicks = 240

        init(_ server: RedisServer) throws {
            self.server = server
            let configuration = try Configuration(flags: [
                "source.redis.url=redis://127.0.0.1:\(server.port)", "source.redis.topics=rides",
                "source.redis.partitions=4", "source.redis.lease=1s", "source.redis.commandTimeout=500ms",
                "source.redis.group=g", "drainTimeout=100ms",
            ])
            let settings = RunSettings(
                lane: try LaneSettings(configuration, planTargets: false, seed: 1), pace: .live, pools: [],
                delivery: DeliveryOptions(configuration))
            runner = try MemberRunner(
                settings: settings, group: #require(try GroupRunSettings.streams(configuration)), registry: registry,
                log: Log(
                    component: "test", to: LogSink(level: .error, format: .json, registry: registry, output: { _ in })),
                stop: stop)
        }

        /// - Parameter step: is given what hinders the member, and says whether that was all.
        func run(_ step: @escaping (String?) throws -> Bool) -> RunEnding {
            runner.onReadiness = { [unowned self] hindrance in
                ticks += 1
                do {
                    guard try step(hindrance) || ticks > Run.mostTicks else { return }
                } catch {
                    Issue.record(error)
                }
                #expect(ticks <= Run.mostTicks, "never happened")
                runner.onReadiness = nil
                stop.stop()
            }
            return runner.run()
        }
    }

    @Test("writes the shape of its group again for a Redis that came back empty")
    func emptyRedis() throws {
        let run = try Run(RedisServer())
        var isEmptied = false
        let ending = run.run { hindrance in
            if !isEmptied, hindrance == nil {
                isEmptied = true
                try run.server.call("FLUSHALL")
                return false
            }
            return try isEmptied && run.server.call("HGET", "g:shape", "partitions") == .text("4")
        }
        #expect(ending == .drained)
    }

    @Test("is not ready in a Redis that came back with a group of another shape, and is when that is mended")
    func otherShape() throws {
        let run = try Run(RedisServer())
        var stage = 0
        let ending = run.run { hindrance in
            switch stage {
            case 0 where hindrance == nil:
                try run.server.call("FLUSHALL")
                try run.server.call("HSET", "g:shape", "partitions", "8", "topics", "rides")
                stage = 1
            case 1 where hindrance?.contains("has 8 partitions") == true:
                try run.server.call("DEL", "g:shape")
                stage = 2
            case 2: return hindrance == nil
            default: break
            }
            return false
        }
        #expect(ending == .drained)
    }

    @Test("has a lag that grows while Redis is away, also once its partitions are let go")
    func lagWithoutRedis() throws {
        let run = try Run(RedisServer())
        var isKilled = false
        var ages: [Int64] = []
        let ending = run.run { hindrance in
            if !isKilled, hindrance == nil {
                isKilled = true
                run.server.kill()
            }
            let owned = run.registry.snapshot().number("waypulse_partitions_owned")
            guard isKilled, hindrance != nil, owned == 0 else { return false }
            ages.append(run.registry.snapshot().number("waypulse_source_lag_seconds") ?? 0)
            return ages.count == 3
        }
        #expect(ending == .drained)
        #expect(ages.count == 3 && ages[0] > 0)
        #expect(ages == Set(ages).sorted())
    }
}
