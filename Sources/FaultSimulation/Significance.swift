import Pacing
import Telemetry

/// Whether what a phone was told is wrong enough to count, by the plainest reading of the settings.
struct Significance {
    let settings: PacingSettings

    /// How far a phone may be off at most, whatever the accuracies.
    private var farthestMeters: Double {
        // Five decimals of a degree are off by up to 0.8 m.
        1 + (settings.accuracyAware ? settings.deadbandCeilingMeters : settings.deadbandMeters)
    }

    /// What is wrong with `told`; nil where it may stay.
    func fault(in told: ContentState, beside truth: Truth) -> String? {
        var found: String?
        truth.content.forEachDifference(from: told) { path, newest, shown in
            guard found == nil, isJudged(path) else { return }
            if let tolerance = settings.tolerances.first(where: { $0.field.covers(path) })?.tolerance,
                let newest = newest?.asDouble, let shown = shown?.asDouble, (newest - shown).magnitude < tolerance
            {
                return
            }
            found = "\(path) is \(Significance.text(newest)), the phone was told \(Significance.text(shown))"
        }
        return found ?? distanceFault(told, truth)
    }

    /// Whether a push tells exactly the truth; what is wrong, or nil.
    func mismatch(in told: ContentState, beside truth: Truth) -> String? {
        var found: String?
        truth.content.forEachDifference(from: told) { path, newest, shown in
            guard found == nil, !isOwn(path) else { return }
            found = "\(path) is \(Significance.text(newest)), the push says \(Significance.text(shown))"
        }
        if let found { return found }
        guard !settings.positionFields.isEmpty else { return nil }
        let toldPosition = position(in: told)
        guard let position = truth.position?.coordinate else {
            return toldPosition == nil ? nil : "it tells a position where none is known"
        }
        guard let toldPosition else { return "it lacks the position" }
        let isSame =
            (toldPosition.latitude - position.latitude).magnitude < 0.000_006
            && (toldPosition.longitude - position.longitude).magnitude < 0.000_006
        return isSame ? nil : "it tells another position than the newest"
    }

    private func distanceFault(_ told: ContentState, _ truth: Truth) -> String? {
        guard !settings.positionFields.isEmpty, let newest = truth.position?.coordinate else { return nil }
        guard let shown = position(in: told) else { return "a position is known, the phone was told none" }
        let meters = newest.distanceMeters(to: shown)
        return meters > farthestMeters ? "the phone is \(Int(meters)) m off" : nil
    }

    private func position(in told: ContentState) -> Coordinate? {
        guard let latitude = told[FieldPath("latitude")]?.asDouble,
            let longitude = told[FieldPath("longitude")]?.asDouble
        else { return nil }
        return Coordinate(latitude: latitude, longitude: longitude)
    }

    private func isOwn(_ path: FieldPath) -> Bool {
        path == FieldPath("sequenceNumber") || path == FieldPath("latitude") || path == FieldPath("longitude")
    }

    /// `odometer` only rides along.
    private func isJudged(_ path: FieldPath) -> Bool { !isOwn(path) && path != FieldPath("odometer") }

    private static func text(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text)?: text
        case .number(let number)?: number.text
        case nil: "absent"
        default: "another value"
        }
    }
}
