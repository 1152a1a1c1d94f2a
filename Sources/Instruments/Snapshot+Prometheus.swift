extension Snapshot {
    /// The text exposition format 0.0.4, to be served as `text/plain; version=0.0.4; charset=utf-8`.
    /// https://prometheus.io/docs/instrumenting/exposition_formats/
    public func prometheusText() -> [UInt8] {
        var text = ""
        for family in families { family.write(to: &text) }
        return Array(text.utf8)
    }

    public static let prometheusContentType = "text/plain; version=0.0.4; charset=utf-8"
}

extension Snapshot.Family {
    fileprivate func write(to text: inout String) {
        text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(typeName)\n"
        switch values {
        case .numbers(let numbers):
            for (labelValues, number) in zip(series, numbers) {
                text += "\(name)\(labels(labelValues)) \(shown(number))\n"
            }
        case .distributions(let distributions):
            for (labelValues, distribution) in zip(series, distributions) {
                write(distribution, labelValues, to: &text)
            }
        }
    }

    /// Buckets are log-linear inside, so a bound counts the values of the buckets that end at or below it: at most
    /// 1 in 32 of the bound's own height is counted in the next.
    private func write(_ distribution: Distribution, _ labelValues: [String], to text: inout String) {
        guard case .histogram(let bounds) = type else { return }
        for bound in bounds {
            text += "\(name)_bucket\(labels(labelValues, le: shown(bound))) \(distribution.count(upTo: bound))\n"
        }
        text += "\(name)_bucket\(labels(labelValues, le: "+Inf")) \(distribution.count)\n"
        text += "\(name)_sum\(labels(labelValues)) \(shown(distribution.sum))\n"
        text += "\(name)_count\(labels(labelValues)) \(distribution.count)\n"
    }

    private var typeName: String {
        switch type {
        case .counter: "counter"
        case .gauge: "gauge"
        case .histogram: "histogram"
        }
    }

    private func shown(_ recorded: Int64) -> String {
        unit.perBaseUnit == 1 ? String(recorded) : JSONText.number(Double(recorded) / unit.perBaseUnit)
    }

    private func labels(_ labelValues: [String], le bound: String? = nil) -> String {
        var pairs = zip(labelNames, labelValues).map { "\($0)=\"\(Self.escaped($1, quotes: true))\"" }
        if let bound { pairs.append("le=\"\(bound)\"") }
        return pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}"
    }

    private static func escaped(_ string: String, quotes: Bool) -> String {
        var text = ""
        for character in string.unicodeScalars {
            switch character {
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\"" where quotes: text += "\\\""
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }
}
