import Synchronization

/// Values of things that come and go while the program runs, a row each. Rows are replaced as a whole, some times a second at most.
public final class GaugeTable: Sendable {
    public struct Column: Sendable {
        let name: String
        let unit: MetricUnit
        let help: String

        public init(_ name: String, unit: MetricUnit = .one, help: String) {
            (self.name, self.unit, self.help) = (name, unit, help)
        }
    }

    public struct Row: Sendable {
        let labels: [String]
        /// By column; nil where nobody knows, which is then no series.
        let values: [Int64?]

        public init(labels: [String], values: [Int64?]) {
            (self.labels, self.values) = (labels, values)
        }
    }

    private let rows = Mutex<[Row]>([])
    private let labelCount: Int
    private let columnCount: Int

    init(labelCount: Int, columnCount: Int) {
        (self.labelCount, self.columnCount) = (labelCount, columnCount)
    }

    /// From any thread; the last one wins.
    public func set(_ rows: [Row]) {
        precondition(rows.allSatisfy { $0.labels.count == labelCount && $0.values.count == columnCount })
        self.rows.withLock { $0 = rows }
    }

    func column(_ place: Int) -> (series: [[String]], numbers: [Int64]) {
        var (series, numbers): ([[String]], [Int64]) = ([], [])
        for row in rows.withLock({ $0 }) {
            guard let value = row.values[place] else { continue }
            series.append(row.labels)
            numbers.append(value)
        }
        return (series, numbers)
    }
}
