import Foundation
import Testing

@testable import Instruments

@Suite struct ExpositionTests {
    private let registry = Registry()
    private let snapshot: Snapshot

    init() {
        let decisions = registry.counter(
            "waypulse_decisions_total", by: Decision.self, help: "How each\nevent \\ ended.")
        let glass = registry.histogram(
            "waypulse_glass_seconds", by: Urgency.self, unit: .microseconds, bounds: [1_000, 50_000, 1_000_000],
            help: "Event read to accepted.")
        let lag = registry.gauge("waypulse_lag_seconds", unit: .milliseconds, help: "Lag.")
        registry.observed("process_open_fds", help: "Open files.") { 12 }
        decisions.add(3, .sent)
        decisions.add(1, .outOfOrder)
        let writer = glass.writer()
        for value in [Int64(900), 40_000, 40_000, 2_000_000] { writer.record(value, .urgent) }
        lag.set(1_250)
        snapshot = registry.snapshot()
    }

    @Test func prometheusReadsEveryMetricInBaseUnits() {
        #expect(
            String(decoding: snapshot.prometheusText(), as: UTF8.self) == """
                # HELP waypulse_decisions_total How each\\nevent \\\\ ended.
                # TYPE waypulse_decisions_total counter
                waypulse_decisions_total{decision="sent"} 3
                waypulse_decisions_total{decision="deadband"} 0
                waypulse_decisions_total{decision="out_of_order"} 1
                # HELP waypulse_glass_seconds Event read to accepted.
                # TYPE waypulse_glass_seconds histogram
                waypulse_glass_seconds_bucket{class="routine",le="0.001"} 0
                waypulse_glass_seconds_bucket{class="routine",le="0.05"} 0
                waypulse_glass_seconds_bucket{class="routine",le="1"} 0
                waypulse_glass_seconds_bucket{class="routine",le="+Inf"} 0
                waypulse_glass_seconds_sum{class="routine"} 0
                waypulse_glass_seconds_count{class="routine"} 0
                waypulse_glass_seconds_bucket{class="urgent",le="0.001"} 1
                waypulse_glass_seconds_bucket{class="urgent",le="0.05"} 3
                waypulse_glass_seconds_bucket{class="urgent",le="1"} 3
                waypulse_glass_seconds_bucket{class="urgent",le="+Inf"} 4
                waypulse_glass_seconds_sum{class="urgent"} 2.0809
                waypulse_glass_seconds_count{class="urgent"} 4
                # HELP waypulse_lag_seconds Lag.
                # TYPE waypulse_lag_seconds gauge
                waypulse_lag_seconds 1.25
                # HELP process_open_fds Open files.
                # TYPE process_open_fds gauge
                process_open_fds 12

                """)
    }

    @Test func reportsReadTheSameNumbersAsJSON() throws {
        let parsed = try #require(
            JSONSerialization.jsonObject(with: Data(snapshot.json())) as? [String: [[String: Any]]])
        #expect(parsed["waypulse_decisions_total"]?[2]["value"] as? Int == 1)
        #expect(parsed["waypulse_decisions_total"]?[2]["labels"] as? [String: String] == ["decision": "out_of_order"])
        let urgent = try #require(parsed["waypulse_glass_seconds"]?[1])
        #expect(urgent["count"] as? Int == 4)
        #expect(urgent["max"] as? Double == 2)
        #expect(urgent["p99"] as? Double == 2)
        #expect(parsed["waypulse_glass_seconds"]?[0]["p50"] is NSNull)
        #expect(parsed["waypulse_lag_seconds"]?[0]["value"] as? Double == 1.25)
    }

    @Test func aSnapshotIsAskedByNameAndLabels() {
        #expect(snapshot.number("waypulse_decisions_total", "sent") == 3)
        #expect(snapshot.number("waypulse_decisions_total", "lost") == nil)
        #expect(snapshot.number("waypulse_decisions_total") == nil)
        #expect(snapshot.number("waypulse_glass_seconds", "urgent") == nil)
        #expect(snapshot.distribution("waypulse_glass_seconds", "urgent")?.count == 4)
        #expect(snapshot.number("process_open_fds") == 12)
    }

    @Test func theNumberOfSeriesIsKnownFromTheLabels() {
        #expect(snapshot.seriesCount == 3 + 2 + 1 + 1)
        #expect(snapshot.names.count == 4)
    }

    @Test func aSnapshotStaysAsItWasTaken() {
        let counter = registry.counter("waypulse_later_total", help: "Later.")
        let before = registry.snapshot()
        counter.add(5)
        #expect(before.number("waypulse_later_total") == 0)
        #expect(registry.snapshot().number("waypulse_later_total") == 5)
    }
}

@Suite struct DeclarationTests {
    @Test func aNameThatBreaksTheRulesTraps() async {
        await #expect(processExitsWith: .failure) { _ = Registry().counter("waypulse_sends", help: "No _total.") }
        await #expect(processExitsWith: .failure) {
            _ = Registry().gauge("waypulse_lag", unit: .seconds, help: "No unit.")
        }
        await #expect(processExitsWith: .failure) {
            _ = Registry().gauge("lag_seconds", unit: .seconds, help: "No prefix.")
        }
        await #expect(processExitsWith: .failure) { _ = Registry().gauge("waypulse_Lag", help: "Capitals.") }
        await #expect(processExitsWith: .failure) { _ = Registry().gauge("waypulse_lag", help: "") }
    }

    @Test func aNameDeclaredTwiceTraps() async {
        await #expect(processExitsWith: .failure) {
            let registry = Registry()
            _ = registry.gauge("waypulse_lag", help: "Lag.")
            _ = registry.gauge("waypulse_lag", help: "Lag.")
        }
    }
}
