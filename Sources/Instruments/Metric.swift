/// What one recorded unit is, and so the base unit in which the metric is shown.
public enum MetricUnit: Sendable {
    case one, bytes, seconds, milliseconds, microseconds

    /// How many recorded units make one shown unit.
    var perBaseUnit: Double {
        switch self {
        case .one, .bytes, .seconds: 1
        case .milliseconds: 1_000
        case .microseconds: 1_000_000
        }
    }

    /// What the name ends in, `_total` aside. https://prometheus.io/docs/practices/naming/
    var nameSuffix: String {
        switch self {
        case .one: ""
        case .bytes: "_bytes"
        case .seconds, .milliseconds, .microseconds: "_seconds"
        }
    }
}

enum MetricType: Sendable {
    case counter, gauge
    case histogram(bounds: [Int64])
}

/// A declaration with the way to read it.
struct Metric: Sendable {
    let name: String
    let type: MetricType
    let unit: MetricUnit
    let help: String
    let labelNames: [String]
    private let content: @Sendable () -> (series: [[String]], values: FamilyValues)

    init<Labels: LabelSet>(
        _ name: String, _ type: MetricType, _ unit: MetricUnit, _ help: String, _ labels: Labels.Type,
        values: @escaping @Sendable () -> FamilyValues
    ) {
        let series = Labels.series
        self.init(name, type, unit, help, labelNames: Labels.labelNames) { (series, values()) }
    }

    /// - Parameter content: the series that there are at the moment, and their values.
    init(
        _ name: String, _ type: MetricType, _ unit: MetricUnit, _ help: String, labelNames: [String],
        content: @escaping @Sendable () -> (series: [[String]], values: FamilyValues)
    ) {
        self.name = name
        self.type = type
        self.unit = unit
        self.help = help
        self.labelNames = labelNames
        self.content = content
    }

    func read() -> Snapshot.Family {
        let (series, values) = content()
        return Snapshot.Family(
            name: name, type: type, unit: unit, help: help, labelNames: labelNames, series: series, values: values)
    }

    func checkName() {
        let stem = name.hasSuffix("_total") ? String(name.dropLast("_total".count)) : name
        precondition(
            name.hasPrefix("waypulse_") || name.hasPrefix("process_"), "\(name) must begin with waypulse_ or process_")
        precondition(
            name.utf8.allSatisfy { ("a"..."z").contains(Character(UnicodeScalar($0))) || $0 == UInt8(ascii: "_") },
            "\(name) may hold small letters and _ only")
        precondition(stem.hasSuffix(unit.nameSuffix), "\(name) must name its base unit, \(unit.nameSuffix)")
        precondition(!help.isEmpty, "\(name) needs a help text")
    }
}

enum FamilyValues: Sendable {
    case numbers([Int64])
    case distributions([Distribution])
}
