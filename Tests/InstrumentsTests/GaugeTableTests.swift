import Testing

@testable import Instruments

@Suite("A table of gauges")
struct GaugeTableTests {
    private let registry = Registry()

    @Test("has a series for each row that has a value, and none for what is gone")
    func rows() {
        let table = registry.table(
            labelNames: ["topic", "partition"],
            columns: [
                GaugeTable.Column("waypulse_read_offset", help: "Read."),
                GaugeTable.Column("waypulse_age_seconds", unit: .milliseconds, help: "Age."),
            ])
        #expect(registry.snapshot().number("waypulse_read_offset", "rides", "0") == nil)
        table.set([
            GaugeTable.Row(labels: ["rides", "0"], values: [12, 1_500]),
            GaugeTable.Row(labels: ["rides", "1"], values: [nil, 0]),
        ])
        let text = String(decoding: registry.snapshot().prometheusText(), as: UTF8.self)
        #expect(text.contains("waypulse_read_offset{topic=\"rides\",partition=\"0\"} 12\n"))
        #expect(text.contains("waypulse_age_seconds{topic=\"rides\",partition=\"0\"} 1.5\n"))
        #expect(!text.contains("waypulse_read_offset{topic=\"rides\",partition=\"1\"}"))
        #expect(text.contains("waypulse_age_seconds{topic=\"rides\",partition=\"1\"} 0\n"))

        table.set([])
        #expect(registry.snapshot().seriesCount == 0)
    }
}
