import Configuration
import Delivery
import Flow
import Instruments
import Registration
import Sockets
import Streams
import Telemetry
import Testing

@testable import Pipeline

@Suite("Registrations beside a recording")
struct RecordingDeskTests {
    /// A run on a thread of its own, and its desk.
    private final class Bench {
        let desk: RecordingDesk
        private let stop = StopRequest()
        private let thread: LoopThread

        /// The recording begins, and its second record comes an hour later: nothing but registrations happens meanwhile.
        init(pace: Pace = .times(1)) throws {
            let configuration = try Configuration(flags: ["drainTimeout=100ms"])
            let lane = try LaneSettings(configuration, planTargets: false, seed: 1)
            var settings = RunSettings(lane: lane, pace: pace, pools: [], delivery: DeliveryOptions(configuration))
            settings.drainTimeoutMilliseconds = 100
            let lines = """
                {"type":"activity.started","activityId":"ride","timestamp":1773000600,"attributesType":"RideAttributes","contentState":{"status":"on the way"}}
                {"type":"status","activityId":"ride","timestamp":1773004200,"status":"there"}

                """
            let registry = Registry()
            let runner = try LaneRunner(
                settings: settings,
                recordings: MergedRecordings([Recording(name: "test", bytes: Array(lines.utf8), apps: [])]),
                registry: registry,
                log: Log(component: "test", to: LogSink(level: .error, format: .json, output: { _ in })),
                stop: stop)
            desk = RecordingDesk(
                settings: DeskSettings(apps: ["rider"], shard: lane.shard), mailbox: runner.questions,
                registry: registry)
            nonisolated(unsafe) let running = runner
            thread = try LoopThread.start(name: "lane") { loop in
                _ = try? running.run()
                loop.stop()
            }
        }

        func end() {
            stop.stop()
            thread.join()
            desk.stop(withinMilliseconds: 100)
        }

        func register(_ activity: String, _ token: UInt8?, at milliseconds: Int64) async -> RegistrationOutcome {
            let registration = UpdateTokenRegistration(
                activityIdentifier: activity, token: token.map { PushToken(number: $0) }, atMilliseconds: milliseconds)
            return await withCheckedContinuation { told in desk.register(registration) { told.resume(returning: $0) } }
        }

        func register(user: String, _ token: UInt8, app: String? = nil) async -> RegistrationOutcome {
            let registration = StartTokenRegistration(
                user: user, attributesType: "RideAttributes", token: PushToken(number: token), app: app,
                atMilliseconds: 1_900_000_000_000)
            return await withCheckedContinuation { told in desk.register(registration) { told.resume(returning: $0) } }
        }

        func state(_ activity: String) async -> StateOutcome {
            await withCheckedContinuation { told in desk.state(of: activity) { told.resume(returning: $0) } }
        }

        func explanation(_ activity: String) async -> ExplanationOutcome {
            await withCheckedContinuation { told in desk.explanation(of: activity) { told.resume(returning: $0) } }
        }
    }

    @Test("go straight into the lane, on the recording's own clock", .timeLimit(.minutes(1)))
    func straight() async throws {
        let bench = try Bench()
        defer { bench.end() }
        var view = await bench.state("ride").view
        while view == nil { view = await bench.state("ride").view }
        #expect(view?.stage == .waitingForToken)
        #expect(view?.ageMilliseconds == 0)
        // Registered years after the recording, as its clock has it.
        #expect(await bench.register("ride", 1, at: 1_900_000_000_000) == .appended)
        #expect(await bench.state("ride").view?.stage == .active)
        #expect(await bench.register(user: "ann", 1) == .stored)
        #expect(await bench.register(user: "ann", 1, app: "driver").problem == "no app is called \"driver\"")
        #expect(await bench.state("nobody") == .unknown)
        let text = try #require(await bench.explanation("ride").text)
        #expect(text.contains(#""text":"update token 0101"#) && !text.contains(PushToken(number: 1).hex))
    }

    @Test("are told when the run is over")
    func over() async throws {
        let bench = try Bench()
        bench.end()
        #expect(await bench.register("ride", 1, at: 1_900_000_000_000) == .unavailable(DeskWords.stopping))
        #expect(await bench.state("ride") == .unavailable(DeskWords.stopping))
        #expect(await bench.explanation("ride") == .unavailable(DeskWords.stopping))
    }
}
