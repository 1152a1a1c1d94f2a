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
    let series: [[String]]
    let values: @Sendable () -> FamilyValues

    init<Labels: LabelSet>(
        _ name: String, _ type: MetricType, _ unit: MetricUnit, _ help: String, _ labels: Labels.Type,
        values: @escaping @Sendable () -> FamilyValues
    ) {
        self.name = name
        self.type = type
        self.unit = unit
        self.help = help
        labelNames = Labels.labelNames
        series = Labels.series
        self.values = values
    }

    func read() -> Snapshot.Family {
        Snapshot.Family(
            name: name, type: type, unit: unit, help: help, labelNames: labelNames, series: series, values: values())
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
