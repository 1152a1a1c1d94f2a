extension Snapshot {
    /// One object: a metric's name to its series, in the order of declaration.
    ///
    ///     {"waypulse_decisions_total":[{"labels":{"decision":"sent"},"value":12}],
    ///      "waypulse_glass_seconds":[{"labels":{},"count":3,"sum":0.4,"p50":0.1,"p99":0.2,"max":0.2}]}
    public func json() -> [UInt8] {
        var text = "{"
        for (place, family) in families.enumerated() {
            if place > 0 { text += "," }
            family.writeJSON(to: &text)
        }
        text += "}"
        return Array(text.utf8)
    }
}

extension Snapshot.Family {
    fileprivate func writeJSON(to text: inout String) {
        JSONText.append(name, to: &text)
        text += ":["
        for (place, labelValues) in series.enumerated() {
            text += place > 0 ? ",{\"labels\":{" : "{\"labels\":{"
            for (index, pair) in zip(labelNames, labelValues).enumerated() {
                if index > 0 { text += "," }
                JSONText.append(pair.0, to: &text)
                text += ":"
                JSONText.append(pair.1, to: &text)
            }
            text += "},\(members(place))}"
        }
        text += "]"
    }

    private func members(_ place: Int) -> String {
        func shown(_ recorded: Int64?) -> String {
            recorded.map { JSONText.number(Double($0) / unit.perBaseUnit) } ?? "null"
        }
        switch values {
        case .numbers(let numbers): return "\"value\":\(shown(numbers[place]))"
        case .distributions(let distributions):
            let distribution = distributions[place]
            return "\"count\":\(distribution.count),\"sum\":\(shown(distribution.sum))"
                + ",\"p50\":\(shown(distribution.quantile(0.5))),\"p99\":\(shown(distribution.quantile(0.99)))"
                + ",\"max\":\(shown(distribution.count > 0 ? distribution.maximum : nil))"
        }
    }
}
