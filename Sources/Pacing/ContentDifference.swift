import Telemetry

/// In what ways the newest content-state differs from the one that the phone shows.
struct ContentDifference: OptionSet {
    let rawValue: UInt8

    /// A discrete field.
    static let discrete = ContentDifference(rawValue: 1 << 0)
    /// A field beyond its tolerance.
    static let drift = ContentDifference(rawValue: 1 << 1)
    /// Another field, set by a `status` or `activity.started` since the last send.
    static let set = ContentDifference(rawValue: 1 << 2)
    /// Another field, or one within its tolerance.
    static let other = ContentDifference(rawValue: 1 << 3)
    static let withinTolerance = ContentDifference(rawValue: 1 << 4)

    /// - Parameters:
    ///   - set: fields that a `status` or `activity.started` set since the last send.
    ///   - written: parts of a position that are written into either.
    static func between(
        _ latest: ContentState, _ shown: ContentState, rules: PacingRules, set: [FieldPath], written: PositionSources
    ) -> ContentDifference {
        var difference: ContentDifference = []
        latest.forEachDifference(from: shown) { path, newer, older in
            switch rules.fieldClass(of: path, written: written) {
            case .own: break
            // A value where an object stands once the fields below it are written: the phone never sees it.
            case _ where rules.writes(below: path, written: written): break
            case .discrete: difference.insert(.discrete)
            case .tolerance(let tolerance):
                difference.insert(isDrift(newer, older, tolerance: tolerance) ? .drift : .withinTolerance)
            case .other:
                difference.insert(.other)
                if set.contains(where: { $0.covers(path) || path.covers($0) }) { difference.insert(.set) }
            }
        }
        return difference
    }

    private static func isDrift(_ newer: JSONValue?, _ older: JSONValue?, tolerance: Double) -> Bool {
        guard let newer = newer?.asDouble, let older = older?.asDouble else { return true }
        return (newer - older).magnitude >= tolerance - 1e-12 * max(1, max(newer.magnitude, older.magnitude))
    }
}
