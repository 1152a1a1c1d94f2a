import Telemetry

/// All that a position can write into a content-state.
struct ToldPosition {
    var fix = Fix.none
    var speedMetersPerSecond = Double.nan
    var headingDegrees = Double.nan
    var timestampMilliseconds = Int64.min

    var sources: PositionSources {
        guard fix.exists else { return [] }
        var sources: PositionSources = [.of(.latitude), .of(.longitude), .of(.positionTimestamp)]
        if !fix.accuracyMeters.isNaN { sources.insert(.of(.accuracy)) }
        if !speedMetersPerSecond.isNaN { sources.insert(.of(.speed)) }
        if !headingDegrees.isNaN { sources.insert(.of(.heading)) }
        return sources
    }

    /// Nil where the position lacks it, and so writes nothing.
    func value(of source: PositionField.Source) -> JSONNumber? {
        guard sources.contains(.of(source)) else { return nil }
        return switch source {
        case .latitude: JSONNumber(fiveDecimals: fix.latitude)
        case .longitude: JSONNumber(fiveDecimals: fix.longitude)
        case .accuracy: JSONNumber(shortest: fix.accuracyMeters)
        case .speed: JSONNumber(shortest: speedMetersPerSecond)
        case .heading: JSONNumber(shortest: headingDegrees)
        case .positionTimestamp: JSONNumber(secondsOfMilliseconds: timestampMilliseconds)
        }
    }

    func write(_ fields: [PositionField], into written: inout ContentFields) {
        let sources = self.sources
        for field in fields where sources.contains(.of(field.source)) {
            written.set(field.field) { buffer in
                switch field.source {
                case .latitude: buffer.append(fiveDecimals: fix.latitude)
                case .longitude: buffer.append(fiveDecimals: fix.longitude)
                case .accuracy: buffer.append(double: fix.accuracyMeters)
                case .speed: buffer.append(double: speedMetersPerSecond)
                case .heading: buffer.append(double: headingDegrees)
                case .positionTimestamp: buffer.append(secondsOfMilliseconds: timestampMilliseconds)
                }
            }
        }
    }

    /// Whether both write the same.
    func writesSame(as other: ToldPosition, _ fields: [PositionField]) -> Bool {
        fields.allSatisfy { field in
            switch field.source {
            // Asked of every position: the numbers that the texts would be made from.
            case .latitude: ToldPosition.writesSame(fix.latitude, other.fix.latitude)
            case .longitude: ToldPosition.writesSame(fix.longitude, other.fix.longitude)
            default: value(of: field.source) == other.value(of: field.source)
            }
        }
    }

    /// NaN is no position, and writes nothing.
    private static func writesSame(_ left: Double, _ right: Double) -> Bool {
        guard !left.isNaN, !right.isNaN else { return left.isNaN && right.isNaN }
        return DecimalText.hundredThousandths(left) == DecimalText.hundredThousandths(right)
    }
}
