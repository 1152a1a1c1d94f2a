import Telemetry

/// Finds broken promises in a journal. It knows only what the provider and the phones saw, and what the phones should know in the end; nothing
/// of how the pacing works inside.
public struct Judge: Sendable {
    public var settings: JudgeSettings
    public var expectations: Expectations

    public init(settings: JudgeSettings = JudgeSettings(), expectations: Expectations = Expectations()) {
        self.settings = settings
        self.expectations = expectations
    }

    /// - Returns: the broken promises in the order of activities (by their first entry), those of one in the order of its entries.
    public func judge(_ entries: [JournalEntry]) -> [BrokenPromise] {
        var order: [String] = []
        var histories: [String: [JournalEntry]] = [:]
        for entry in entries {
            let activity = expectations.activity(of: entry)
            if histories[activity] == nil { order.append(activity) }
            histories[activity, default: []].append(entry)
        }
        order += expectations.finalStates.keys.filter { histories[$0] == nil }.sorted()
        return order.flatMap { activity in
            let history = History(
                activity: activity, entries: histories[activity] ?? [],
                expected: expectations.finalStates[activity], settings: settings)
            return history.brokenPromises()
        }
    }
}

/// The entries of one activity in the order of their arrival, which is that of their sending: an activity has one request in flight at most.
struct History {
    let activity: String
    let entries: [JournalEntry]
    let expected: FinalState?
    let settings: JudgeSettings

    func brokenPromises() -> [BrokenPromise] {
        let inOrder = order() + window() + targets() + priorities()
        return inOrder.sorted { ($0.entry ?? .max) < ($1.entry ?? .max) } + finalState()
    }

    func broken(_ promise: BrokenPromise.Promise, _ entry: JournalEntry?, _ explanation: String) -> BrokenPromise {
        BrokenPromise(promise: promise, activity: activity, entry: entry?.number, explanation: explanation)
    }

    var cadence: JudgeSettings.Cadence? {
        expected?.isFrequent == true ? settings.frequentCadence : settings.cadence
    }

    /// Each update once, at its first arrival: a retry takes nothing from the cadence.
    var sends: [JournalEntry] {
        var seen: Set<Int64> = []
        return entries.filter { entry in entry.sequence.map { seen.insert($0).inserted } ?? true }
    }
}
