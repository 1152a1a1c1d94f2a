/// All metrics at one moment, as values.
public struct Snapshot: Sendable {
    let families: [Family]

    struct Family: Sendable {
        let name: String
        let type: MetricType
        let unit: MetricUnit
        let help: String
        let labelNames: [String]
        let series: [[String]]
        let values: FamilyValues
    }

    /// How many label combinations exist over all metrics: what a time-series database has to hold, histogram buckets aside.
    public var seriesCount: Int { families.reduce(0) { $0 + $1.series.count } }

    /// The names of all metrics, in the order of declaration.
    public var names: [String] { families.map(\.name) }

    /// A counter's or gauge's value in recorded units; nil where there is no such series.
    public func number(_ name: String, _ labelValues: String...) -> Int64? {
        guard let (family, place) = find(name, labelValues), case .numbers(let numbers) = family.values else {
            return nil
        }
        return numbers[place]
    }

    /// A histogram's content in recorded units; nil where there is no such series.
    public func distribution(_ name: String, _ labelValues: String...) -> Distribution? {
        guard let (family, place) = find(name, labelValues), case .distributions(let all) = family.values else {
            return nil
        }
        return all[place]
    }

    private func find(_ name: String, _ labelValues: [String]) -> (Family, Int)? {
        guard let family = families.first(where: { $0.name == name }),
            let place = family.series.firstIndex(of: labelValues)
        else { return nil }
        return (family, place)
    }
}
