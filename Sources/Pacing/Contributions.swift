import Telemetry

/// What one event still gives to an update: decided with it, and the reason why its offset is held.
struct Contribution {
    var origin: Origin
    var appliedAtMilliseconds: Int64
    /// Fields that no newer event has set again.
    var fields: [FieldPath] = []
    var ownsPosition = false
    var ownsAlert = false
    var ownsEnd = false
    /// Counted already when it was applied (`repeated_start`, an end without content): it holds its offset alone.
    var isDecided = false

    var isEmpty: Bool { fields.isEmpty && !ownsPosition && !ownsAlert && !ownsEnd }
    var isBarePosition: Bool { ownsPosition && fields.isEmpty && !ownsAlert && !ownsEnd && !isDecided }
}

/// The events whose content an update would tell.
///
/// Of bare positions the newest alone lives, so one that waits costs nothing per event, whatever the rate.
struct Contributions {
    private var barePosition: (origin: Origin, appliedAtMilliseconds: Int64)?
    private var events: [Contribution] = []

    init() {}

    var isEmpty: Bool { barePosition == nil && events.isEmpty }

    /// Lowers `held` to the smallest offset above `saved` that has to be read again if the process ends now.
    func lower(_ held: inout Held?, source: UInt8, above saved: Int64) {
        if let barePosition {
            Held.lower(&held, barePosition.origin, barePosition.appliedAtMilliseconds, source, saved)
        }
        for event in events { Held.lower(&held, event.origin, event.appliedAtMilliseconds, source, saved) }
    }

    var newestAppliedAtMilliseconds: Int64? {
        let newest = events.map(\.appliedAtMilliseconds).max()
        guard let barePosition else { return newest }
        return max(barePosition.appliedAtMilliseconds, newest ?? .min)
    }

    /// Adds the newest event: what it sets is no longer that of older ones.
    mutating func add(_ newer: Contribution, _ counts: inout DecisionCounts) {
        if !newer.isDecided { counts.pending += 1 }
        release(whatIsSetBy: newer, &counts)
        if newer.isBarePosition {
            barePosition = (newer.origin, newer.appliedAtMilliseconds)
        } else {
            events.append(newer)
        }
    }

    /// All of them end in one decision.
    mutating func resolve(_ decision: Decision, _ counts: inout DecisionCounts) {
        if barePosition != nil { counts.decidePending(decision) }
        for event in events where !event.isDecided { counts.decidePending(decision) }
        barePosition = nil
        events.removeAll()
    }

    /// Puts what an update that did not arrive would have told under what came since.
    mutating func prepend(_ older: Contributions, _ counts: inout DecisionCounts) {
        var older = older
        for event in events { older.release(whatIsSetBy: event, &counts) }
        if let barePosition {
            older.release(whatIsSetBy: Contributions.barePosition(barePosition), &counts)
        }
        events = older.events + events
        barePosition = barePosition ?? older.barePosition
    }

    private static func barePosition(_ position: (origin: Origin, appliedAtMilliseconds: Int64)) -> Contribution {
        Contribution(
            origin: position.origin, appliedAtMilliseconds: position.appliedAtMilliseconds, ownsPosition: true)
    }

    private mutating func release(whatIsSetBy newer: Contribution, _ counts: inout DecisionCounts) {
        if newer.ownsPosition, barePosition != nil {
            barePosition = nil
            counts.decidePending(.conflated)
        }
        guard !events.isEmpty else { return }
        let newerFields = FieldCover(newer.fields)
        for index in events.indices {
            if newer.ownsPosition { events[index].ownsPosition = false }
            if newer.ownsAlert { events[index].ownsAlert = false }
            if !newer.fields.isEmpty { events[index].fields.removeAll { newerFields.covers($0) } }
        }
        for event in events where event.isEmpty && !event.isDecided { counts.decidePending(.conflated) }
        events.removeAll { $0.isEmpty }
    }
}

extension DecisionCounts {
    mutating func decidePending(_ decision: Decision) {
        pending -= 1
        self[decision] += 1
    }
}
