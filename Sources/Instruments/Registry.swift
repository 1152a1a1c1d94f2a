import Synchronization

/// Everything the program counts, declared once each: name, help, unit and labels.
///
/// Names are full (`waypulse_decisions_total`) so that a search finds them. A name that breaks the Prometheus rules,
/// or one declared twice, is a programmer's error and traps.
public final class Registry: Sendable {
    private let metrics = Mutex<[Metric]>([])

    public init() {}

    public func counter<Labels: LabelSet>(
        _ name: String, by labels: Labels.Type, unit: MetricUnit = .one, help: String
    ) -> Counter<Labels> {
        precondition(name.hasSuffix("_total"), "the counter \(name) must end in _total")
        let bank = CellBank(count: Labels.series.count)
        declare(Metric(name, .counter, unit, help, Labels.self) { .numbers(bank.totals()) })
        return Counter(bank: bank)
    }

    public func counter(_ name: String, unit: MetricUnit = .one, help: String) -> Counter<NoLabel> {
        counter(name, by: NoLabel.self, unit: unit, help: help)
    }

    public func gauge<Labels: LabelSet>(
        _ name: String, by labels: Labels.Type, unit: MetricUnit = .one, isMaximum: Bool = false, help: String
    ) -> Gauge<Labels> {
        let bank = CellBank(count: Labels.series.count, combine: isMaximum ? .maximum : .sum)
        declare(Metric(name, .gauge, unit, help, Labels.self) { .numbers(bank.totals()) })
        return Gauge(bank: bank)
    }

    public func gauge(
        _ name: String, unit: MetricUnit = .one, isMaximum: Bool = false, help: String
    ) -> Gauge<NoLabel> {
        gauge(name, by: NoLabel.self, unit: unit, isMaximum: isMaximum, help: help)
    }

    /// A gauge or counter that is asked for its value when somebody reads, on the reader's thread.
    public func observed(
        _ name: String, unit: MetricUnit = .one, help: String, read: @escaping @Sendable () -> Int64
    ) {
        let type: MetricType = name.hasSuffix("_total") ? .counter : .gauge
        declare(Metric(name, type, unit, help, NoLabel.self) { .numbers([read()]) })
    }

    /// - Parameter bounds: the buckets that Prometheus sees, in the unit recorded, rising, laid around what matters.
    public func histogram<Labels: LabelSet>(
        _ name: String, by labels: Labels.Type, unit: MetricUnit, bounds: [Int64], help: String
    ) -> Histogram<Labels> {
        precondition(zip(bounds, bounds.dropFirst()).allSatisfy(<), "the bounds of \(name) do not rise")
        let bank = HistogramBank(seriesCount: Labels.series.count)
        declare(
            Metric(name, .histogram(bounds: bounds), unit, help, Labels.self) { .distributions(bank.distributions()) })
        return Histogram(bank: bank)
    }

    public func histogram(
        _ name: String, unit: MetricUnit, bounds: [Int64], help: String
    ) -> Histogram<NoLabel> {
        histogram(name, by: NoLabel.self, unit: unit, bounds: bounds, help: help)
    }

    /// Gauges of things that come and go, partitions for instance: one a column, with a series for each row that has a value in it.
    ///
    /// - Parameter labelNames: what a row's labels are called. Whoever fills the table keeps the number of rows within bounds.
    public func table(labelNames: [String], columns: [GaugeTable.Column]) -> GaugeTable {
        let table = GaugeTable(labelCount: labelNames.count, columnCount: columns.count)
        for (place, column) in columns.enumerated() {
            declare(
                Metric(column.name, .gauge, column.unit, column.help, labelNames: labelNames) {
                    let (series, numbers) = table.column(place)
                    return (series, .numbers(numbers))
                })
        }
        return table
    }

    /// All values now, in the order of declaration. Writers are not stopped: each number is right, their sums may be
    /// apart by what happened during the reading.
    public func snapshot() -> Snapshot {
        Snapshot(families: metrics.withLock { $0 }.map { $0.read() })
    }

    private func declare(_ metric: Metric) {
        metric.checkName()
        metrics.withLock { metrics in
            precondition(!metrics.contains { $0.name == metric.name }, "\(metric.name) is declared twice")
            metrics.append(metric)
        }
    }
}
