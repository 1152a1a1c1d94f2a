import Delivery
import PushSimulator
import Synchronization
import Testing

@testable import Pipeline

/// Goal: no fault of the provider costs a final state or the order of updates. Method: forty deliveries through the whole path, over TLS, at 150
/// times their speed, while the simulator misbehaves; its journal is judged.
@Suite("A run survives what a provider can do to it", .serialized)
struct LaneRunnerFaultTests {
    @Test("Nothing wrong")
    func nothing() throws {
        let run = try FaultRun(steps: [])
        run.expectGood()
        #expect(run.count("waypulse_connection_events_total", "lost") == 0)
    }

    @Test("GOAWAY in mid-load, also twice, also with streams that are never answered")
    func goAway() throws {
        let run = try FaultRun(
            simulator: { $0.faults.latencyMaxMilliseconds = 20 },
            steps: [
                .atRequests(15) { $0.drain(Drain(unprocessedStreams: 5)) },
                .atRequests(30) { $0.drain(Drain(unprocessedStreams: 5, isTwice: true)) },
                .atRequests(45) { $0.drain(Drain(unprocessedStreams: 5, abandonsOpenStreams: true)) },
                .atRequests(60) { $0.drain() },
            ])
        run.expectGood()
        #expect(run.count("waypulse_connection_events_total", "goaway") > 0)
    }

    @Test("REFUSED_STREAM for a third of all")
    func refusedStreams() throws {
        let run = try FaultRun(simulator: { $0.faults.refusedStreamShare = 0.33 }, steps: [])
        run.expectGood()
        #expect(run.count("waypulse_requests_total", "not_processed") > 0)
        #expect(run.count("waypulse_updates_total", "refused") == 0)
    }

    @Test("The stream limit falls from 1,000 to 1 and comes back")
    func streamLimit() throws {
        let run = try FaultRun(
            simulator: { $0.faults.latencyMaxMilliseconds = 10 },
            steps: [
                .atRequests(40) { $0.change { $0.streamLimit = 1 } },
                .afterTicks(4) { $0.change { $0.streamLimit = 1_000 } },
            ])
        run.expectGood()
        #expect(run.count("waypulse_connection_events_total", "lost") == 0)
    }

    @Test("Connections reset before, amid and after answers")
    func resets() throws {
        let run = try FaultRun(steps: [
            .atRequests(40) { simulator in
                simulator.change { faults in
                    faults.resetBeforeShare = 0.05
                    faults.resetAmidShare = 0.05
                    faults.resetAfterShare = 0.05
                }
            },
            .afterTicks(6) { simulator in
                simulator.change { faults in
                    faults.resetBeforeShare = 0
                    faults.resetAmidShare = 0
                    faults.resetAfterShare = 0
                }
            },
        ])
        run.expectGood()
        #expect(run.count("waypulse_connection_events_total", "lost") > 0)
    }

    @Test("503 to everything for a while")
    func unavailable() throws {
        let run = try FaultRun(steps: [
            .atRequests(40) { simulator in
                simulator.change { $0.errors = [.init(status: 503, reason: "ServiceUnavailable", share: 1)] }
            },
            .afterTicks(4) { $0.change { $0.errors = [] } },
        ])
        run.expectGood()
        #expect(run.count("waypulse_answers_total", "5xx") > 0)
    }

    @Test("A black hole for a while")
    func blackHole() throws {
        let run = try FaultRun(
            flags: [
                // Not shorter: a client that takes a busy simulator for dead closes on answers that the simulator believes delivered.
                "delivery.pingAfter=300ms", "delivery.pingTimeout=500ms", "delivery.connectTimeout=500ms",
            ],
            steps: [
                .atRequests(40) { $0.change { $0.isBlackHole = true } },
                .afterTicks(8) { simulator in
                    // What lies in its sockets is gone with it, else it would be read after what was sent later.
                    simulator.resetConnections()
                    simulator.change { $0.isBlackHole = false }
                },
            ])
        run.expectGood()
        #expect(run.count("waypulse_requests_total", "unknown") > 0)
    }

    @Test("Provider tokens expire in mid-load")
    func expiredProviderTokens() throws {
        let slept = SleptMinutes()
        let run = try FaultRun(
            token: slept.clock,
            steps: [
                .atRequests(40) { simulator in
                    slept.sleep(minutes: 30)
                    simulator.expireProviderTokens()
                }
            ])
        run.expectGood()
        #expect(run.registry.snapshot().number("waypulse_credential_renewals_total") == 1)
        #expect(run.entries.contains { $0.reason == "ExpiredProviderToken" })
    }

    @Test("A young provider token that is called expired ends the run instead of making a storm")
    func youngProviderTokenExpired() throws {
        let run = try FaultRun(steps: [.atRequests(40) { $0.expireProviderTokens() }])
        #expect(run.ending == .refusedCredentials)
        #expect(run.registry.snapshot().number("waypulse_credential_renewals_total") == 0)
        #expect(run.count("waypulse_alarms_total", "clock") > 0)
        // What was in flight, and probes.
        #expect(run.entries.count { $0.reason == "ExpiredProviderToken" } < 2 * FaultRun.fleet.options.activities)
    }

    @Test("Asked to stop in mid-load, it lets what is in flight end")
    func stop() throws {
        let stop = StopRequest()
        let run = try FaultRun(
            simulator: { $0.faults.latencyMaxMilliseconds = 20 }, stop: stop,
            steps: [.atRequests(60) { _ in stop.stop() }])
        #expect(run.ending == .drained)
        #expect(run.entries.allSatisfy { $0.fate == .answered })
        #expect(run.broken.allSatisfy { $0.promise == .finalStateTold })
        #expect(run.count("waypulse_updates_total", "accepted") == run.entries.count { $0.status == 200 })
    }

    /// The machine's clocks, with sleep in between.
    private final class SleptMinutes: Sendable {
        private let minutes = Atomic<Int64>(0)

        func sleep(minutes more: Int64) {
            minutes.add(more, ordering: .relaxed)
        }

        var clock: CredentialClock {
            CredentialClock(
                steadyMilliseconds: {
                    CredentialClock.real.steadyMilliseconds() + self.minutes.load(ordering: .relaxed) * 60_000
                },
                unixSeconds: CredentialClock.real.unixSeconds)
        }
    }
}
