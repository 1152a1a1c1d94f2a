import Flow
import Foundation
import HTTP2
import Instruments
import PushSimulator
import Sockets
import Synchronization
import Testing

@testable import Delivery

@Suite("A worker reports each job once, and leaves nothing behind")
struct WorkerTests {
    @Test("Stopped with requests under way: each is reported, before stop returns")
    func stopInFlight() throws {
        let provider = try SimulatedProvider()
        let bench = provider.bench
        bench.accept()
        provider.simulator.change {
            $0.slowShare = 1
            $0.slowMilliseconds = 3_600_000
        }
        bench.push(2...51)
        bench.reports.wait { _ in provider.simulator.heldRequests == 50 }
        bench.worker.stop()
        let endings = bench.reports.now.endings
        #expect((2...51).allSatisfy { endings[$0] == ["connection_lost"] })
        #expect(bench.reports.now.streams[0] == 0)
        #expect(bench.instruments.openConnections.value == 0)
        bench.reports.wait { _ in provider.simulator.openConnections == 0 }
    }

    @Test("After the end jobs come back unsent, and a second stop does nothing")
    func afterStop() throws {
        let provider = try SimulatedProvider()
        let bench = provider.bench
        bench.worker.stop()
        bench.worker.stop()
        bench.push(1...3)
        let endings = bench.reports.now.endings
        #expect((1...3).allSatisfy { endings[$0] == ["unsent"] })
    }

    @Test("Before the first connection stands jobs come back unsent")
    func beforeReady() throws {
        let provider = try SimulatedProvider { $0.faults.hangsInHandshake = true }
        #expect(provider.bench.ending(1) == ["unsent"])
    }

    @Test("Stopped at any moment while others submit: each job is reported exactly once", arguments: 0..<20)
    func stopRaces(round: UInt64) async throws {
        let provider = try SimulatedProvider {
            $0.faults.latencyMaxMilliseconds = 2
            $0.faults.refusedStreamShare = 0.1
        }
        let bench = provider.bench
        bench.waitForStreams(1)
        let worker = bench.worker
        await withTaskGroup(of: Void.self) { group in
            for part in 0..<4 {
                group.addTask {
                    for place in 1...100 { WorkerBench.push([UInt64(part * 100 + place)], through: worker) }
                }
            }
            let reports = bench.reports
            group.addTask {
                reports.wait { $0.endings.count >= Int(round) * 15 }
                worker.stop()
            }
        }
        let endings = bench.reports.now.endings
        #expect(endings.count == 400)
        #expect(endings.values.allSatisfy { $0.count == 1 })
    }

    @Test("What it was given is let go when it ends, also without a stop")
    func lifetime() throws {
        final class Witness: Sendable {}
        weak var witness: Witness?
        let simulator = try SimulatorServer()
        let port = try simulator.start()
        defer { simulator.stop() }
        for isStopped in [true, false] {
            let reports = ReportLog()
            do {
                let held = Witness()
                witness = held
                let pool = PoolSettings(
                    app: "courier", host: "127.0.0.1", port: port, topic: "t",
                    tls: try .client(),
                    providerToken: ProviderToken(
                        teamIdentifier: "T", keyIdentifier: "K",
                        key: try SigningKey(pem: TestKeys.rfc7515, name: "key")))
                let worker = try Worker(
                    name: "short-lived", pools: [pool], options: DeliveryOptions(),
                    instruments: DeliveryInstruments(registry: Registry()),
                    log: Log(component: "delivery", to: LogSink(level: .error, format: .json, output: { _ in })),
                    reports: { [held] new in
                        withExtendedLifetime(held) { reports.add(new) }
                    })
                if isStopped { worker.stop() }
            }
            #expect(witness == nil)
        }
    }

    @Test("Two pools do not disturb each other: one provider is gone, the other takes pushes")
    func pools() throws {
        let alive = try ScriptedProvider()
        var tls = TLSContext.ClientOptions()
        tls.authorityPEM = ScriptedProvider.authority
        let key = try SigningKey(pem: TestKeys.rfc7515, name: "key")
        func pool(_ app: String, _ port: UInt16) throws -> PoolSettings {
            PoolSettings(
                app: app, host: "127.0.0.1", port: port, topic: "t", tls: try .client(tls),
                providerToken: ProviderToken(teamIdentifier: "T", keyIdentifier: "K", key: key))
        }
        // Nobody listens on port 1.
        let pools = [try pool("gone", 1), try pool("alive", alive.port)]
        let reports = ReportLog()
        let instruments = DeliveryInstruments(registry: Registry())
        let worker = try Worker(
            name: "two-pools", pools: pools, options: DeliveryOptions(), instruments: instruments,
            log: Log(component: "delivery", to: LogSink(level: .error, format: .json, output: { _ in })),
            reports: { reports.add($0) })
        defer { worker.stop() }
        reports.wait { $0.streams[1] == 1 && instruments.connections.total(.failed) > 0 }
        var batch = JobBatch()
        for pool in 0...1 {
            batch.add(
                identifier: UInt64(pool + 1), pool: pool, headers: WorkerBench.headers(1), body: WorkerBench.body(1))
        }
        worker.submit(&batch)
        let endings = reports.wait { $0.hasEnded(1...2) }.endings
        #expect(endings == [1: ["unsent"], 2: ["200"]])
    }
}
