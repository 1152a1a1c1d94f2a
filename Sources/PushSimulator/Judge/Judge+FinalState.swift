import Telemetry

extension History {
    /// What the phone was last shown, against what it should know.
    func finalState() -> [BrokenPromise] {
        guard let expected, expected.hasTarget else { return [] }
        let last = entries.last { $0.verdict?.isShown == true && $0.contentState != nil }
        // What a phone shows after an end is another life of the activity, on another card.
        let end = entries.last { $0.event == "end" && $0.verdict == .ended && $0.number >= last?.number ?? 0 }
        if let end, expected.ending == nil {
            let isOld = settings.maxActivityLifeMilliseconds.map { maxLife in
                end.atMilliseconds - (expected.beganAtMilliseconds ?? end.atMilliseconds) >= maxLife
                    - settings.slackMilliseconds
            }
            return isOld == true
                ? [] : [broken(.finalStateTold, end, "the activity was ended, although nothing ended it")]
        }
        guard let told = last?.contentState.map({ ContentState($0) }) ?? expected.shownAtBegin else {
            return [broken(.finalStateTold, nil, "the phone was never told anything")]
        }
        if let ending = expected.ending {
            guard let end else { return [broken(.finalStateTold, last, "the end was not delivered")] }
            guard isDismissal(of: end, as: ending) else {
                let text = end.dismissalDateSeconds.map(String.init) ?? "none"
                return [broken(.finalStateTold, end, "dismissal-date \(text) instead of \(ending)")]
            }
        }
        return differences(of: told, from: expected, at: last)
    }

    private func differences(
        of told: ContentState, from expected: FinalState, at entry: JournalEntry?
    ) -> [BrokenPromise] {
        let hasEnded = expected.ending != nil
        var found: [BrokenPromise] = []
        told.forEachDifference(from: expected.contentState) { path, shown, final in
            if settings.isWritten(path) { return }
            if !hasEnded {
                if let tolerance = settings.tolerance(of: path), let shown = shown?.asDouble,
                    let final = final?.asDouble
                {
                    if (shown - final).magnitude < tolerance { return }
                } else if expected.rideAlongFields.contains(where: { $0.covers(path) }) {
                    return
                }
            }
            found.append(
                broken(.finalStateTold, entry, "\(path) is \(text(shown)) on the phone and \(text(final)) in truth"))
        }
        if let distance = distanceMeters(of: told, from: expected) {
            // Positions are told with five decimals: at most 0.8 m off.
            let allowed = hasEnded ? 1.0 : max(settings.deadbandMeters, settings.deadbandCeilingMeters) + 1
            if !(distance <= allowed) {
                found.append(
                    broken(
                        .finalStateTold, entry,
                        "the position is \(Int(min(distance, 1e9))) m off; at most \(Int(allowed)) m"))
            }
        }
        return found
    }

    /// Nil where no position is told by configuration, or none is to be told; infinite where it is missing on the phone.
    private func distanceMeters(of told: ContentState, from expected: FinalState) -> Double? {
        guard let latitudeField = settings.latitudeField, let longitudeField = settings.longitudeField,
            let position = expected.position
        else { return nil }
        guard let latitude = told[latitudeField]?.asDouble, let longitude = told[longitudeField]?.asDouble else {
            return .infinity
        }
        return Coordinate(latitude: latitude, longitude: longitude).distanceMeters(to: position)
    }

    private func isDismissal(of end: JournalEntry, as ending: FinalState.Ending) -> Bool {
        switch ending {
        case .plain: return end.dismissalDateSeconds == nil
        case .immediate: return end.dismissalDateSeconds.map { $0 <= end.timestampSeconds ?? .min } ?? false
        case .at(let milliseconds):
            guard let dismissal = end.dismissalDateSeconds else { return false }
            // A date that has passed by the time of the end means at once.
            if milliseconds / 1_000 <= end.timestampSeconds ?? .min { return dismissal <= end.timestampSeconds ?? .min }
            return (dismissal - milliseconds / 1_000).magnitude <= 1
        }
    }

    private func text(_ value: JSONValue?) -> String {
        value.map { String(decoding: JSONDocument.bytes(of: $0), as: UTF8.self) } ?? "absent"
    }
}
