import Telemetry

/// Settings that a change was made to for some time only, and what they were before.
struct PassingFaults: Sendable {
    private struct Before {
        let value: JSONValue
        let untilMilliseconds: Int64
    }

    private var before: [String: Before] = [:]

    var isEmpty: Bool { before.isEmpty }

    /// To be called before the change is made.
    mutating func note(
        _ changes: JSONObject, of faults: FaultSettings, untilMilliseconds: Int64?
    ) {
        for member in changes.members {
            let earlier = before.removeValue(forKey: member.name)
            guard let untilMilliseconds else { continue }
            let value = earlier?.value ?? faults.json[member.name] ?? .null
            before[member.name] = Before(value: value, untilMilliseconds: untilMilliseconds)
        }
    }

    mutating func forget() { before = [:] }

    /// What is to be put back now.
    mutating func takeDue(atMilliseconds now: Int64) -> JSONObject {
        var due = JSONObject()
        for (name, value) in before where value.untilMilliseconds <= now { due[name] = value.value }
        for member in due.members { before[member.name] = nil }
        return due
    }
}

extension SimulatorCore {
    /// Changes what the object names; with a time, only until then, on the clock of `passFaults`.
    mutating func change(_ changes: JSONObject, untilMilliseconds: Int64? = nil) throws(FaultSettingsFault) {
        var changed = faults
        try changed.apply(changes)
        passing.note(changes, of: faults, untilMilliseconds: untilMilliseconds)
        faults = changed
    }

    /// Everything is well again.
    mutating func clearFaults() {
        passing.forget()
        faults = FaultSettings()
    }

    /// - Returns: whether something passed.
    mutating func passFaults(atMilliseconds now: Int64) -> Bool {
        guard !passing.isEmpty else { return false }
        let due = passing.takeDue(atMilliseconds: now)
        guard !due.isEmpty else { return false }
        // It was read from these settings, so it can be put back.
        try? faults.apply(due)
        return true
    }

    /// Face and phones do as the faults say, or else as their own settings did at the start.
    mutating func takeFaults() {
        face.settings.streamLimit = faults.streamLimit
        face.settings.isKeyRevoked = faults.isKeyRevoked
        face.settings.refusesTokenUpdates = faults.refusedTokenUpdates == .all
        face.settings.goneBlurMilliseconds = faults.goneBlurMilliseconds ?? usual.goneBlurMilliseconds
        if let most = faults.pushesPerTokenMinute {
            face.settings.maxPushesPerToken = Int(most)
            face.settings.pushWindowMilliseconds = 60_000
        } else {
            face.settings.maxPushesPerToken = usual.maxPushesPerToken
            face.settings.pushWindowMilliseconds = usual.pushWindowMilliseconds
        }
        phones.settings.updateTokenLossShare = faults.updateTokenLossShare ?? usualPhones.updateTokenLossShare
        phones.settings.updateTokenDelayMilliseconds =
            faults.updateTokenDelayMilliseconds ?? usualPhones.updateTokenDelayMilliseconds
        phones.settings.maxStarts = faults.startBudget.map { Int($0) } ?? usualPhones.maxStarts
        phones.settings.startWindowMilliseconds =
            faults.startBudget == nil ? usualPhones.startWindowMilliseconds : 3_600_000
        phones.settings.maxUrgentPerHour = faults.urgentBudget.map { Int($0) } ?? usualPhones.maxUrgentPerHour
    }
}
